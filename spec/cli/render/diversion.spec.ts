import { expect } from 'chai';
import { divertWrites } from '../../../lib/cli/render/tool-output.js';
import { systemServices } from '../../../lib/cli/context.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { settle } from '../../support/deferred.js';
import { invoke, Recorder } from '../invoke.js';

describe('what tools print', () => {
  it('is told line by line, and never stands between the outputs (D41)', async () => {
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
    const services = {
      ...systemServices,
      catalog: async (specifiers: readonly string[], cwd: string) =>
        (await systemServices.catalog(specifiers, cwd)).with([chatty]),
    };
    const input = 'id: p\ngoal: g\ntasks: [{id: a, tool: chatty}]\n';
    const printed = await invoke(['run', '-', '--json'], { input, services, stdout });
    expect(printed.stdout).to.equal('{"a":1}\n');
    expect(printed.stderr).to.equal('one\ntwo and a half\nthree\n');
  });

  it('is reported as written to those who wait for that', async () => {
    const stream = new Recorder();
    const restore = divertWrites(stream, () => undefined);
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
