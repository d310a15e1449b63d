import { expect } from 'chai';
import { stripVTControlCharacters } from 'node:util';
import { systemClock } from '../../../lib/common/clock.js';
import { WavetrainError } from '../../../lib/common/errors.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { FakeServer, respondJson } from '../../client/fake-server.js';
import { invoke, Screen } from '../invoke.js';
import { runsServer, FAILING, HELLO, useRunsServer } from './runs-server.js';
import { createApiKey } from '../../support/http/api-key.js';

describe('wavetrain runs list', () => {
  const server = useRunsServer();
  const ids: string[] = [];

  before(async () => {
    for (let count = 0; count < 22; count++) ids.unshift(await server.settled(HELLO));
    ids.unshift(await server.settled(FAILING, 'acme'));
  });

  const listed = (stdout: string): string[] =>
    stdout
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split(' ')[0] ?? '');

  it('lists the newest 20 runs, one per line, and prints that there are more', async () => {
    const { status, stdout, stderr } = await server.runs('list');
    expect(status).to.equal(0);
    expect(stdout.split('\n')[0]).to.match(/^RUN ID +STATUS +AGE +TASKS +PIPELINE$/);
    expect(stdout.split('\n')[1]).to.match(/^[0-9a-f-]{36} {2}failed {5}[\d.]+ m?s +2\/2 +failing$/);
    expect(listed(stdout)).to.deep.equal(ids.slice(0, 20));
    expect(stderr).to.contain('--all');
  });

  it('lists N runs with --limit N and every run with --all', async () => {
    expect(listed((await server.runs('list --limit 3')).stdout)).to.deep.equal(ids.slice(0, 3));
    const { stdout, stderr } = await server.runs('list --all');
    expect(listed(stdout)).to.deep.equal(ids);
    expect(stderr).to.equal('');
  });

  it('says how many runs of an earlier version the list still lacks (D74)', async () => {
    const left = [12, 1];
    const migrating = await FakeServer.open((response) =>
      respondJson(response, 200, { runs: [], next_cursor: null, migrating: left.shift() }),
    );
    const list = (flags: string) => server.runs(`list${flags}`, { env: { WAVETRAIN_SERVER: migrating.url } });
    expect(await list('')).to.include({
      stdout: 'no runs found\n',
      stderr: '12 runs of an earlier version are still being brought over\n',
    });
    expect((await list(' --json')).stderr).to.equal(
      '1 run of an earlier version is still being brought over\n',
    );
    expect((await list('')).stderr).to.equal('');
    await migrating.close();
  });

  it('filters by status, pipeline and tenant', async () => {
    for (const flags of ['--status failed', '--pipeline failing', '--tenant acme']) {
      expect(listed((await server.runs(`list ${flags}`)).stdout), flags).to.deep.equal([ids[0]]);
    }
    expect((await server.runs('list --tenant nobody')).stdout).to.equal('no runs found\n');
  });

  it('filters by a text in the goal or the error, and by the time of submission', async () => {
    const { created_at } = server.registry.record(ids[21] ?? '');
    const after = new Date(Date.parse(created_at) + 1).toISOString();
    expect(listed((await server.runs(`list --all --text FAILING`)).stdout)).to.deep.equal([ids[0]]);
    expect(listed((await server.runs(`list --all --text ${ids[3]}`)).stdout)).to.deep.equal([ids[3]]);
    expect(listed((await server.runs(`list --all --until ${after}`)).stdout)).to.include(ids[21]);
    expect(listed((await server.runs(`list --all --since ${after}`)).stdout)).to.not.include(ids[21]);
    expect(listed((await server.runs('list --all --since 2h')).stdout)).to.deep.equal(ids);
    expect((await server.runs('list --until 2h')).stdout).to.equal('no runs found\n');
  });

  it('refuses what is no time, and a period without any', async () => {
    const bad = await server.runs('list --since yesterday');
    expect(bad.status).to.equal(2);
    expect(bad.stderr).to.contain('--since must be how long ago, or a date or time, not "yesterday"');
    const empty = await server.runs('list --since 1h --until 2h');
    expect(empty.status).to.equal(2);
    expect(empty.stderr).to.contain('--since 1h is not before --until 2h, so no run is in between');
  });

  it('prints one JSON document with --json (D41)', async () => {
    const { stdout, stderr } = await server.runs('list --all --json');
    const { runs }: { runs: { run_id: string }[] } = JSON.parse(stdout);
    expect(runs.map(({ run_id }) => run_id)).to.deep.equal(ids);
    expect(stderr).to.equal('');
    expect(JSON.parse((await server.runs('list --status queued --json')).stdout)).to.deep.equal({ runs: [] });
  });

  it('keeps status and pipeline at 34 columns, for which it gives up other columns, and wraps its footer', async () => {
    const screens = { stdout: new Screen(34), stderr: new Screen(34) };
    const env = { WAVETRAIN_SERVER: server.url, NO_COLOR: '1' };
    const { stdout, stderr } = await server.runs('list', { ...screens, env });
    const [heading, failed, ...others] = stdout.trimEnd().split('\n');
    expect(heading).to.match(/^RUN ID +STATUS +PIPELINE$/);
    expect(failed).to.match(new RegExp(`^${ids[0]?.slice(-8)} {2}failed +failing$`));
    for (const line of others) expect(line).to.match(/ {2}succeeded {2}hello$/);
    expect(stderr).to.equal(
      'the server has more runs:\n  --limit N lists N of them,\n  --all lists every run\n',
    );
  });

  it('gives up the number of tasks before the age, and shortens long names of pipelines in the middle', async () => {
    const id = 'download_all_monthly_reports_2024';
    const runId = await server.settled({ ...HELLO, id });
    const stdout = new Screen(44);
    const env = { WAVETRAIN_SERVER: server.url, NO_COLOR: '1' };
    await server.runs(`list --pipeline ${id}`, { stdout, env });
    server.registry.forget(runId);
    expect(stdout.text).to.match(
      /^.{8} {2}STATUS +AGE +PIPELINE\n\S{8} {2}succeeded +[\d.]+ m?s {2}down\S+…\S+2024\n$/,
    );
  });

  it('fits the table to the terminal and colours the status', async () => {
    const stdout = new Screen(50);
    const env = { WAVETRAIN_SERVER: server.url, TERM: 'xterm' };
    await server.runs('list', { stdout, env });
    const lines = stdout.text.split('\n').map(stripVTControlCharacters);
    expect(Math.max(...lines.map(({ length }) => length))).to.be.below(50);
    // The end of a run id is enough for the other commands.
    expect(lines[1]).to.match(new RegExp(`^${ids[0]?.slice(-12)} {2}failed +[\\d.]+ m?s +2/2 +failing$`));
    expect(stdout.text).to.contain('\u001b[31mfailed\u001b[39m');
  });

  for (const [flags, message] of [
    ['--status done', '--status must be one of queued'],
    ['--limit 0', '--limit must be a whole number'],
    ['--limit 3 --all', 'not both'],
    ['--server nowhere', '"nowhere" is not the address'],
  ] as const) {
    it(`exits with 2 for ${flags}`, async () => {
      const { status, stderr, stdout } = await server.runs(`list ${flags}`);
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.contain(message);
    });
  }
});

