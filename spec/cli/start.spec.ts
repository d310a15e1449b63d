import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { requireBuild, ROOT } from '../project/files.js';
import { TemporaryFolder } from '../support/temporary-folder.js';

describe('bin/start.cjs', () => {
  before(() => requireBuild());
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
  });
  afterEach(() => folder.remove());

  const COMMAND = [process.execPath, join(ROOT, 'bin/wavetrain.js'), '--version'];

  function start(cacheHome: string, script = 'exec "$0" "$@"') {
    return spawnSync('sh', ['-c', script, ...COMMAND], {
      cwd: folder.path,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder.path, XDG_CACHE_HOME: cacheHome },
      timeout: 20_000,
    });
  }

  it('exits with 2 and a sentence when the working directory was deleted (D40)', () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
    const { status, stdout, stderr } = start('', script);
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.equal(
      'wavetrain: the working directory does not exist any more; change to another one\n',
    );
  });

  it('writes compiled code into the cache folder, whatever folders above it are missing', () => {
    expect(start(folder.at('a/b/cache')).status).to.equal(0);
    expect(readdirSync(folder.at('a/b/cache/wavetrain'))).to.have.length(1);
  });

  it('ignores a cache folder with a relative path, as the standard of XDG_CACHE_HOME demands', () => {
    expect(start('relative').status).to.equal(0);
    expect(readdirSync(folder.path)).to.deep.equal(['.cache']);
  });

  it('starts without a cache when its folder cannot be created', () => {
    for (const home of ['/proc/wavetrain', '/dev/null/wavetrain']) {
      expect(start(home)).to.include({ status: 0, stderr: '', signal: null });
    }
  });
});

describe('the built command', () => {
  before(() => requireBuild());

  it('finds the providers of language models, which lie beside its own code (D50)', async () => {
    const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const command = spawn(process.execPath, ['bin/wavetrain.js', 'run', '-', '--json', '--no-store'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], COMPATIBLE_BASE_URL: `http://127.0.0.1:${port}/v1` },
    });
    command.stdin.end(
      '{id: p, goal: g, tasks: [{id: a, tool: llm_job, inputs: {prompt: hi, model: compatible/x}}]}',
    );
    const printed = await text(command.stdout);
    server.close();
    expect((JSON.parse(printed) as { error: string }).error).to.contain('(404)');
  });

  it('shows where a tool threw that lies beside its own code, and with --verbose nothing below it (D59)', () => {
    const run = (...flags: string[]) =>
      spawnSync(
        process.execPath,
        ['bin/wavetrain.js', 'run', '-', '--tools', 'examples/07-own-tool/tools.ts', '--no-store', ...flags],
        {
          cwd: ROOT,
          encoding: 'utf8',
          input: 'id: p\ngoal: g\ntasks: [{id: leg, tool: distance, inputs: {from: {}, to: {}}}]\n',
          env: { PATH: process.env['PATH'], NODE_DISABLE_COMPILE_CACHE: '1' },
          timeout: 20_000,
        },
      );
    const { status, stderr } = run();
    expect(status, stderr).to.equal(3);
    expect(stderr)
      .to.contain('  leg after 1 attempt: {} is not a place')
      .and.to.contain('    inputs: {"from": {}, "to": {}, "unit": "km"}\n')
      .and.to.match(/^ {4}at toPlace \(.*examples\/07-own-tool\/tools\.ts:\d+:\d+\)$/m);
    const verbose = run('--verbose').stderr;
    const calls = verbose.split('\n').filter((line) => /^ {6,}at /.test(line));
    expect(calls.length, verbose).to.be.above(1);
    for (const call of calls) expect(call).to.contain('07-own-tool/tools.ts');
  });
});
