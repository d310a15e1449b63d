import { expect } from 'chai';
import { captureStdout, printJson } from '../../../lib/cli/render/stdout.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { settle } from '../../support/deferred.js';
import { invoke, Recorder, Screen } from '../invoke.js';

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

describe('printJson', () => {
  const VALUE = { '\u009b2J': 'a\u202eb\u007f\u2066', text: '\u001b[31m\r\n äöü 👩‍👩‍👧' };

  it('lets no text move the cursor of a terminal or reorder a line, and keeps the value', () => {
    const stdout = new Screen();
    printJson(VALUE, { stdout, env: {} });
    expect(stdout.text).to.match(/^[\n\u0020-\u007e\u00a0-\u200d\u2070-\uffff]*$/);
    expect(JSON.parse(stdout.text)).to.deep.equal(VALUE);
    expect(stdout.text).to.include('äöü 👩‍👩‍👧');
  });

  it('prints the document unchanged to a file or pipe', () => {
    const stdout = new Recorder();
    printJson(VALUE, { stdout, env: {} });
    expect(stdout.text).to.equal(`${JSON.stringify(VALUE)}\n`);
  });
});
