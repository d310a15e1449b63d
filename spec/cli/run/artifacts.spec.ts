import { expect } from 'chai';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startTestServer, type TestServer } from '../../support/http/test-server.js';
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

const ROWS =
  'id: p\ngoal: g\ntasks: [{id: t, tool: export, inputs: {data: [{a: 1}], format: csv, filename: rows}}]\n';
const FAILING = ROWS.replace('}]\n', '}, {id: u, tool: fail, await: [t], inputs: {message: no}}]\n');

describe('run of a pipeline that writes files (D63)', () => {
  let folder: TemporaryFolder;
  let server: TestServer;
  beforeEach(async () => {
    folder = new TemporaryFolder();
    folder.write('rows.yaml', ROWS);
    folder.write('failing.yaml', FAILING);
    server = await startTestServer();
  });
  afterEach(async () => {
    await server.close(0);
    folder.remove();
  });

  const run = (...argv: string[]) => invoke(['run', ...argv], { cwd: folder.path });
  const runThere = async (...argv: string[]) => {
    const invocation = await run(...argv, '--server', server.url);
    return { ...invocation, runId: /submitted (\S+)/.exec(invocation.stderr)?.[1] ?? '' };
  };

  it('lists each of them with its size and its path below the working directory', async () => {
    const { stdout, stderr } = await run('rows.yaml');
    expect(stderr).to.equal(`Files:\n  ${join('outputs', 'rows.csv')}  6 bytes  from t\n`);
    expect(stdout).to.match(/^Outputs:\n/);
    expect((await run('rows.yaml', '--artifacts', 'mine')).stderr).to.contain(join('mine', 'rows.csv'));
    const elsewhere = new TemporaryFolder();
    expect((await run('rows.yaml', '--artifacts', elsewhere.path)).stderr).to.contain(
      elsewhere.at('rows.csv'),
    );
    elsewhere.remove();
  });

  it('lists them also when the run fails, and not with --json or --quiet', async () => {
    expect((await run('failing.yaml')).stderr).to.contain(join('outputs', 'rows.csv'));
    for (const flag of ['--json', '--quiet'])
      expect((await run('rows.yaml', flag)).stderr, flag).to.equal('');
  });

  it('says that the bytes which a tool returned are temporary', async () => {
    folder.write('tools.mjs', TOOL);
    folder.write('bytes.yaml', 'pipeline: {id: p, goal: g, tasks: [{id: t, tool: bytes}]}');
    const { stderr } = await run('bytes.yaml', '--tools', './tools.mjs');
    const path =
      /^Files:\n {2}(\/.*) {2}5 bytes {2}from t\n {2}hint: bytes that a tool returns are temporary/.exec(
        stderr,
      )?.[1];
    expect(readFileSync(path ?? stderr, 'utf8')).to.equal('hello');
    rmSync(dirname(dirname(path ?? '')), { recursive: true });
  });

  it('fails with the folder that cannot be created, as /proc/x', async function () {
    if (!existsSync('/proc/self')) this.skip();
    const { status, stderr } = await run('rows.yaml', '--artifacts', '/proc/x');
    expect(status).to.equal(3);
    expect(stderr.replaceAll(/\s+/g, ' ')).to.contain(
      "cannot be written: ENOENT: no such file or directory, mkdir '/proc/x'",
    );
  });

  it('says how to get those of a server', async () => {
    const { stderr, runId } = await runThere('rows.yaml');
    expect(stderr).to.contain(
      `Files:\n  rows.csv  6 bytes  from t\n  hint: wavetrain runs artifacts ${runId} --server ${server.url}\n`,
    );
    expect(existsSync(folder.at('outputs'))).to.equal(false);
    const watched = await invoke(['runs', 'watch', runId, '--server', server.url], { cwd: folder.path });
    expect(watched.stderr).to.contain('Files:\n  rows.csv  6 bytes  from t\n  hint: ');
  });

  it('downloads those of a server to the folder of --artifacts, and replaces files there', async () => {
    folder.write('mine/rows.csv', 'old');
    for (const flags of [[], ['--json']]) {
      const { status, stderr } = await runThere('failing.yaml', '--artifacts', 'mine', ...flags);
      expect(status).to.equal(3);
      if (flags.length === 0)
        expect(stderr).to.contain(`Files:\n  ${join('mine', 'rows.csv')}  6 bytes  from t\n`);
      expect(readFileSync(folder.at('mine/rows.csv'), 'utf8')).to.equal('a\r\n1\r\n');
      folder.write('mine/rows.csv', 'old');
    }
  });

  it('exits with 3 and says what is missing when a download fails, after the outputs', async () => {
    folder.write('taken', 'a file');
    const { status, stdout, stderr, runId } = await runThere('rows.yaml', '--artifacts', 'taken');
    expect(status).to.equal(3);
    expect(stdout).to.match(/^Outputs:\n/);
    expect(stderr.replaceAll('\n', ' ')).to.contain(
      `wavetrain: downloaded 0 of 1 files to ${folder.at('taken')}: `,
    );
    expect(stderr).to.contain(`wavetrain runs artifacts ${runId} --server ${server.url} has them`);
  });
});
