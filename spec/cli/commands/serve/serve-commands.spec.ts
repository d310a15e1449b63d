import { expect } from 'chai';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive } from '../../../common/workers/processes.js';
import { requireBuild, ROOT } from '../../../project/files.js';
import { useTemporaryFolder } from '../../../support/temporary-folder.js';
import { post, Serve, untilReady } from './serving.js';

interface Served {
  readonly url: string;
  readonly child: ChildProcess;
  /** Lines of its log before it has listened. */
  readonly warnings: readonly string[];
}

describe('serve with tasks that start programs (D88)', () => {
  before(() => requireBuild());
  const folder = useTemporaryFolder();
  let children: ChildProcess[] = [];
  let server: Serve | undefined;

  afterEach(async () => {
    server?.signals.emit('SIGTERM');
    await server?.ended;
    server = undefined;
    for (const child of children) child.kill('SIGKILL');
    children = [];
  });

  const pipelineOf = (inputs: object) => ({
    pipeline: { id: 'p', goal: 'g', tasks: [{ id: 't', tool: 'command', inputs }] },
  });

  it('refuses them by default, whoever asks', async () => {
    server = new Serve([]);
    const url = await server.url();
    const answer = await post(url, '/pipelines/run', pipelineOf({ run: ['touch', folder.at('started')] }));
    expect(answer.status).to.equal(403);
    const { detail } = (await answer.json()) as { detail: { code: string; message: string } };
    expect(detail).to.deep.include({
      code: 'command_not_allowed',
      message:
        'task "t": "touch" may not be started (no program is allowed here); the operator of the server lists programs in SERVICE_COMMANDS',
    });
    expect(existsSync(folder.at('started'))).to.equal(false);
  });

  it('starts those of SERVICE_COMMANDS, each in a folder of its own', async () => {
    server = new Serve([], { SERVICE_COMMANDS: 'sh', PATH: process.env['PATH'] ?? '' });
    const url = await server.url();
    const answer = await post(
      url,
      '/pipelines/run',
      pipelineOf({ shell: 'sh', script: 'pwd; env', output: 'lines' }),
    );
    const { outputs } = (await answer.json()) as { outputs: { t: string[] } };
    expect(outputs.t[0]).to.contain('wavetrain-command-');
    expect(outputs.t.some((line) => line.startsWith('SERVICE_COMMANDS'))).to.equal(false);
  });

  async function start(): Promise<Served> {
    const child = spawn(process.execPath, [join(ROOT, 'bin/wavetrain.js'), 'serve', '--port', '0'], {
      cwd: folder.path,
      env: { ...process.env, SERVICE_STORE: 'runs.db', SERVICE_COMMANDS: 'sh' },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    });
    children.push(child);
    const warnings: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      const { url, msg } = JSON.parse(line) as { url?: string; msg: string };
      if (url !== undefined) {
        await untilReady(url);
        return { child, url, warnings };
      }
      warnings.push(msg);
    }
    return expect.fail('the server does not listen');
  }

  it('leaves none at work when it is killed, and does not start the command again', async () => {
    const first = await start();
    const script = `echo called >> ${folder.at('called')}; trap '' TERM; echo $$ > ${folder.at('pid')}; while true; do sleep 1; done`;
    const accepted = await post(first.url, '/pipelines/run_async', pipelineOf({ shell: 'sh', script }));
    const { run_id: id } = (await accepted.json()) as { run_id: string };
    while (!existsSync(folder.at('pid')) || readFileSync(folder.at('pid'), 'utf8') === '')
      await isAlive(process.pid);
    const pid = Number(readFileSync(folder.at('pid'), 'utf8'));
    const gone = once(first.child, 'exit');
    process.kill(first.child.pid ?? 0, 'SIGKILL');
    await gone;
    const second = await start();
    expect(second.warnings.join()).to.match(
      /^(ended the command of task "t" of run .*, which was left at work)?$/,
    );
    const answer = await fetch(`${second.url}/pipelines/runs/${id}?wait=60`);
    const record = (await answer.json()) as { status: string; error: string };
    expect(record.status).to.equal('failed');
    expect(record.error).to.contain('was at work');
    while (await isAlive(pid));
    expect(readFileSync(folder.at('called'), 'utf8')).to.equal('called\n');
    second.child.kill('SIGTERM');
    await once(second.child, 'exit');
  });
});
