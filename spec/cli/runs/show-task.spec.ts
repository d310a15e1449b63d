import { expect } from 'chai';
import { defineTool } from '../../../lib/tools/tool.js';
import { type Deferred, deferred } from '../../support/deferred.js';
import { Screen } from '../invoke.js';
import { type RunsServer, useRunsServer } from './runs-server.js';

const begun = new Map<string, { calls: number; all: Deferred<void> }>();

/** Fails for every second number, because something else failed; not before the items of a fan-out have begun. */
const picky = defineTool({
  name: 'picky',
  description: 'fails for odd numbers',
  inputs: {
    n: { type: 'integer', description: 'the number', required: true },
    note: { type: 'string', description: 'anything', default: '' },
  },
  run: async ({ n }, { run_id: id, item_index: item }) => {
    const run = begun.get(id) ?? { calls: 0, all: deferred<void>() };
    begun.set(id, run);
    run.calls += 1;
    if (run.calls === COUNT || item === null) run.all.resolve();
    await run.all.promise;
    if (n % 2 === 1) throw new Error(`no ${n}`, { cause: new TypeError('it is odd') });
    return { n, text: 'x'.repeat(100_000) };
  },
});

const COUNT = 4;

const ITEMS = {
  id: 'items',
  goal: 'g',
  tasks: [
    { id: 'list', tool: 'transform', inputs: { input: 0, expression: '[0..3]' } },
    {
      id: 'each',
      tool: 'picky',
      parallel_over: '{{list.output}}',
      retry: 1,
      inputs: { n: '{{item}}', note: 'item {{item}}' },
    },
    { id: 'after', tool: 'mock', await: ['each'] },
  ],
};

async function settled(server: RunsServer, pipeline: object): Promise<string> {
  const request = { pipeline, options: { retry_base_delay: 0 } };
  const { body } = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', request);
  await server.registry.settled(body.run_id);
  return body.run_id;
}

