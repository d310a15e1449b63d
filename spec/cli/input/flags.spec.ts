import { expect } from 'chai';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { UsageError } from '../../../lib/cli/input/usage-errors.js';
import { readJsonObject } from '../../../lib/cli/input/flags.js';
import { WavetrainError } from '../../../lib/common/errors.js';
import { TemporaryFolder } from '../../support/temporary-folder.js';

describe('readJsonObject', () => {
  const context = { cwd: tmpdir(), stdin: Readable.from([]) };

  it('returns undefined without the flag', async () => {
    expect(await readJsonObject('--inputs', undefined, context)).to.equal(undefined);
  });

  it('parses an object', async () => {
    expect(await readJsonObject('--inputs', '{"a": [1, null]}', context)).to.deep.equal({ a: [1, null] });
  });

  it('reads the file after @, relative to the working directory (D42)', async () => {
    const folder = new TemporaryFolder();
    folder.write('in.json', '\ufeff{"a": 1}');
    const read = await readJsonObject('--inputs', '@in.json', { ...context, cwd: folder.path });
    folder.remove();
    expect(read).to.deep.equal({ a: 1 });
  });

  it('reads standard input for @-', async () => {
    const stdin = Readable.from([Buffer.from('{"a"'), Buffer.from(': 2}')]);
    expect(await readJsonObject('--inputs', '@-', { ...context, stdin })).to.deep.equal({ a: 2 });
  });

  it('points at a syntax error and gives an example (D40)', async () => {
    const error = await refusal('{"city": Paris}');
    expect(error).to.be.instanceOf(UsageError);
    expect(error.message).to.match(/^--inputs is not JSON: found "P" at line 1, column 10/);
    expect(error.message.split('\n').slice(1)).to.deep.equal([
      '    1 | {"city": Paris}',
      '      |          ^^^^^',
    ]);
    expect((error as UsageError).hint).to.contain(`--inputs '{"key": "value"}'`);
  });

  it('rejects other JSON values and names their kind', async () => {
    expect((await refusal('[1]')).message).to.equal('--inputs must be a JSON object, not a list');
    expect((await refusal('null')).message).to.equal('--inputs must be a JSON object, not null');
  });

  it('names a missing file', async () => {
    const error = await refusal('@nowhere.json');
    expect(error.code).to.equal('unreadable_file');
    expect(error.message).to.equal('cannot read the --inputs file nowhere.json: there is no such file');
  });

  async function refusal(given: string): Promise<WavetrainError> {
    try {
      await readJsonObject('--inputs', given, context);
    } catch (error) {
      if (error instanceof WavetrainError) return error;
      throw error;
    }
    throw new Error(`"${given}" was accepted`);
  }
});
