import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { invoke, type Invocation, type InvokeOptions, Recorder } from '../../invoke.js';

/** Standard input of somebody at a terminal. */
class Keyboard extends PassThrough {
  readonly isTTY = true;
}

/** A command that is at work. */
interface Command {
  readonly ended: Promise<Invocation>;
  readonly stderr: Recorder;
  /** Resolves when standard error has the text. */
  readonly says: (text: string) => Promise<void>;
  readonly stop: () => void;
}

function start(args: string, options: InvokeOptions): Command {
  const processEvents = new EventEmitter();
  const stderr = new Recorder();
  const ended = invoke(args.split(' '), { stderr, processEvents, ...options });
  return {
    ended,
    stderr,
    says: async (text) => {
      while (!stderr.text.includes(text)) await once(stderr, 'data');
    },
    stop: () => void processEvents.emit('SIGINT'),
  };
}

/** Opens the page, whose address the command has printed. */
async function openPage(stderr: Recorder): Promise<{ readonly page: URL; readonly runId: string }> {
  const page = new URL(/inspector: (\S+)/.exec(stderr.text)?.[1] ?? '');
  const opened = await fetch(page, { redirect: 'manual' });
  expect(opened.status).to.equal(302);
  return { page, runId: opened.headers.get('location')?.replace('/inspect/', '') ?? '' };
}

