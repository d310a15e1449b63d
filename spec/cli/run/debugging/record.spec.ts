import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { readFileSync, truncateSync, statSync } from 'node:fs';
import { TemporaryFolder } from '../../../support/temporary-folder.js';
import { invoke, Recorder } from '../../invoke.js';

const PIPELINE = `
id: p
goal: g
tasks:
  - {id: a, tool: mock, inputs: {value: 1}}
  - {id: check, tool: fail, inputs: {message: "refused {{secrets.KEY}}"}, await: [a]}
`;

describe('run --record FILE and inspect FILE (D42)', () => {
  let folder: TemporaryFolder;
  beforeEach(() => {
    folder = new TemporaryFolder();
    folder.write('p.yaml', PIPELINE);
  });
  afterEach(() => folder.remove());

  const record = () =>
    invoke(['run', 'p.yaml', '--record', 'out.wtrec', '--quiet'], {
      cwd: folder.path,
      env: { SECRET_KEY: 'hunter2-hunter2' },
    });
  const readLines = () => readFileSync(folder.at('out.wtrec'), 'utf8').trimEnd().split('\n');

  it('records a run that fails, from its first event to its last, with secrets masked (D61)', async () => {
    const { status, stderr } = await record();
    expect(status, stderr).to.equal(3);
    const [head, ...entries] = readLines().map((line) => JSON.parse(line));
    const end = entries.pop();
    expect(head).to.deep.include({ wavetrain_recording: 1, origin: 'live' });
    expect(head.run).to.include({ status: 'queued', pipeline_id: 'p' });
    expect(end).to.include({ end: true, entries: entries.length, dropped: 0 });
    expect(end.run).to.include({ status: 'failed', run_id: head.run.run_id });
    expect(entries[0]).to.include({ seq: 1, actor: 'run', state: 'queued' });
    expect(entries.map(({ seq }) => seq)).to.deep.equal(entries.map((_, index) => index + 1));
    expect(entries.findLast(({ actor }) => actor === 'run')).to.include({ state: 'failed' });
    expect(readLines().join('')).to.include('refused ***').and.not.include('hunter2');
  });

  it('does not overwrite what the run is read from, and does not go with --server', async () => {
    const own = await invoke(['run', 'p.yaml', '--record', 'p.yaml'], { cwd: folder.path });
    expect(own).to.include({ status: 2 });
    expect(own.stderr).to.include('--record would overwrite p.yaml');
    const remote = await invoke(['run', 'p.yaml', '--record', 'x', '--server', 'http://127.0.0.1:9'], {
      cwd: folder.path,
    });
    expect(remote).to.include({ status: 2 });
    expect(remote.stderr).to.include('--record does not go with --server');
  });

  it('serves the recording on this machine until Ctrl-C, with the paths of a server', async () => {
    await record();
    const processEvents = new EventEmitter();
    const stdout = new Recorder();
    const ended = invoke(['inspect', 'out.wtrec'], { cwd: folder.path, stdout, processEvents });
    await once(stdout, 'data');
    const page = new URL(stdout.text.trim());
    const runId = page.pathname.replace('/inspect/', '');
    const list: { entries: unknown[] } = await fetch(new URL(`/pipelines/runs/${runId}/inspection`, page), {
      headers: { accept: 'application/json' },
    }).then((response) => response.json() as never);
    expect(list).to.deep.include({ run_id: runId, closed: true, gap: false, origin: 'live' });
    expect(list.entries).to.have.length(readLines().length - 2);
    const stream = await fetch(new URL(`/pipelines/runs/${runId}/inspection?after=3`, page));
    expect(stream.headers.get('content-type')).to.include('text/event-stream');
    expect(await stream.text())
      .to.match(/^retry: 1000\n\nid: 4\n/)
      .and.match(/event: end\ndata: .*"failed"/);
    const run = await fetch(new URL(`/pipelines/runs/${runId}`, page)).then((response) => response.json());
    expect(run).to.include({ status: 'failed' });
    const foreign = await fetch(new URL('/inspect/statecharts.json', page), { method: 'POST' });
    expect(foreign.status).to.equal(405);
    processEvents.emit('SIGINT');
    expect(await ended).to.include({ status: 0 });
  });

  it('records a plan with its sub-runs, which inspect opens with the statecharts of both', async () => {
    folder.write(
      'plan.yaml',
      `
id: report
goal: g
sub_pipelines:
  - {id: first, pipeline: {id: one, goal: g, tasks: [{id: a, tool: mock}]}}
  - {id: second, pipeline: {id: two, goal: g, tasks: [{id: b, tool: mock}]}}
`,
    );
    const cwd = folder.path;
    const { status, stderr } = await invoke(['run', 'plan.yaml', '--record', 'out.wtrec', '--quiet'], {
      cwd,
    });
    expect(status, stderr).to.equal(0);
    const entries = readLines()
      .slice(1, -1)
      .map((line) => JSON.parse(line));
    expect(entries[0]).to.include({ seq: 1, actor: 'plan', src: 'plan', state: 'queued' });
    const ends = entries
      .filter((entry) => entry.status === 'done')
      .map(({ actor, state }) => `${actor} ${state}`);
    expect(ends).to.have.members([
      'plan/sub-runs/first/wave/a succeeded',
      'plan/sub-runs/first succeeded',
      'plan/sub-runs/second/wave/b succeeded',
      'plan/sub-runs/second succeeded',
      'plan succeeded',
    ]);
    const processEvents = new EventEmitter();
    const stdout = new Recorder();
    const ended = invoke(['inspect', 'out.wtrec'], { cwd, stdout, processEvents });
    await once(stdout, 'data');
    const page = new URL(stdout.text.trim());
    const read = async <T>(path: string): Promise<T> =>
      (await fetch(new URL(path, page), { headers: { accept: 'application/json' } })).json() as Promise<T>;
    const runId = page.pathname.replace('/inspect/', '');
    expect(await read(`/pipelines/runs/${runId}`)).to.include({ kind: 'plan', status: 'succeeded' });
    const list = await read<{ entries: unknown[] }>(`/pipelines/runs/${runId}/inspection`);
    expect(list.entries).to.deep.equal(entries);
    const charts = await read<{ id: string }[]>('/inspect/statecharts.json');
    expect(charts.map(({ id }) => id)).to.include.members(['plan', 'sub-runs', 'run', 'wave']);
    processEvents.emit('SIGINT');
    expect(await ended).to.include({ status: 0 });
  });

  it('opens a recording of an older version, whose entries do not say which transition was taken', async () => {
    await record();
    const older = readLines().map((line) => line.replace(/"transition":(null|"[^"]*"),/, ''));
    expect(older.join('')).not.to.include('"transition"');
    folder.write('older.wtrec', older.join('\n'));
    const processEvents = new EventEmitter();
    const stdout = new Recorder();
    const ended = invoke(['inspect', 'older.wtrec'], { cwd: folder.path, stdout, processEvents });
    await once(stdout, 'data');
    processEvents.emit('SIGINT');
    expect(await ended).to.include({ status: 0 });
  });

  const newer = (line: string) => line.replace('"wavetrain_recording":1', '"wavetrain_recording":2');
  const BAD: [string, (lines: string[]) => string[], string][] = [
    ['is empty', () => [], 'is empty'],
    ['is not one', () => ['id: p'], 'is not a recording'],
    ['is other JSON', () => ['{"a": 1}'], 'is not a recording'],
    [
      'is from a newer version',
      ([head = '', ...rest]) => [newer(head), ...rest],
      'was recorded by a newer version of wavetrain 0.1.0',
    ],
    ['lacks its end', (lines) => lines.slice(0, -1), 'is cut: it ends after line'],
    ['lacks an entry', (lines) => lines.toSpliced(3, 1), 'says that it has'],
    [
      'has an entry twice',
      (lines) => lines.toSpliced(3, 0, lines[3] ?? ''),
      'has no entry of an inspection in line 5',
    ],
    [
      'has something else',
      (lines) => lines.toSpliced(2, 1, '{"seq": 2}'),
      'has no entry of an inspection in line 3',
    ],
    [
      'names no transition where it should',
      (lines) => lines.with(2, (lines[2] ?? '').replace(/"transition":(null|"[^"]*")/, '"transition":7')),
      'has no entry of an inspection in line 3',
    ],
    ['goes on after its end', (lines) => [...lines, lines[1] ?? ''], 'goes on after its end'],
    [
      'has another head',
      ([, ...rest]) => ['{"wavetrain_recording":1}', ...rest],
      'has a head that no recording has',
    ],
  ];
  for (const [what, change, message] of BAD) {
    it(`refuses a file that ${what} with one message`, async () => {
      await record();
      folder.write('bad.wtrec', change(readLines()).join('\n'));
      const { status, stdout, stderr } = await invoke(['inspect', 'bad.wtrec'], { cwd: folder.path });
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.include(`bad.wtrec ${message}`);
    });
  }

  it('refuses a file that was cut in the middle of a line, and one that is not there', async () => {
    await record();
    truncateSync(folder.at('out.wtrec'), statSync(folder.at('out.wtrec')).size - 30);
    const cut = await invoke(['inspect', 'out.wtrec'], { cwd: folder.path });
    expect(cut.stderr).to.include('is cut or damaged: line');
    const missing = await invoke(['inspect', 'none.wtrec'], { cwd: folder.path });
    expect(missing).to.include({ status: 2 });
    expect(missing.stderr).to.include('cannot read none.wtrec');
  });
});
