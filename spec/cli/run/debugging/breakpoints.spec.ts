import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { invoke, type Invocation, type InvokeOptions, Recorder } from '../../invoke.js';
import { useRunsServer } from '../../runs/runs-server.js';

const THREE_WAVES = `
pipeline:
  id: shop
  goal: bake
  tasks:
    - {id: dough, tool: store, inputs: {key: dough, value: rye}}
    - {id: loaf, tool: mock, inputs: {of: '{{dough.output}}'}}
    - {id: sale, tool: mock, inputs: {loaf: '{{loaf.output.status}}'}}
`;
const FAILING = `
pipeline:
  id: failing
  goal: fail
  tasks:
    - {id: bad, tool: fail, inputs: {message: "no luck"}}
    - {id: next, tool: mock, await: [bad]}
`;
const PLAN = `
plan:
  id: both
  goal: bake two
  plan_concurrency: 2
  sub_pipelines:
    - id: east
      pipeline: {id: east, goal: bake, tasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]}
    - id: west
      pipeline: {id: west, goal: bake, tasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]}
`;

describe('wavetrain run with breakpoints (D42)', () => {
  const folder = new TemporaryFolder();
  before(() => {
    folder.write('shop.yaml', THREE_WAVES);
    folder.write('failing.yaml', FAILING);
    folder.write('plan.yaml', PLAN);
  });
  after(() => folder.remove());

  const run = (args: string, input: string, options: InvokeOptions = {}): Promise<Invocation> =>
    invoke(['run', ...args.split(' ')], { cwd: folder.path, input, ...options });

  it('pauses before a task, shows its inputs and what others have put out, and goes on', async () => {
    const { status, stderr, stdout } = await run(
      'shop.yaml --break-before loaf --json',
      'show loaf\nshow dough\nshow bread\nhelp\ncontinue\n',
    );
    expect(stderr).to.include('paused before wave 2: loaf');
    expect(stderr).to.include('continue (c), step (s, one wave), show TASK');
    expect(stderr).to.include('loaf: pending\ninputs: {\n  "of": "rye"\n}');
    expect(stderr).to.include('dough: succeeded').and.include('output: "rye"');
    expect(stderr).to.include('bread');
    expect(status, stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.include.keys('dough', 'loaf', 'sale');
  });

  it('executes one wave with each step', async () => {
    const { status, stderr } = await run('shop.yaml --break-before dough', 's\ns\nc\n');
    expect(stderr.match(/^paused .*$/gm)).to.deep.equal([
      'paused before wave 1: dough',
      'paused before wave 2: loaf',
      'paused before wave 3: sale',
    ]);
    expect(status).to.equal(0);
  });

  it('is cancelled by "quit", and when standard input ends before it goes on', async () => {
    const quit = await run('shop.yaml --break-before loaf', 'q\n');
    expect(quit.stderr).to.include('cancelling the run: as asked');
    const ended = await run('shop.yaml --break-before loaf', '');
    expect(ended.stderr).to.include('paused before wave 2: loaf');
    expect(ended.stderr).to.include(
      'cancelling the run: standard input has ended, so nobody can continue it',
    );
    expect([quit.status, ended.status]).to.deep.equal([130, 130]);
  });

  it('pauses on a failure with what has failed, and then fails', async () => {
    const { status, stderr } = await run('failing.yaml --break-on-failure', 'show bad\nc\n');
    expect(stderr).to.include('paused after a failure: bad').and.include('bad: failed: no luck');
    expect(status).to.equal(3);
  });

  it('names the sub-pipeline of a plan that waits, each of them', async () => {
    const { status, stderr } = await run(
      'plan.yaml --break-before east/b --break-before west/b',
      'show west/a\nc\nc\n',
    );
    expect(stderr).to.include('east/b').and.include('west/b');
    expect(stderr).to.include('west/a: succeeded');
    expect(status, stderr).to.equal(0);
  });

  it('escapes what a terminal would obey in values', async () => {
    folder.write('odd.yaml', THREE_WAVES.replace('value: rye', 'value: "\\x9b31m\\x1b[2J"'));
    const { stderr } = await run('odd.yaml --break-before sale', 'show dough\nc\n');
    expect(stderr).to.include('output:').and.not.include('\u001B').and.not.include('\u009B');
  });

  it('refuses a task that there is not, and a file or values from standard input', async () => {
    const unknown = await run('shop.yaml --break-before lof', '');
    expect(unknown.status).to.equal(2);
    expect(unknown.stderr).to.include('has no task "lof" (did you mean "loaf"?)');
    for (const args of ['- --break-before loaf', 'shop.yaml --break-on-failure --params @-']) {
      const { status, stderr } = await run(args, THREE_WAVES);
      expect(status).to.equal(2);
      expect(stderr.replaceAll(/\s+/g, ' ')).to.include('asks on standard input how it goes on');
    }
  });

  it('reads what is typed only after it has paused, too', async () => {
    const stdin = new PassThrough();
    const stderr = new PassThrough();
    let text = '';
    stderr.on('data', (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes('then Enter') && stdin.writable) stdin.end('continue\n');
    });
    const { status } = await run('shop.yaml --break-before loaf', '', { stdin, stderr });
    expect(status).to.equal(0);
    expect(text).to.not.include('cancelling');
  });

  it('leaves lines in the pipe while the run is at work, however many there are', async () => {
    const stdin = new PassThrough();
    const line = 'show dough\n';
    const stderr = new Recorder();
    folder.write(
      'wait.yaml',
      'id: w\ngoal: g\ntasks: [{id: a, tool: sleep, inputs: {seconds: 600}}, {id: b, tool: mock}]\n',
    );
    const processEvents = new EventEmitter();
    const ended = run('wait.yaml --break-on-failure --verbose', '', { stdin, stderr, processEvents });
    while (!stderr.text.includes('a started')) await once(stderr, 'data');
    for (let count = 0; count < 20_000; count++) stdin.write(line);
    await new Promise((next) => setImmediate(next));
    expect(stdin.readableLength + stdin.writableLength).to.be.greaterThan(100_000);
    processEvents.emit('SIGINT');
    processEvents.emit('SIGINT');
    await ended;
  });

  describe('on a server', () => {
    const server = useRunsServer();

    it('asks as for a run of this process', async () => {
      const { status, stderr } = await run(
        `shop.yaml --break-before loaf --server ${server.url}`,
        'show loaf\ns\nc\n',
      );
      expect(stderr).to.include('paused before wave 2: loaf').and.include('"of": "rye"');
      expect(stderr).to.include('paused before wave 3: sale');
      expect(status, stderr).to.equal(0);
    });

    it('is shown as paused by "runs show", and goes on by "runs continue", with --step by one wave', async () => {
      const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', {
        pipeline: {
          id: 'p',
          goal: 'g',
          tasks: [
            { id: 'a', tool: 'mock' },
            { id: 'b', tool: 'mock', await: ['a'] },
          ],
        },
        breakpoints: { before: ['a'] },
      });
      const paused = async (): Promise<boolean> => server.registry.record(body.run_id).paused;
      while (!(await paused())) await new Promise((next) => setImmediate(next));
      const shown = await server.runs(`show ${body.run_id}`);
      expect(shown.stdout).to.include('paused at a breakpoint').and.include('runs continue');
      expect(shown.stdout).to.match(
        /paused +before wave 1: a \(wavetrain runs show .* --task TASK shows its inputs/,
      );
      const listed = await server.runs('list --status paused');
      expect(listed.stdout).to.include(body.run_id).and.include(' paused ');
      expect((await server.runs('list --status succeeded')).stdout).to.not.include(body.run_id);
      const watched = new Recorder();
      const watching = server.runs(`watch ${body.run_id}`, { stderr: watched });
      while (!watched.text.includes('paused before wave 1: a; wavetrain runs continue'))
        await once(watched, 'data');
      const stepped = await server.runs(`continue ${body.run_id} --step`);
      expect(stepped.status, stepped.stderr).to.equal(0);
      while (!(await paused())) await new Promise((next) => setImmediate(next));
      const continued = await server.runs(`continue ${body.run_id}`);
      expect(continued.status).to.equal(0);
      expect((await watching).status).to.equal(0);
      expect(await server.registry.settled(body.run_id)).to.include({ status: 'succeeded' });
      const folderOf = new TemporaryFolder();
      const saved = await server.runs(`recording ${body.run_id} -o out.wtrec`, {
        cwd: folderOf.path,
        env: { WAVETRAIN_SERVER: server.url },
      });
      expect(saved.stderr).to.include('recorded in out.wtrec');
      expect(readFileSync(folderOf.at('out.wtrec'), 'utf8')).to.match(/^\{"wavetrain_recording":1,/);
      folderOf.remove();
      const late = await server.runs(`continue ${body.run_id}`);
      expect(late.stderr).to.include('does not wait at a breakpoint');
      expect(late.status).to.not.equal(0);
    });
  });
});