describe('run --inspect (D42)', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('p.yaml', 'id: p\ngoal: g\ntasks: [{id: a, tool: mock, inputs: {value: 1}}]\n');
  });
  afterEach(() => folder.remove());

  it('begins with --inspect=wait when the page is open, shows the run, and keeps the page until Ctrl-C', async () => {
    const stdout = new Recorder();
    const argv = 'run p.yaml --inspect=wait --quiet';
    const { ended, stderr, says, stop } = start(argv, { cwd: folder.path, stdout });
    await says('inspector: ');
    expect(stdout.text).to.equal('');
    const { page, runId } = await openPage(stderr);
    const stream = await fetch(new URL(`/pipelines/runs/${runId}/inspection`, page));
    expect(await stream.text()).to.match(/event: end\ndata: .*"succeeded"/);
    stop();
    expect(await ended).to.include({ status: 0 });
  });

  it('runs nothing when Ctrl-C comes while --inspect=wait waits, and says so', async () => {
    const { ended, stderr, says, stop } = start('run p.yaml --inspect=wait --record out.wtrec', {
      cwd: folder.path,
    });
    await says('the run begins when the page is open');
    stop();
    expect(await ended).to.include({ status: 130, stdout: '' });
    expect(stderr.text)
      .to.include('nothing has run')
      .and.not.include('cancel')
      .and.not.include('stays until');
    expect(readFileSync(folder.at('out.wtrec'), 'utf8')).to.equal('');
  });

  it('ends without a word with Ctrl-C after the run, with the status of the run', async () => {
    const { ended, stderr, says, stop } = start('run p.yaml --inspect --quiet', { cwd: folder.path });
    await says('stays until');
    const before = stderr.text;
    stop();
    expect(await ended).to.include({ status: 0 });
    expect(stderr.text).to.equal(before);
    expect(before).to.include('stays until Ctrl-C\n');
  });

  it('does not keep the page of a run that Ctrl-C has cancelled', async () => {
    folder.write('slow.yaml', 'id: p\ngoal: g\ntasks: [{id: a, tool: sleep, inputs: {seconds: 600}}]\n');
    const { ended, stderr, says, stop } = start('run slow.yaml --inspect --verbose', { cwd: folder.path });
    await says('a started');
    stop();
    stop();
    expect(await ended).to.include({ status: 130 });
    expect(stderr.text).to.not.include('stays until');
  });

  it('offers Enter where somebody can press it, and reads all that is typed at a breakpoint after --inspect=wait', async () => {
    const stdin = new Keyboard();
    const { ended, stderr, says } = start('run p.yaml --inspect=wait --break-before a --quiet', {
      cwd: folder.path,
      stdin,
    });
    await says('or with Enter');
    await openPage(stderr);
    await says('then Enter');
    stdin.write('show a\n');
    await says('a: pending');
    stdin.write('continue\n');
    await says('stays until Enter or Ctrl-C');
    stdin.write('\n');
    expect(await ended).to.include({ status: 0 });
  });

  it('leaves a paused run to the page when nobody can type, and shows its values until Ctrl-C', async () => {
    const { ended, stderr, says, stop } = start('run p.yaml --inspect --break-before a', {
      cwd: folder.path,
      input: '',
    });
    await says('paused before wave 1: a');
    await says('continue it on the page');
    const { page, runId } = await openPage(stderr);
    const continued = await fetch(new URL(`/pipelines/runs/${runId}/continue`, page), { method: 'POST' });
    expect(continued.status).to.equal(200);
    await says('stays until');
    const task = await fetch(new URL(`/pipelines/runs/${runId}/tasks/a`, page));
    expect(await task.json()).to.include({ task_id: 'a', status: 'succeeded' });
    stop();
    expect(await ended).to.include({ status: 0 });
    expect(stderr.text).to.not.include('cancelling');
  });

  it('lists the failed items of a fan-out, which the page asks for', async () => {
    folder.write(
      'q.yaml',
      'id: q\ngoal: g\ninputs: {list: ["1", "two", "3"]}\ntasks: [{id: n, tool: transform, retry: 0, parallel_over: "{{pipeline.inputs.list}}", inputs: {input: "{{item}}", expression: "$number($)"}}]\n',
    );
    const { ended, stderr, says, stop } = start('run q.yaml --inspect', { cwd: folder.path, input: '' });
    await says('stays until');
    const { page, runId } = await openPage(stderr);
    const ask = (query: string) => fetch(new URL(`/pipelines/runs/${runId}/tasks/n/items?${query}`, page));
    const failed = (await (await ask('status=failed&limit=20')).json()) as { items: { item: number }[] };
    expect(failed.items.map(({ item }) => item)).to.deep.equal([1]);
    for (const wrong of ['limit=0', 'limit=x', 'status=odd']) expect((await ask(wrong)).status).to.equal(400);
    stop();
    expect(await ended).to.include({ status: 3 });
  });

  it('opens no file for a mode that there is not', async () => {
    folder.write('out.wtrec', 'an older recording');
    const argv = ['run', 'p.yaml', '--record', 'out.wtrec', '--events', 'e.jsonl', '--inspect=foo'];
    expect(await invoke(argv, { cwd: folder.path })).to.include({ status: 2 });
    expect(readFileSync(folder.at('out.wtrec'), 'utf8')).to.equal('an older recording');
    expect(existsSync(folder.at('e.jsonl'))).to.equal(false);
  });

  it('refuses another mode, and a server', async () => {
    const other = await invoke(['run', 'p.yaml', '--inspect=later'], { cwd: folder.path });
    expect(other).to.include({ status: 2 });
    expect(other.stderr).to.include('--inspect=later is not known');
  });

  for (const name of ['wavetrain:*', 'wavetrain']) {
    it(`prints transitions as lines on standard error with DEBUG=${name}, the event before what it changed`, async () => {
      const { stderr } = await invoke(['run', 'p.yaml', '--quiet'], {
        cwd: folder.path,
        env: { DEBUG: name },
      });
      expect(stderr).to.match(/^wavetrain:run \S+ run begin: queued > running$/m);
      expect(stderr).to.match(/^wavetrain:run \S+ run wave\.settled from run\/wave: running > succeeded$/m);
    });
  }

  it('says in the line of what fails why it does, with DEBUG=wavetrain:*', async () => {
    folder.write('f.yaml', '{id: p, goal: g, tasks: [{id: f, tool: fail, inputs: {message: no luck}}]}');
    const { stderr } = await invoke(['run', 'f.yaml', '--quiet'], {
      cwd: folder.path,
      env: { DEBUG: 'wavetrain:*' },
    });
    expect(stderr).to.match(/^wavetrain:run \S+ run\/wave\/f task\.settled: invoking > failed \(no luck\)$/m);
  });
});