describe('wavetrain runs show', () => {
  const server = useRunsServer();

  it('shows a succeeded run with its outputs', async () => {
    const runId = await server.settled(HELLO);
    const { status, stdout, stderr } = await server.runs(`show ${runId}`);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.match(
      new RegExp(`^run +${runId}\nstatus +succeeded in [\\d.]+ m?s\npipeline +hello\n`),
    );
    expect(stdout).to.match(/progress +1 of 1 wave, 1 of 1 task, 1 invocation\n/);
    expect(stdout).to.contain('Outputs:\n  greet:').and.to.contain('tasks_executed: 1');
    expect(stdout)
      .not.to.contain('error')
      .and.not.to.match(/rerun of|trigger/)
      .and.not.to.contain('hint');
  });

  it('shows a failed run with its failures, and exits with 0 itself', async () => {
    const runId = await server.settled(FAILING);
    const { status, stdout } = await server.runs(`show ${runId}`);
    expect(status).to.equal(0);
    expect(stdout).to.match(/error +task "second": no luck\n/);
    expect(stdout).to.contain(
      'Failures:\n  second after 1 attempt: no luck\n    inputs: {"message": "no luck", ',
    );
    expect(stdout).to.contain(`  hint: wavetrain runs rerun ${runId} --from failed\n`);
    expect(stdout).not.to.contain('Outputs:');
  });

  it('prints the record with --json (D41)', async () => {
    const runId = await server.settled(FAILING);
    const { stdout } = await server.runs(`show ${runId} --json`);
    expect(JSON.parse(stdout)).to.deep.equal((await server.request('GET', `/pipelines/runs/${runId}`)).body);
  });

  it('accepts the beginning or end of a run id, of at least 4 characters', async () => {
    const runId = await server.settled(HELLO);
    for (const part of [runId.slice(-8), runId.slice(-8).toUpperCase(), runId.slice(0, 30)]) {
      expect((await server.runs(`show ${part}`)).stdout, part).to.contain(runId);
    }
    const first = await server.runs(`show ${runId.slice(0, 6)}`);
    expect(first.status).to.equal(2);
    expect(first.stderr)
      .to.match(/\d+ runs have an id/)
      .and.to.contain(runId);
    for (const [part, message] of [
      [runId.slice(-3), 'is neither a run id'],
      ['hello', 'is neither a run id'],
      ['dead-beef', 'no run has an id that begins or ends with'],
    ] as const) {
      const { status, stderr } = await server.runs(`show ${part}`);
      expect(status, part).to.equal(2);
      expect(stderr).to.contain(message).and.to.contain('wavetrain runs list');
    }
  });

  it('says why its tasks are missing when the server cannot list them, and shows the rest (D59)', async () => {
    const full = await runsServer();
    const runId = await full.settled(FAILING);
    full.registry.queries.tasks = () =>
      Promise.reject(new WavetrainError('memory_full', 'there is no memory for it'));
    // The client repeats the request after a delay.
    const clock = { ...systemClock, setTimeout: (run: () => void) => queueMicrotask(run) };
    const { status, stdout } = await full.runs(`show ${runId}`, { clock });
    expect(status).to.equal(0);
    expect(stdout)
      .to.contain('Tasks:\n  2 tasks cannot be read: there is no memory for it\nFailures:\n  second after')
      .and.to.contain(`hint: wavetrain runs rerun ${runId}`);
    await full.close(0);
  });

  it('lists the tasks of all pages of a run that failed, which end early when values are long (D59)', async () => {
    const paged = await runsServer();
    const { queries } = paged.registry;
    const tasks = queries.tasks.bind(queries);
    queries.tasks = (runId, query) => tasks(runId, { ...query, limit: 1 });
    const { stdout } = await paged.runs(`show ${await paged.settled(FAILING)}`);
    expect(stdout).to.match(/Tasks:\n {2}✓ first +succeeded.*\n {2}✗ second +failed.*\nFailures:/);
    await paged.close(0);
  });

  it('exits with 2 for an unknown run', async () => {
    const { status, stderr } = await server.runs('show 019b7600-0000-7000-8000-000000000000');
    expect(status).to.equal(2);
    expect(stderr).to.contain('there is no run 019b7600');
  });

  it('prints why the server may no longer have a run (D26)', async () => {
    for (const id of ['019b7600-0000-7000-8000-000000000000', 'dead-beef']) {
      const { stderr } = await server.runs(`show ${id}`);
      expect(stderr)
        .to.contain('a server without SERVICE_STORE loses its runs when it stops')
        .and.to.contain('SERVICE_RUN_TTL, or')
        .and.to.contain('SERVICE_RUN_KEEP, or it was deleted; wavetrain runs list')
        .and.not.to.contain('default');
    }
  });

  it('wraps lines at spaces on a narrow terminal', async () => {
    const stdout = new Screen(40);
    const env = { WAVETRAIN_SERVER: server.url, TERM: 'xterm', NO_COLOR: '1' };
    await server.runs(`show ${await server.settled(FAILING)}`, { stdout, env });
    expect(stdout.text).to.contain('progress    2 of 2 waves, 2 of 2 tasks,\n            2 invocations\n');
    const stderr = new Screen(40);
    await server.runs('show 019b7600-0000-7000-8000-000000000000', { stderr, env });
    for (const line of stderr.text.split('\n')) {
      if (line.trim().includes(' ')) expect(line.length, line).to.be.below(40);
    }
  });
});

