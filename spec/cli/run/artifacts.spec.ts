import { expect } from 'chai';
import { readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { TemporaryFolder } from '../../support/temporary-folder.js';
import { invoke } from '../invoke.js';

const TOOL = `export default {
  name: 'bytes', description: 'returns bytes', inputs: {}, openInputs: false,
  output: { name: 'file', description: 'the file', type: 'object' },
  run: (_, { log }) => { log({ a: 10 }); log(10n); return Buffer.from('hello'); },
};`;

describe('wavetrain run, with a tool in JavaScript', () => {
  const folder = new TemporaryFolder();
  after(() => folder.remove());

  it('leaves the files that the outputs name (D24), and writes whatever is logged to --events (D42)', async () => {
    folder.write('tools.mjs', TOOL);
    folder.write('p.yaml', 'pipeline: {id: p, goal: g, tasks: [{id: t, tool: bytes}]}');
    const argv = [
      'run',
      'p.yaml',
      '--tools',
      'tools.mjs',
      '--json',
      '--verbose',
      '--events',
      'events.ndjson',
    ];
    const { status, stdout, stderr } = await invoke(argv, { cwd: folder.path });
    expect(status, stderr).to.equal(0);
    const { t } = (JSON.parse(stdout) as { outputs?: { t: { path: string } } }).outputs ?? JSON.parse(stdout);
    expect(readFileSync(t.path, 'utf8')).to.equal('hello');
    rmSync(dirname(dirname(t.path)), { recursive: true });
    const events = readFileSync(`${folder.path}/events.ndjson`, 'utf8').trim().split('\n');
    const messages = events.map((line) => (JSON.parse(line) as { message?: string }).message);
    expect(messages.filter((message) => message !== undefined)).to.deep.equal(['{"a":10}', '10']);
    expect(stderr).to.contain('t logged: 10');
  });
});
