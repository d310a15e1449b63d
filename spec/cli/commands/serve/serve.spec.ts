import { expect } from 'chai';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { isAlive, listWorkers } from '../../../common/workers/processes.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { invoke, Screen } from '../../invoke.js';
import { post, Serve, untilReady } from './serving.js';

const NAP = {
  pipeline: { id: 'nap', goal: 'g', tasks: [{ id: 'a', tool: 'sleep', inputs: { seconds: 60 } }] },
};

describe('wavetrain serve (D43)', () => {
  before(() => requireBuild());

  it('logs its address as JSON, serves requests, and exits with 0 on a signal', async () => {
    const serve = new Serve([]);
    const url = await serve.url();
    expect(serve.lines[0]).to.include({ level: 'info', msg: 'listening', url, docs: `${url}/docs` });
    expect(await (await fetch(`${url}/health`)).json()).to.deep.equal({ status: 'ok' });
    expect(await (await fetch(`${url}/pipelines/tools`)).json()).to.have.property('tools');
    serve.signals.emit('SIGTERM');
    expect(await serve.ended).to.include({ status: 0, stderr: '' });
    expect(serve.lines.map(({ msg }) => msg)).to.deep.equal([
      'listening',
      'runs are kept in memory and are lost when the server exits',
      'request',
      'shutting down',
    ]);
    expect(await fetch(`${url}/health`).catch(() => 'gone')).to.equal('gone');
  });

  it('says which file keeps its runs, and how many of them are from before and go on (D68)', async () => {
    const folder = new TemporaryFolder();
    const env = { SERVICE_STORE: folder.at('runs.db'), SERVICE_SHUTDOWN_SECONDS: '0' };
    const first = new Serve([], env);
    const url = await first.url();
    await untilReady(url);
    expect((await post(url, '/pipelines/run_async', NAP)).status).to.equal(202);
    first.signals.emit('SIGTERM');
    expect(await first.ended).to.include({ status: 0, stderr: '' });
    expect(first.lines.map(({ msg }) => msg)).to.include(
      `runs are kept in ${folder.at('runs.db')}: 0 from before, of which 0 go on`,
    );
    const second = new Serve([], { ...env, NO_COLOR: '1' }, new Screen());
    await second.url();
    while (!second.stdout.text.includes('from before')) await setImmediate();
    second.signals.emit('SIGTERM');
    expect((await second.ended).stdout.replaceAll(/\s+/g, ' '))
      .to.contain('Ctrl-C shuts down; runs go on when the server is started again')
      .and.to.contain('1 from before, of which 1 goes on');
    folder.remove();
  });

  it('prints the documentation address and how to stop on a terminal', async () => {
    const serve = new Serve([], {}, new Screen());
    const url = await serve.url();
    serve.signals.emit('SIGINT');
    expect((await serve.ended).stdout)
      .to.contain(`${url}/docs`)
      .and.contain('Ctrl-C shuts down');
  });

  it('wraps its greeting at words on a narrow terminal', async () => {
    const serve = new Serve([], { NO_COLOR: '1' }, new Screen(34));
    const url = await serve.url();
    serve.signals.emit('SIGINT');
    const { stdout } = await serve.ended;
    expect(stdout.replaceAll(/\s+/g, ' ')).to.contain(
      `wavetrain listens on ${url} documentation ${url}/docs Ctrl-C shuts down; runs are kept in memory and are lost when the server exits`,
    );
    for (const line of stdout.split('\n')) expect(line.length, line).to.be.below(34);
  });

  it('gives active runs SERVICE_SHUTDOWN_SECONDS, then stops their tools', async () => {
    const serve = new Serve([], { SERVICE_SHUTDOWN_SECONDS: '0' });
    const url = await serve.url();
    const waiting = post(url, '/pipelines/run', NAP);
    while (((await (await fetch(`${url}/ready`)).json()) as { running: number }).running === 0)
      await setImmediate();
    serve.signals.emit('SIGTERM');
    const answer = await waiting;
    expect(answer.status).to.equal(503);
    expect(await answer.json()).to.have.nested.property('detail.code', 'shutting_down');
    expect(await serve.ended).to.include({ status: 0 });
  });

  it('exits at once on a second signal', async () => {
    const serve = new Serve([]);
    const url = await serve.url();
    await post(url, '/pipelines/run_async', NAP);
    serve.signals.emit('SIGINT');
    serve.signals.emit('SIGINT');
    expect(await serve.ended).to.include({ status: 130 });
  });

  it('evaluates expressions outside the event loop', async () => {
    const serve = new Serve([]);
    const url = await serve.url();
    const endless = '($f := function($n) { $f($n + 1) }; $f(0))';
    const tasks = [{ id: 'a', tool: 'transform', inputs: { input: null, expression: endless } }];
    const answer = post(url, '/pipelines/run', { pipeline: { id: 'endless', goal: 'g', tasks } });
    let answered = 0;
    const whileItLasts = (async () => {
      for (;;) {
        await fetch(`${url}/health`);
        if (await Promise.race([answer.then(() => true), setImmediate(false)])) return;
        answered++;
      }
    })();
    expect((await answer).status).to.equal(500);
    await whileItLasts;
    expect(answered).to.be.above(20);
    serve.signals.emit('SIGTERM');
    await serve.ended;
  });

  it('survives an expression that exceeds its memory limit, and evaluates the next one', async () => {
    const serve = new Serve([]);
    const url = await serve.url();
    const evaluation = (expression: string): Promise<Response> => {
      const tasks = [{ id: 't', tool: 'transform', inputs: { input: {}, expression } }];
      return post(url, '/pipelines/run', { pipeline: { id: 'a', goal: 'g', tasks } });
    };
    const greedy = await evaluation('$pad("", 1000000, "  - {id: t, tool: mock}")');
    expect(greedy.status).to.equal(500);
    expect(await greedy.text()).to.match(/more than 256 MiB of memory|more than 1 s/);
    expect(await (await evaluation('1 + 1')).json()).to.deep.include({ outputs: { t: 2 } });
    serve.signals.emit('SIGTERM');
    expect(await serve.ended).to.include({ status: 0, stderr: '' });
  });

  it('says that a missing secret belongs into its own environment, or into its file (D61)', async () => {
    const tasks = [{ id: 'a', tool: 'mock', inputs: { x: '{{secrets.TOKEN}}' } }];
    const pipeline = { id: 'p', goal: 'g', tasks };
    const folder = new TemporaryFolder();
    const file = folder.write('secrets.yaml', 'acme: {OTHER: sesame-22}');
    chmodSync(file, 0o600);
    const advice = [
      [{}, 'set SECRET_TOKEN in the environment of the server, and start it again'],
      [
        { SERVICE_SECRETS_FILE: file },
        'add TOKEN under "default" in the secrets file of the server (SERVICE_SECRETS_FILE), which it reads again',
      ],
    ] as const;
    for (const [env, expected] of advice) {
      const serve = new Serve([], env);
      const url = await serve.url();
      const answer = await post(url, '/pipelines/run', { pipeline });
      expect(answer.status).to.equal(400);
      expect(await answer.text()).to.contain(JSON.stringify(expected).slice(1, -1));
      const { stderr } = await invoke(['run', '-', '--server', url], { input: JSON.stringify(pipeline) });
      expect(stderr).to.contain(`which task "a" reads: ${expected}`);
      serve.signals.emit('SIGTERM');
      await serve.ended;
    }
    folder.remove();
  });

  it('guarantees every tenant of the keys file a share, however many there are (D25)', async () => {
    const folder = new TemporaryFolder();
    const tenants = Array.from({ length: 14 }, (_, n) => `team-${n}`);
    const keys = [{ name: 'all', sha256: 'a'.repeat(64), tenants, scopes: ['run'] }];
    const file = folder.write('keys.yaml', JSON.stringify(keys));
    const serve = new Serve([], { SERVICE_API_KEYS_FILE: file });
    await serve.url();
    expect(serve.lines[0]?.['msg']).to.equal(
      'each of the 14 tenants is guaranteed 7.7 % of every limit, so that there is enough for all',
    );
    serve.signals.emit('SIGTERM');
    await serve.ended;
    folder.remove();
  });

  describe('exits with 2 before it listens, for', () => {
    const refusals: [title: string, flags: string[], env: Record<string, string>, told: RegExp][] = [
      ['an invalid port', ['--port', '70000'], {}, /--port must be a whole number from 0 to 65535/],
      [
        'a variable that must be a number',
        [],
        { SERVICE_MAX_RUNNING: 'many' },
        /SERVICE_MAX_RUNNING must be/,
      ],
      [
        'an address beyond this machine without keys (D37)',
        ['--host', '0.0.0.0'],
        {},
        /SERVICE_API_KEYS_FILE/,
      ],
      ['a missing keys file', [], { SERVICE_API_KEYS_FILE: 'no-such.yaml' }, /no-such\.yaml/],
      [
        'an audit file that cannot be written (D95)',
        [],
        { SERVICE_AUDIT_LOG: 'no-such/audit.jsonl' },
        /SERVICE_AUDIT_LOG names .*no-such.audit\.jsonl, which cannot be written: /,
      ],
      [
        'an address of another machine',
        ['--host', '127.0.0.1.example'],
        { SERVICE_ALLOW_ANONYMOUS: 'true' },
        /cannot listen/,
      ],
    ];
    for (const [title, flags, env, told] of refusals) {
      it(title, async () => {
        const { status, stdout, stderr } = await new Serve(flags, env).ended;
        expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
        expect(stderr).to.match(told);
      });
    }

    it('a port that is in use, with a hint', async () => {
      const first = new Serve([]);
      const port = new URL(await first.url()).port;
      const { status, stderr } = await invoke(['serve', '--port', port]);
      expect(status).to.equal(2);
      expect(stderr).to.contain('another program listens there').and.contain('--port');
      first.signals.emit('SIGTERM');
      await first.ended;
    });
  });

  it('exits as a separate process on SIGTERM, with the processes that a small one has forked for it', async function () {
    const child = spawn(process.execPath, [join(ROOT, 'bin/wavetrain.js'), 'serve', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const [firstLine = ''] = line.toString('utf8').split('\n');
    const { url } = JSON.parse(firstLine) as { url: string };
    const tasks = [{ id: 't', tool: 'transform', inputs: { input: 20, expression: '$ + 1' } }];
    const answer = await post(url, '/pipelines/run', { pipeline: { id: 'a', goal: 'g', tasks } });
    expect(await answer.json()).to.deep.include({ outputs: { t: 21 } });
    const [forkServer = 0] = await listWorkers(child.pid, 'fork-server-process.cjs');
    const workers = await listWorkers(forkServer, 'expression-process.cjs');
    expect(workers).not.to.deep.equal([]);
    expect(await listWorkers(child.pid, 'expression-process.cjs')).to.deep.equal([]);
    child.kill('SIGTERM');
    const [status] = (await once(child, 'exit')) as [number];
    expect(status).to.equal(0);
    for (const pid of [forkServer, ...workers]) expect(await isAlive(pid)).to.equal(false);
  });
});