describe('The trigger of a run (D28), and who has started it (D75)', () => {
  const server = useRunsServer();
  let runId: string;
  let byKey: string;
  before(async () => {
    const pipeline = parsePipeline(JSON.stringify(HELLO));
    const schedule = { trigger: 'schedule', startedBy: { kind: 'schedule', name: 'hello' } } as const;
    runId = await server.registry.submit({ pipeline }, schedule);
    await server.registry.settled(runId);
    byKey = await server.registry.submit({ pipeline }, { startedBy: { kind: 'key', name: 'ci' } });
    await server.registry.settled(byKey);
  });

  it('is shown by runs list, beside the pipeline, by runs show and by runs report', async () => {
    expect((await server.runs('list')).stdout).to.match(/ hello \(key ci\)\n.* hello \(schedule\)\n$/);
    expect((await server.runs(`show ${runId}`)).stdout).to.match(/\nstarted by +schedule hello\n/);
    expect((await server.runs(`report ${runId}`)).stdout).to.contain('\n- started by: schedule hello\n');
    expect((await server.runs(`show ${byKey}`)).stdout).to.match(/\nstarted by +key ci\n/);
  });

  it('selects the runs that runs list --started-by lists, by kind or by kind and name', async () => {
    expect((await server.runs('list --started-by key')).stdout)
      .to.contain(byKey)
      .and.not.contain(runId);
    expect((await server.runs('list --started-by schedule:hello')).stdout).to.contain(runId);
    expect((await server.runs('list --started-by key:ada')).stdout).to.equal('no runs found\n');
    const { status, stderr } = await server.runs('list --started-by nobody');
    expect(status).to.equal(2);
    expect(stderr).to.contain('--started-by must be one of key, anonymous, schedule');
  });

  it('selects the runs that runs list --trigger lists (D35)', async () => {
    expect((await server.runs('list --trigger schedule')).stdout).to.contain(runId);
    expect((await server.runs('list --trigger webhook')).stdout).to.equal('no runs found\n');
    const { status, stderr } = await server.runs('list --trigger cron');
    expect(status).to.equal(2);
    expect(stderr).to.contain('--trigger must be schedule or webhook, not "cron"');
  });

  it('is left out by runs show and runs report where an older server does not know it', async () => {
    const olderId = await server.settled(HELLO);
    const withoutTrigger = (key: string, value: unknown): unknown => (key === 'trigger' ? undefined : value);
    const older = await FakeServer.open((response, { path }) => {
      void fetch(server.url + path).then(async (answer) => {
        respondJson(response, answer.status, JSON.parse(await answer.text(), withoutTrigger));
      });
    });
    const env = { WAVETRAIN_SERVER: older.url, NO_COLOR: '1' };
    const stdout = new Screen(80);
    const shown = await server.runs(`show ${olderId}`, { stdout, env });
    expect({ status: shown.status, stderr: shown.stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout.text).to.contain(olderId).and.not.to.contain('trigger');
    expect((await server.runs(`show ${olderId}`, { env })).stdout).not.to.contain('trigger');
    expect((await server.runs(`report ${olderId}`, { env })).stdout)
      .to.contain(olderId)
      .and.not.to.contain('trigger');
    await older.close();
  });
});

describe('The server of wavetrain runs', () => {
  it('is set by --server, which overrides WAVETRAIN_SERVER', async () => {
    const server = await runsServer();
    const elsewhere = { env: { WAVETRAIN_SERVER: 'http://127.0.0.1:1' } };
    expect((await server.runs(`list --server ${server.url}`, elsewhere)).status).to.equal(0);
    await server.close(0);
  });

  it('makes the command exit with 3 and print how to start one, if it is unreachable', async () => {
    const server = await runsServer();
    await server.close(0);
    const { status, stdout, stderr } = await server.runs('list');
    expect({ status, stdout }).to.deep.equal({ status: 3, stdout: '' });
    expect(stderr).to.contain(server.url).and.to.contain('wavetrain serve').and.to.contain('--server');
  });

  it('gets the key in WAVETRAIN_API_KEY; without one, the error names the variable', async () => {
    const server = await runsServer({
      keys: [createApiKey('ada', ['default'], ['read'], 'secret')],
    });
    const env = { WAVETRAIN_SERVER: server.url, WAVETRAIN_API_KEY: 'secret' };
    expect((await server.runs('list', { env })).stdout).to.equal('no runs found\n');
    const { status, stderr } = await server.runs('list');
    expect(status).to.equal(2);
    expect(stderr).to.contain('WAVETRAIN_API_KEY');
    await server.close(0);
  });
});

describe('The help of wavetrain runs', () => {
  for (const args of [
    ['runs', '--help'],
    ['runs', '-h'],
    ['help', 'runs'],
  ]) {
    it(`lists the subcommands for ${args.join(' ')}`, async () => {
      const { status, stdout } = await invoke(args);
      expect(status).to.equal(0);
      for (const word of ['submit', 'list', 'show', 'watch', 'cancel', 'rerun', 'delete']) {
        expect(stdout).to.match(new RegExp(`^ {2}runs ${word} `, 'm'));
      }
      expect(stdout).not.to.contain('validate');
    });
  }

  it('is replaced by a hint, with exit status 2, if the subcommand is missing', async () => {
    const { status, stderr } = await invoke(['runs']);
    expect(status).to.equal(2);
    expect(stderr).to.contain(
      'write wavetrain runs submit or list or stats or show or snapshot or report or recording or artifacts or watch',
    );
  });
});
