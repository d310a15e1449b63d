import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { invoke, Recorder } from '../../invoke.js';

describe('run --inspect (D42)', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('p.yaml', 'id: p\ngoal: g\ntasks: [{id: a, tool: mock, inputs: {value: 1}}]\n');
  });
  afterEach(() => folder.remove());

  it('begins with --inspect=wait when the page is open, shows the run, and keeps the page until Ctrl-C', async () => {
    const processEvents = new EventEmitter();
    const stderr = new Recorder();
    const stdout = new Recorder();
    const argv = ['run', 'p.yaml', '--inspect=wait', '--quiet'];
    const ended = invoke(argv, { cwd: folder.path, stdout, stderr, processEvents });
    await once(stderr, 'data');
    const url = /inspector: (\S+)/.exec(stderr.text)?.[1] ?? '';
    expect(stdout.text).to.equal('');
    const opened = await fetch(url, { redirect: 'manual' });
    expect(opened.status).to.equal(302);
    const runId = opened.headers.get('location')?.replace('/inspect/', '') ?? '';
    const stream = await fetch(new URL(`/pipelines/runs/${runId}/inspection`, url));
    expect(await stream.text()).to.match(/event: end\ndata: .*"succeeded"/);
    processEvents.emit('SIGINT');
    expect(await ended).to.include({ status: 0 });
  });

  it('lets a run that has paused go on from the page when standard input has ended, and shows values until Ctrl-C', async () => {
    folder.write(
      'two.yaml',
      `id: two
goal: g
tasks: [{id: a, tool: mock, inputs: {value: 1}}, {id: b, tool: mock, inputs: {of: '{{a.output.status}}'}}]
`,
    );
    const processEvents = new EventEmitter();
    const stderr = new Recorder();
    const argv = ['run', 'two.yaml', '--inspect', '--break-before', 'b', '--quiet'];
    const ended = invoke(argv, { cwd: folder.path, stderr, processEvents });
    while (!stderr.text.includes('continue it at')) await once(stderr, 'data');
    const page = new URL(/continue it at (\S+)/.exec(stderr.text)?.[1] ?? '');
    const list = await fetch(new URL('/pipelines/runs', page)).then((response) => response.json() as never);
    const { runs } = list as { runs: { run_id: string; paused: boolean }[] };
    expect(runs[0]).to.include({ paused: true });
    const base = `/pipelines/runs/${runs[0]?.run_id}`;
    const read = (path: string): Promise<unknown> =>
      fetch(new URL(base + path, page)).then((response) => response.json());
    expect(await read('/tasks/b')).to.deep.include({ status: 'pending', inputs: { of: 'success' } });
    expect(await read('/tasks/c')).to.have.nested.property('detail.code');
    const continued = await fetch(new URL(`${base}/continue`, page), { method: 'POST' });
    expect(continued.status).to.equal(200);
    while (!stderr.text.includes('the run is over')) await once(stderr, 'data');
    expect(await read('')).to.include({ status: 'succeeded' });
    expect(await read('/tasks/b')).to.include({ status: 'succeeded' });
    processEvents.emit('SIGINT');
    expect(await ended).to.include({ status: 0 });
  });

  it('refuses another mode, and a server', async () => {
    const other = await invoke(['run', 'p.yaml', '--inspect=later'], { cwd: folder.path });
    expect(other).to.include({ status: 2 });
    expect(other.stderr).to.include('--inspect=later is not known');
  });

  it('prints transitions as lines on standard error with DEBUG=wavetrain:*', async () => {
    const { stderr } = await invoke(['run', 'p.yaml', '--quiet'], {
      cwd: folder.path,
      env: { DEBUG: 'wavetrain:*' },
    });
    expect(stderr).to.match(/^wavetrain:run \S+ run queued > running begin$/m);
    expect(stderr).to.match(/^wavetrain:run \S+ run running > succeeded wave\.settled from run\/wave$/m);
  });
});
