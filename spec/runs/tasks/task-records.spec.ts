import { expect } from 'chai';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { ToolError } from '../../../lib/common/errors.js';
import type { ItemPage, ItemRecord } from '../../../lib/runs/tasks/task-record.js';
import { subPipelineText } from '../../support/definitions/parse-plan.js';
import { catchRejection } from '../../support/rejection.js';
import { ControlledPlans } from '../controlled-plans.js';
import { ControlledRuns } from '../controlled-runs.js';

/** Seconds after the start of a manual clock. */
const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();

const pipeline = (tasks: string, head = ''): string => `{id: p, goal: g, ${head} tasks: [${tasks}]}`;

const A_THEN_B =
  '{id: a, tool: controlled, inputs: {n: 1}}, {id: b, tool: controlled, inputs: {of: "{{a.output.rows}}"}}';

const FAN_OUT = pipeline(
  '{id: each, tool: controlled, parallel_over: "{{pipeline.inputs.cities}}", inputs: {city: "{{item.name}}", of: "{{pipeline.inputs.cities.length}}"}}',
  'inputs: {cities: [{name: Rome}, {name: Oslo}, {name: Bern}]},',
);

describe('The tasks of a run, as the registry shows them', () => {
  it('shows the output of a handler', async () => {
    const runs = new ControlledRuns(
      {},
      pipeline('{id: a, tool: mock}', 'finally: [{id: c, tool: controlled}],'),
    );
    const runId = await runs.submit();
    await runs.controlled.returns('clean');
    expect(await runs.registry.task(runId, 'c')).to.include({ handler: 'finally', output: 'clean' });
  });

  it('shows inputs, output, attempts and times of each task in the order of the waves', async () => {
    const runs = new ControlledRuns({ eventBuffer: 9 }, pipeline(A_THEN_B));
    const runId = await runs.submit();
    runs.clock.advance(1000);
    await runs.controlled.returns({ rows: [1, 2] });
    const { tasks, next_cursor } = await runs.registry.tasks(runId);
    expect(next_cursor).to.equal(null);
    expect(tasks).to.have.length(2);
    expect(tasks[0]).to.deep.equal({
      run_id: runId,
      task_id: 'a',
      tool: 'controlled',
      wave: 0,
      status: 'succeeded',
      reused: false,
      cached: false,
      started_at: at(0),
      finished_at: at(1),
      attempts: [{ attempt: 1, started_at: at(0), finished_at: at(1), error: null }],
      items: null,
      cached_items: null,
      inputs: { n: 1 },
      inputs_error: null,
      output: { rows: [1, 2] },
      error: null,
      cut: [],
    });
    expect(tasks[1]).to.deep.include({
      task_id: 'b',
      wave: 1,
      status: 'running',
      finished_at: null,
      attempts: [{ attempt: 1, started_at: at(1), finished_at: null, error: null }],
      inputs: { of: [1, 2] },
      output: null,
    });
  });

  it('shows the failed attempts of a task, its inputs with defaults, and the causes of its error', async () => {
    const runs = new ControlledRuns(
      { eventBuffer: 9 },
      pipeline('{id: a, tool: controlled, retry: 1, inputs: {n: 1}}, {id: b, tool: mock, await: [a]}'),
    );
    const runId = await runs.submit();
    runs.clock.advance(1000);
    await runs.controlled.rejects(new Error('first'));
    runs.clock.advance(500);
    await runs.waitUntilIdle();
    runs.clock.advance(500);
    const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:9'), { code: 'ECONNREFUSED' });
    await runs.controlled.rejects(new TypeError('fetch failed', { cause: refused }));
    const task = await runs.registry.task(runId, 'a');
    expect(task.attempts).to.deep.equal([
      { attempt: 1, started_at: at(0), finished_at: at(1), error: 'first' },
      {
        attempt: 2,
        started_at: new Date(Date.UTC(2026, 0, 1, 0, 0, 1, 500)).toISOString(),
        finished_at: at(2),
        error: 'fetch failed: connect ECONNREFUSED 127.0.0.1:9',
      },
    ]);
    expect(task).to.deep.include({ status: 'failed', inputs: { n: 1 }, output: null });
    const { stack, ...error } = task.error ?? {};
    expect(error).to.deep.equal({
      type: 'TypeError',
      message: 'fetch failed: connect ECONNREFUSED 127.0.0.1:9',
      causes: [{ type: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:9', code: 'ECONNREFUSED' }],
    });
    expect(stack).to.match(/^TypeError: fetch failed\n {4}at .*task-records\.spec\.ts/);
    expect(stack).to.contain('caused by Error: connect ECONNREFUSED');
    expect(await runs.registry.task(runId, 'b')).to.deep.include({
      status: 'skipped',
      started_at: null,
      attempts: [],
      inputs: {},
    });
  });

  it('names the failed task and its inputs: failedCalls, failure and the record', async () => {
    const runs = new ControlledRuns({}, FAN_OUT);
    const runId = await runs.submit();
    expect([
      await runs.registry.queries.failedCalls(runId, { most: 1 }),
      runs.registry.queries.failure(runId),
    ]).to.deep.equal([[], undefined]);
    const [rome, oslo, bern] = runs.controlled.calls;
    await runs.controlled.returns('one', rome);
    await runs.controlled.rejects(ToolError.nonRetryable('no such city'), oslo);
    await runs.controlled.returns('three', bern);
    expect(runs.registry.record(runId).failed_task).to.deep.equal({ task_id: 'each', item: 1 });
    expect(runs.registry.queries.failure(runId)).to.include({ type: 'ToolError', message: 'no such city' });
    const [call, ...others] = await runs.registry.queries.failedCalls(runId, { most: 1 });
    expect(others).to.deep.equal([]);
    expect(call).to.deep.include({ item: 1, inputs: { city: 'Oslo', of: 3 } });
  });

  it('lists what has failed once, first the item that failed the run, and no more than what is asked for', async () => {
    const runs = new ControlledRuns({}, FAN_OUT);
    const runId = await runs.submit();
    const [rome, oslo, bern] = runs.controlled.calls;
    await runs.controlled.rejects(ToolError.nonRetryable('no such city'), oslo);
    await runs.controlled.rejects(ToolError.nonRetryable('no such town'), rome);
    await runs.controlled.returns('three', bern);
    const list = async (most: number) =>
      (await runs.registry.queries.failedCalls(runId, { most })).map((call) =>
        'item' in call ? call.item : 'task',
      );
    expect(await list(20)).to.deep.equal([1, 'task', 0]);
    expect(await list(2)).to.deep.equal([1, 'task']);
  });

  it('keeps the outputs of the items that succeeded in a fan-out that failed', async () => {
    const runs = new ControlledRuns({}, FAN_OUT);
    const runId = await runs.submit();
    const [rome, oslo, bern] = runs.controlled.calls;
    await runs.controlled.returns('one', rome);
    const running = await runs.registry.task(runId, 'each');
    expect(running.items).to.deep.equal({
      total: 3,
      pending: 0,
      running: 2,
      succeeded: 1,
      failed: 0,
      skipped: 0,
    });
    await runs.controlled.rejects(new Error('no such city'), oslo);
    await runs.controlled.returns('three', bern);
    const task = await runs.registry.task(runId, 'each');
    expect(task).to.deep.include({
      status: 'failed',
      inputs: null,
      inputs_error: null,
      attempts: [],
      items: { total: 3, pending: 0, running: 0, succeeded: 2, failed: 1, skipped: 0 },
      output: ['one', null, 'three'],
    });
    expect(task.error).to.include({ message: 'no such city' });
    const { items } = await runs.registry.items(runId, 'each');
    const brief = ({ item, value, status, inputs, output, error }: ItemRecord): unknown[] => [
      item,
      value,
      status,
      inputs,
      output,
      error?.message,
    ];
    expect(items.map(brief)).to.deep.equal([
      [0, { name: 'Rome' }, 'succeeded', { city: 'Rome', of: 3 }, 'one', undefined],
      [1, { name: 'Oslo' }, 'failed', { city: 'Oslo', of: 3 }, null, 'no such city'],
      [2, { name: 'Bern' }, 'succeeded', { city: 'Bern', of: 3 }, 'three', undefined],
    ]);
    expect(await runs.registry.item(runId, 'each', 1)).to.deep.equal(items[1]);
  });

  it('shows items that never started as skipped, with their inputs', async () => {
    const runs = new ControlledRuns({}, FAN_OUT);
    const runId = await runs.registry.submit({
      pipeline: runs.pipeline,
      options: { fan_out_concurrency: 1 },
    });
    await runs.waitUntilIdle();
    await runs.controlled.rejects(new Error('no'));
    expect(await runs.registry.item(runId, 'each', 2)).to.deep.include({
      status: 'skipped',
      started_at: null,
      attempts: [],
      inputs: { city: 'Bern', of: 3 },
      output: null,
      error: null,
    });
  });

  it('shows inputs that are not valid as they were rendered', async () => {
    const runs = new ControlledRuns(
      {},
      pipeline('{id: a, tool: controlled}, {id: b, tool: sleep, inputs: {seconds: "{{a.output}}"}}'),
    );
    const runId = await runs.submit();
    await runs.controlled.returns('soon');
    const task = await runs.registry.task(runId, 'b');
    expect(task).to.deep.include({ status: 'failed', inputs: { seconds: 'soon' }, attempts: [] });
    expect(task.error?.message).to.contain('seconds');
  });

  it('says why inputs cannot be rendered', async () => {
    const runs = new ControlledRuns({}, pipeline(A_THEN_B));
    const runId = await runs.submit();
    expect(await runs.registry.task(runId, 'b')).to.deep.include({ status: 'pending', inputs: null });
    await runs.controlled.returns({ colums: 1 });
    const { inputs, inputs_error, error } = await runs.registry.task(runId, 'b');
    expect(inputs).to.equal(null);
    expect(inputs_error).to.match(/a\.output\.rows.*colums/);
    expect(error?.message).to.equal(inputs_error);
  });

  it('renders session values as they were in the wave of the task', async () => {
    const store = (id: string, awaits: string): string =>
      `{id: ${id}, tool: store, await: [${awaits}], inputs: {key: list, value: ${id}, append: true}}`;
    const read = (id: string, awaits: string): string =>
      `{id: ${id}, tool: mock, await: [${awaits}], inputs: {list: "{{session.list}}", given: "{{session.given}}"}}`;
    const runs = new ControlledRuns(
      {},
      pipeline(
        [read('r0', ''), store('s1', 'r0'), read('r1', 's1'), store('s2', 'r1'), read('r2', 's2')].join(', '),
      ),
    );
    const runId = await runs.registry.submit({
      pipeline: runs.pipeline,
      session: { list: ['s0'], given: 7 },
    });
    await runs.registry.settled(runId);
    const { tasks } = await runs.registry.tasks(runId);
    for (const { task_id, inputs, output } of tasks) {
      if (!task_id.startsWith('r')) continue;
      expect(inputs).to.deep.equal((output as { inputs: unknown }).inputs);
    }
    expect(tasks.at(-1)?.inputs).to.deep.equal({ list: ['s0', 's1', 's2'], given: 7 });
  });

  it('does not guess values of a blackboard that others write to', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('default', 'k', 1);
    const runs = new ControlledRuns(
      { blackboard },
      pipeline('{id: a, tool: mock, inputs: {k: "{{session.k}}"}}'),
    );
    const runId = await runs.submit();
    await runs.registry.settled(runId);
    const { inputs, inputs_error } = await runs.registry.task(runId, 'a');
    expect([inputs, inputs_error]).to.deep.equal([
      null,
      'it read the session, whose blackboard others may have written to since',
    ]);
  });

  it('shows the tasks of a plan, whose sub-pipelines read what others have stored', async () => {
    const plans = new ControlledPlans([
      subPipelineText('late', '{id: t, tool: mock, inputs: {k: "{{session.k}}"}}', 'reads: [k]'),
      subPipelineText('early', '{id: t, tool: store, inputs: {key: k, value: 5}}', 'stores: [k]'),
    ]);
    const runId = await plans.submitPlan();
    await plans.registry.settled(runId);
    const { tasks } = await plans.registry.tasks(runId);
    expect(tasks.map(({ sub_pipeline, task_id, inputs }) => [sub_pipeline, task_id, inputs])).to.deep.equal([
      ['late', 't', { k: 5 }],
      ['early', 't', { key: 'k', value: 5, append: false }],
    ]);
    expect(await plans.registry.task(runId, 't', { sub_pipeline: 'late' })).to.deep.equal(tasks[0]);
    expect((await plans.registry.tasks(runId, { sub_pipeline: 'early' })).tasks).to.deep.equal([tasks[1]]);
    expect(await catchRejection(plans.registry.task(runId, 't'))).to.include({ code: 'invalid_request' });
    expect(await catchRejection(plans.registry.tasks(runId, { sub_pipeline: 'x' }))).to.include({
      code: 'task_not_found',
    });
  });

  it('marks a task whose output was reused', async () => {
    const runs = new ControlledRuns({}, pipeline(A_THEN_B));
    const first = await runs.submit();
    await runs.controlled.returns({ rows: 3 });
    await runs.controlled.rejects(new Error('no'));
    const runId = await runs.registry.rerun(first, { from: 'failed' });
    await runs.waitUntilIdle();
    const { tasks } = await runs.registry.tasks(runId);
    expect(tasks[0]).to.deep.include({
      reused: true,
      status: 'succeeded',
      output: { rows: 3 },
      attempts: [],
    });
    expect(tasks[1]).to.deep.include({ reused: false, status: 'running', inputs: { of: 3 } });
  });

  it('marks items whose outputs were reused, of a fan-out that runs again and of one that does not', async () => {
    const late = '{id: late, tool: controlled, await: [each]}]}';
    const runs = new ControlledRuns({}, FAN_OUT.replace(/\]\}$/, `, ${late}`));
    const first = await runs.submit();
    const [rome, oslo, bern] = runs.controlled.calls;
    await runs.controlled.returns('one', rome);
    await runs.controlled.returns('three', bern);
    await runs.controlled.rejects(new Error('no'), oslo);
    const second = await runs.registry.rerun(first, { from: 'failed' });
    await runs.waitUntilIdle();
    const reused = ({ items }: ItemPage): unknown[] =>
      items.map((item) => [item.status, item.reused, item.output]);
    expect(reused(await runs.registry.items(second, 'each'))).to.deep.equal([
      ['succeeded', true, 'one'],
      ['running', false, null],
      ['succeeded', true, 'three'],
    ]);
    await runs.controlled.returns('two');
    await runs.controlled.rejects(new Error('too late'));
    const third = await runs.registry.rerun(second, { from: 'late' });
    await runs.waitUntilIdle();
    expect(reused(await runs.registry.items(third, 'each'))).to.deep.equal([
      ['succeeded', true, 'one'],
      ['succeeded', true, 'two'],
      ['succeeded', true, 'three'],
    ]);
    expect((await runs.registry.task(third, 'each')).items).to.include({ total: 3, succeeded: 3 });
  });
});

