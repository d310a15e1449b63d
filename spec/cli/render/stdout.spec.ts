import { expect } from 'chai';
import { captureStdout } from '../../../lib/cli/render/stdout.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { settle } from '../../support/deferred.js';
import { invoke, Recorder } from '../invoke.js';

describe('captureStdout', () => {
  it('prints what tools write to standard output on standard error, line by line (D41)', async () => {
    const stdout = new Recorder();
    const chatty = defineTool({
      name: 'chatty',
      description: '',
      inputs: {},
      run: () => {
        stdout.write('one\ntwo');
        stdout.write(Buffer.from(' and a half\nthree'));
        return 1;
      },
    });
    const openCatalog = async () => builtinCatalog().with([chatty]);
    const input = 'id: p\ngoal: g\ntasks: [{id: a, tool: chatty}]\n';
    const printed = await invoke(['run', '-', '--json'], { input, openCatalog, stdout });
    expect(printed.stdout).to.equal('{"a":1}\n');
    expect(printed.stderr).to.equal('one\ntwo and a half\nthree\n');
  });

  it('calls the callback of each write, and restores the stream', async () => {
    const stream = new Recorder();
    const restore = captureStdout(stream, () => undefined);
    let written = 0;
    stream.write('a', () => (written += 1));
    stream.write('b', 'utf8', () => (written += 1));
    await settle();
    expect(written).to.equal(2);
    restore();
    stream.write('after');
    expect(stream.text).to.equal('after');
  });
});
