import { expect } from 'chai';
import { EventEmitter, once } from 'node:events';
import { readFileSync, renameSync } from 'node:fs';
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
  /** Opens a recording. `end` presses Ctrl-C, and resolves with how the command has ended. */
  async function serve(name: string) {
    const processEvents = new EventEmitter();
    const [stdout, stderr] = [new Recorder(), new Recorder()];
    const ended = invoke(['inspect', name], { cwd: folder.path, stdout, stderr, processEvents });
    await Promise.race([once(stdout, 'data'), ended]);
    const page = new URL(stdout.text.trim());
    const fetchText = (path: string) => fetch(new URL(path, page)).then((response) => response.text());
    const read = async <T>(path: string): Promise<T> =>
      (await fetch(new URL(path, page), { headers: { accept: 'application/json' } })).json() as Promise<T>;
    const end = () => {
      processEvents.emit('SIGINT');
      return ended;
    };
    return { page, runId: page.pathname.replace('/inspect/', ''), fetchText, read, end, stderr };
  }
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

  it('records the inputs and the error of what has failed, masked and without its stack, and inspect prints them', async () => {
    await record();
    const lines = readLines().map((line) => JSON.parse(line));
    expect(lines[0].failed_calls).to.deep.equal([]);
    const { failed_calls: calls } = lines.at(-1);
    expect(calls).to.have.length(1);
    expect(calls[0]).to.deep.include({
      task_id: 'check',
      status: 'failed',
      inputs: { message: 'refused ***', times: null },
    });
    expect(calls[0].error).to.include({ message: 'refused ***' }).and.not.have.property('stack');
    const { stderr, values, other, recording, list } = await open('out.wtrec');
    expect(stderr).to.include(
      '  check failed: refused ***\n    inputs: {"message":"refused ***","times":null}\n',
    );
    expect(list.offers).to.deep.equal(['recording', 'failures']);
    expect(JSON.parse(values)).to.deep.equal(calls[0]);
    expect(other).to.include('a recording has values only of what failed');
    expect(JSON.parse(recording.split('\n')[0] ?? '').failed_calls).to.deep.equal(calls);
  });

  it('does not write into the file of --events, whatever name it has there', async () => {
    folder.write('old.jsonl', 'older events');
    for (const [events, recorded] of [
      ['new.jsonl', './new.jsonl'],
      ['old.jsonl', folder.at('old.jsonl')],
    ] as const) {
      const argv = ['run', 'p.yaml', '--events', events, '--record', recorded];
      const { status, stderr } = await invoke(argv, { cwd: folder.path });
      expect(status).to.equal(2);
      expect(stderr.replaceAll(/\s+/g, ' ')).to.include(
        `--record would overwrite ${events}, which --events writes`,
      );
    }
    expect(readFileSync(folder.at('old.jsonl'), 'utf8')).to.equal('older events');
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
    const { page, runId, read, end } = await serve('out.wtrec');
    const list = await read<{ entries: unknown[] }>(`/pipelines/runs/${runId}/inspection`);
    expect(list).to.deep.include({ run_id: runId, closed: true, gap: false, origin: 'live' });
    expect(list.entries).to.have.length(readLines().length - 2);
    const stream = await fetch(new URL(`/pipelines/runs/${runId}/inspection?after=3`, page));
    expect(stream.headers.get('content-type')).to.include('text/event-stream');
    expect(await stream.text())
      .to.match(/^retry: 1000\n\nid: 4\n/)
      .and.match(/event: end\ndata: .*"failed"/);
    expect(await read(`/pipelines/runs/${runId}`)).to.include({ status: 'failed' });
    const foreign = await fetch(new URL('/inspect/statecharts.json', page), { method: 'POST' });
    expect(foreign.status).to.equal(405);
    expect(await end()).to.include({ status: 0 });
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
    const argv = ['run', 'plan.yaml', '--record', 'out.wtrec', '--quiet'];
    const { status, stderr } = await invoke(argv, { cwd: folder.path });
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
    const { runId, read, end } = await serve('out.wtrec');
    expect(await read(`/pipelines/runs/${runId}`)).to.include({ kind: 'plan', status: 'succeeded' });
    const list = await read<{ entries: unknown[] }>(`/pipelines/runs/${runId}/inspection`);
    expect(list.entries).to.deep.equal(entries);
    const charts = await read<{ id: string }[]>('/inspect/statecharts.json');
    expect(charts.map(({ id }) => id)).to.include.members(['plan', 'sub-runs', 'run', 'wave']);
    expect(await end()).to.include({ status: 0 });
  });

  it('opens a recording of an older version, whose entries do not say which transition was taken', async () => {
    await record();
    const older = readLines().map((line) => line.replace(/"transition":(null|"[^"]*"),/, ''));
    expect(older.join('')).not.to.include('"transition"');
    folder.write('older.wtrec', older.join('\n'));
    expect(await (await serve('older.wtrec')).end()).to.include({ status: 0 });
  });

  type Change = (lines: string[]) => string[];
  const inHead =
    (from: string | RegExp, to: string): Change =>
    ([head = '', ...rest]) => [head.replace(from, to), ...rest];
  const NO_HEAD = 'has a head that no recording has';
  const NO_ENTRY = 'has no entry of an inspection in line';
  const BAD: [string, Change, string][] = [
    ['is empty', () => [], 'is empty'],
    ['is not one', () => ['id: p'], 'is not a recording'],
    ['is other JSON', () => ['{"a": 1}'], 'is not a recording'],
    [
      'is from a newer version',
      inHead('"wavetrain_recording":1', '"wavetrain_recording":2'),
      'was recorded by wavetrain 0.1.0, in a format that is newer than this wavetrain',
    ],
    ['has failures that are none', inHead('"failed_calls":[]', '"failed_calls":[{"task_id":7}]'), NO_HEAD],
    [
      'has a failure at its end whose error is no text',
      (lines) => [
        ...lines.slice(0, -1),
        (lines.at(-1) ?? '').replace('"message":"refused ***","causes"', '"message":{},"causes"'),
      ],
      'has an end that no recording has',
    ],
    ['lacks an entry', (lines) => lines.toSpliced(3, 1), 'says that it has'],
    ['has an entry twice', (lines) => lines.toSpliced(3, 0, lines[3] ?? ''), `${NO_ENTRY} 5`],
    ['has something else', (lines) => lines.toSpliced(2, 1, '{"seq": 2}'), `${NO_ENTRY} 3`],
    [
      'names no transition where it should',
      (lines) => lines.with(2, (lines[2] ?? '').replace(/"transition":(null|"[^"]*")/, '"transition":7')),
      `${NO_ENTRY} 3`,
    ],
    ['goes on after its end', (lines) => [...lines, lines[1] ?? ''], 'goes on after its end'],
    ['has another head', inHead(/^.*$/, '{"wavetrain_recording":1}'), NO_HEAD],
    [
      'writes to the terminal by its status',
      inHead(/"status":"\w+"/, '"status":"\\u001b]0;owned\\u0007"'),
      NO_HEAD,
    ],
    ['has a status that is no text', inHead(/"status":"\w+"/, '"status":{"toString":1}'), NO_HEAD],
    [
      'has an object as the number of its entries',
      (lines) => [...lines.slice(0, -1), '{"end":true,"entries":{"toString":1,"valueOf":1},"dropped":0}'],
      'has an end that no recording has',
    ],
    [
      'has a head of very many nested lists',
      inHead('"goal":', `"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},"goal":`),
      'is nested more deeply than a recording is',
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

  /** Opens a recording, reads the whole stream of its page, and ends the command. */
  const open = async (name: string) => {
    const { runId, fetchText, read, end, stderr } = await serve(name);
    const path = `/pipelines/runs/${runId}`;
    const stream = await fetchText(`${path}/inspection`);
    const recording = await fetchText(`${path}/recording`);
    const values = await fetchText(`${path}/tasks/check`);
    const other = await fetchText(`${path}/tasks/a`);
    const list = await read<{ offers: string[] }>(`${path}/inspection`);
    await end();
    return { stream, recording, values, other, list, stderr: stderr.text };
  };

  it('opens what is whole of a recording whose program was killed, and says that its end is missing', async () => {
    await record();
    const lines = readLines().slice(0, -1);
    folder.write('killed.wtrec', `${lines.join('\n')}\n`);
    const killed = await open('killed.wtrec');
    expect(killed.stderr).to.include(`ends after entry ${lines.length - 1}, without its end`);
    expect(killed.stream).to.match(/event: gap\ndata: [^\n]+\n\nevent: end/);
    folder.write('cut.wtrec', lines.join('\n').slice(0, -30));
    const cut = await open('cut.wtrec');
    expect(cut.stderr).to.include(`ends after entry ${lines.length - 2}, without its end`);
    expect(cut.stream.match(/^id: /gm)).to.have.length(lines.length - 2);
  });

  it('says how many entries were not recorded at the end, in the terminal and to the page', async () => {
    await record();
    const [head = '', ...rest] = readLines();
    const end = JSON.parse(rest.pop() ?? '');
    const kept = rest.slice(0, -3);
    const changed = JSON.stringify({ ...end, entries: kept.length, dropped: 3 });
    folder.write('short.wtrec', [head, ...kept, changed].join('\n'));
    const { stderr, stream } = await open('short.wtrec');
    expect(stderr).to.include(`3 of its ${kept.length + 3} entries are not in the recording`);
    const last = kept.length;
    expect(stream).to.include(`event: gap\ndata: {"after":${last},"next":${last + 4}}`);
  });

  it('gives the recording back from its page, and says that it has no values of what has not failed', async () => {
    await record();
    const { recording, other } = await open('out.wtrec');
    expect(recording.trimEnd().split('\n').slice(1, -1)).to.deep.equal(readLines().slice(1, -1));
    expect(JSON.parse(recording.split('\n')[0] ?? '')).to.include({ wavetrain_recording: 1 });
    expect(other).to.include('a recording has values only of what failed');
  });

  it('opens a file whose name looks like the id of a run', async () => {
    await record();
    renameSync(folder.at('out.wtrec'), folder.at('cafe'));
    expect((await open('cafe')).stream).to.include('event: end');
  });

  it('suggests the file that was meant, and to unpack one', async () => {
    await record();
    const near = await invoke(['inspect', 'out'], { cwd: folder.path });
    expect(near.stderr).to.include('did you mean out.wtrec?');
    folder.write('out.wtrec.gz', '\u001f\u008b');
    const packed = await invoke(['inspect', 'out.wtrec.gz'], { cwd: folder.path });
    expect(packed.stderr).to.include('is not a recording').and.include('unpack it first');
  });

  it('says after the run that the recording is there, and how to open it', async () => {
    const loud = await invoke(['run', 'p.yaml', '--record', 'out.wtrec'], {
      cwd: folder.path,
      env: { SECRET_KEY: 'hunter2-hunter2' },
    });
    expect(loud.stderr).to.include('recorded in out.wtrec: wavetrain inspect out.wtrec shows it');
    expect((await record()).stderr).to.not.include('recorded in');
  });

  it('refuses a file that was damaged in the middle of a line, and one that is not there', async () => {
    await record();
    folder.write('bad.wtrec', readLines().with(2, '{"seq": 2, "time').join('\n'));
    const cut = await invoke(['inspect', 'bad.wtrec'], { cwd: folder.path });
    expect(cut.stderr).to.include('is cut or damaged: line 3');
    const missing = await invoke(['inspect', 'none.wtrec'], { cwd: folder.path });
    expect(missing).to.include({ status: 2 });
    expect(missing.stderr).to.include('cannot read none.wtrec');
  });
});