describe('Pages of tasks and items', () => {
  const MANY = pipeline(
    '{id: each, tool: controlled, parallel_over: "{{pipeline.inputs.ns}}", inputs: {n: "{{item}}"}}',
    `inputs: {ns: [${Array.from({ length: 120 }, (_, n) => n).join(',')}]},`,
  );

  it('continue where the previous one ended, and filter by status', async () => {
    const runs = new ControlledRuns({}, MANY);
    const runId = await runs.submit();
    for (const call of await runs.controlled.started(120)) {
      if (Number(call.inputs['n']) % 40 === 7) call.reject(new Error('no'));
      else call.resolve(call.inputs['n']);
    }
    await runs.registry.settled(runId);
    const seen: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await runs.registry.items(runId, 'each', { cursor });
      seen.push(...page.items.map(({ item }) => item));
      expect(page.items.length).to.be.at.most(50);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(seen).to.deep.equal(Array.from({ length: 120 }, (_, n) => n));
    const failed = await runs.registry.items(runId, 'each', { status: 'failed' });
    expect(failed.items.map(({ item }) => item)).to.deep.equal([7, 47, 87]);
    expect(failed.next_cursor).to.equal(null);
  });

  it('end early rather than being much larger than 1 MiB, and have at least one record', async () => {
    const runs = new ControlledRuns({}, MANY);
    const runId = await runs.submit();
    for (const call of await runs.controlled.started(120)) call.resolve('x'.repeat(400_000));
    await runs.registry.settled(runId);
    const page = await runs.registry.items(runId, 'each', { whole: true });
    expect(page.items).to.have.length(2);
    expect(page.items[0]?.output).to.have.length(400_000);
    const cut = await runs.registry.items(runId, 'each');
    expect(cut.items).to.have.length(50);
    expect(cut.items[0]).to.deep.include({ cut: ['/output'] });
  });

  it('refuse a malformed cursor, an unknown task and an unknown item in words', async () => {
    const runs = new ControlledRuns({}, MANY);
    const runId = await runs.submit();
    const { registry } = runs;
    const reasons = await Promise.all([
      catchRejection(registry.tasks(runId, { cursor: 'x' })),
      catchRejection(registry.task(runId, 'nope')),
      catchRejection(registry.item(runId, 'each', 120)),
      catchRejection(registry.task(runId, 'each', { sub_pipeline: 's' })),
    ]);
    expect(reasons.map((reason) => (reason as Error).message)).to.deep.equal([
      'cursor must be the next_cursor of an earlier page',
      `run ${runId} has no task "nope"`,
      'task "each" has no item 120: it has 120, counted from 0',
      `run ${runId} has no sub-pipelines: it belongs to a pipeline`,
    ]);
  });
});