describe('wavetrain runs show --task (D59)', () => {
  const server = useRunsServer({ tools: [picky] });
  let runId: string;
  before(async () => {
    runId = await settled(server, ITEMS);
  });

  it('shows an item as messages name it: attempts, error with causes, stack, item and inputs', async () => {
    for (const flags of ['--task each[3]', '--task each --item 3']) {
      const { status, stdout, stderr } = await server.runs(`show ${runId} ${flags}`);
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(stdout)
        .to.match(new RegExp(`^run +${runId}\ntask +each\\[3\\]\nstatus +failed in [\\d.]+ m?s\n`))
        .and.to.match(/\nerror +Error: no 3.*\ncaused by +TypeError: it is odd\n/)
        .and.to.match(/\nAttempts:\n {2}1 {2}failed in [\d.]+ m?s: no 3.*\n {2}2 {2}failed in /)
        .and.to.match(/\nStack:\n {2}Error: no 3\n {6}at Object\.run \(.*show-task\.spec\.ts:\d+:\d+\)\n/)
        .and.to.match(/\nitem: 3\ninputs: \{"n": 3, "note": "item 3"\}\n$/);
    }
  });

  it('shows a fan-out with the number of its items by status, those that failed, and its outputs', async () => {
    const { stdout } = await server.runs(`show ${runId} --task each --full`);
    expect(stdout.replaceAll(/x{9,}/g, 'xx'))
      .to.match(/\ntool +picky\nstatus +failed in [\d.]+ m?s, 4 items: 2 succeeded, 2 failed\n/)
      .and.to.contain('\nFailed items:\n  each[1]: no 1')
      .and.to.match(/\noutput:\n {2}- "n": 0\n {4}text: "x+"\n {2}- null\n/);
  });

  it('shows a task that was not reached, and one that succeeded', async () => {
    expect((await server.runs(`show ${runId} --task after`)).stdout).to.match(/\nstatus +skipped\n/);
    const { stdout } = await server.runs(`show ${runId} --task list`);
    expect(stdout)
      .to.match(/\nstatus +succeeded in .*\n/)
      .and.to.contain('\noutput: [0, 1, 2, 3]\n');
  });

  it('shortens long values, which --full and --whole show whole', async () => {
    const env = { WAVETRAIN_SERVER: server.url, TERM: 'xterm', NO_COLOR: '1' };
    const short = await server.runs(`show ${runId} --task each[2]`, { stdout: new Screen(60), env });
    expect(short.stdout.length).to.be.below(2000);
    expect(short.stdout).to.contain('# shortened: --full');
    const whole = await server.runs(`show ${runId} --task each[2] --full`, { stdout: new Screen(60), env });
    expect(whole.stdout).to.contain('x'.repeat(100_000));
    expect((await server.runs(`show ${runId} --task each[2]`)).stdout.length).to.be.below(3000);
    const { stdout } = await server.runs(`show ${runId} --task each[2] --whole`);
    expect(stdout).to.contain('x'.repeat(100_000));
  });

  it('prints the whole record with --json (D41)', async () => {
    const { stdout } = await server.runs(`show ${runId} --task each[2] --json`);
    const { body } = await server.request('GET', `/pipelines/runs/${runId}/tasks/each/items/2?whole=true`);
    expect(JSON.parse(stdout)).to.deep.equal(body);
  });

  for (const [flags, message] of [
    ['--task nope', 'has no task "nope"'],
    ['--task each --item 9', 'has no item 9'],
    ['--task each[1] --item 2', '--task names item 1, but --item names item 2'],
    ['--task each --item x', '--item must be a whole number'],
    ['--task a/b/c', '--task "a/b/c" is not the name of a task'],
    ['--item 1', '--item needs --task'],
  ] as const) {
    it(`exits with 2 for ${flags}`, async () => {
      const { status, stdout, stderr } = await server.runs(`show ${runId} ${flags}`);
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      expect(stderr).to.contain(message);
    });
  }

  it('suggests the nearest task for a mistyped one, and none for an item that is not there', async () => {
    const near = await server.runs(`show ${runId} --task aftr`);
    expect(near).to.include({ status: 2, stdout: '' });
    expect(near.stderr).to.contain('has no task "aftr"').and.to.contain('did you mean --task after?');
    for (const task of ['nothing_near_it', 'each[9]']) {
      const { stderr } = await server.runs(`show ${runId} --task ${task}`);
      expect(stderr).to.contain('shows the run').and.not.to.contain('did you mean');
    }
  });

  it('names the sub-pipeline of a task of a plan, and says how when it is missing or mistyped', async () => {
    const part = { id: 'p', goal: 'g', tasks: [{ id: 'boom', tool: 'picky', inputs: { n: 1 } }] };
    const { body } = await server.request<{ run_id: string }>('POST', '/plans/run_async', {
      plan: { id: 'plan', sub_pipelines: [{ id: 'part', pipeline: part }] },
    });
    await server.registry.settled(body.run_id);
    const { stdout } = await server.runs(`show ${body.run_id} --task part/boom`);
    expect(stdout)
      .to.match(/\ntask +part\/boom\n/)
      .and.to.contain('inputs: {"n": 1, "note": ""}');
    const { status, stderr } = await server.runs(`show ${body.run_id} --task boom`);
    expect(status).to.equal(2);
    expect(stderr).to.contain('belongs to a plan').and.to.contain('--task SUB_PIPELINE/boom');
    const mistyped = await server.runs(`show ${body.run_id} --task prt/boom`);
    expect(mistyped.stderr).to.contain('did you mean --task part/boom?');
  });
});

describe('wavetrain runs show, of a run that failed', () => {
  const server = useRunsServer({ tools: [picky] });

  it('lists its tasks, and names the one that failed, with its inputs and the command that shows more', async () => {
    const runId = await settled(server, ITEMS);
    const { stdout } = await server.runs(`show ${runId}`);
    expect(stdout)
      .to.match(/\nerror +task "each", item 1: no 1/)
      .and.to.match(
        /\nTasks:\n {2}✓ list {3}succeeded in .*\n {2}✗ each {3}failed in .*: 2 succeeded, 2 failed\n/,
      )
      .and.to.contain('\n  - after  skipped\nFailures:\n  each[1] after 2 attempts: no 1')
      .and.to.contain('\n    inputs: {"n": 1, "note": "item 1"}\n    at Object.run (')
      .and.to.contain(`\n  hint: wavetrain runs show ${runId} --task 'each[1]'\n`);
  });

  it('keeps counts at 34 and 60 columns, where names give way and texts wrap at words', async () => {
    const id = 'download_all_monthly_reports_2024';
    const renamed = JSON.parse(JSON.stringify(ITEMS).replaceAll('each', id)) as typeof ITEMS;
    const runId = await settled(server, renamed);
    for (const columns of [34, 60]) {
      const env = { WAVETRAIN_SERVER: server.url, TERM: 'xterm', NO_COLOR: '1' };
      const { stdout } = await server.runs(`show ${runId}`, { stdout: new Screen(columns), env });
      const [, table = ''] = /\nTasks:\n([^]*)Failures:/.exec(stdout) ?? [];
      for (const line of table.split('\n')) expect(line.length, line).to.be.below(columns);
      const words = table.replaceAll(/\s+/g, ' ');
      expect(words, table).to.match(/✗ down\S*…\S*24 failed in \S+ m?s, 4 items: 2 succeeded, 2 failed /);
    }
  });
});
