import { deepStrictEqual, rejects, strictEqual } from 'node:assert';
import type { Executor } from '../execution/executor.js';
import { parsePipeline } from '../pipelines/load.js';
import { defineTool } from '../tools/tool.js';
import type { ConformanceCase } from './conformance.js';

export interface ExecutorSuiteOptions {
  /** Creates an executor without runs for each case. */
  readonly create: () => Executor | Promise<Executor>;
}

/** The requirements on every implementation of Executor (What the service does; rules 1 to 4, 7, 12; D16, D20, D21, D67). */
export function executorSuite({ create }: ExecutorSuiteOptions): readonly ConformanceCase[] {
  const cases: [string, (executor: Executor) => Promise<void>][] = [
    ['runs a pipeline and returns its outputs and counts', testOutputs],
    ['returns events when it collects them, and null otherwise', testEvents],
    ['rejects with the task that failed first, and all failures (D16)', testFailures],
    ['goes on without the items whose errors a task collects (D67)', testCollectedErrors],
    ['rejects invalid params and options before the run', testInvalidInputs],
    ['cancels between waves: finishes the current wave, starts no other (rule 12)', testCancel],
    ['rejects the cancel of a settled run', testLateCancel],
    ['rejects unknown run ids', testUnknownRun],
  ];
  return cases.map(([title, check]) => ({ title, run: async () => check(await create()) }));
}

const TWO_WAVES = `
id: two_waves
goal: count
params: {by: {type: integer, default: 2}}
tasks:
  - {id: list, tool: transform, inputs: {input: null, expression: "[1, 2, 3]"}}
  - {id: each, tool: mock, parallel_over: "{{list.output}}", inputs: {value: "{{item}}", by: "{{params.by}}"}}
`;

async function testOutputs(executor: Executor): Promise<void> {
  const runId = await executor.submit({ pipeline: parsePipeline(TWO_WAVES) });
  const { outputs, waves_executed, tasks_executed, events } = await executor.getResult(runId);
  deepStrictEqual(outputs['list'], [1, 2, 3]);
  const inputs = (outputs['each'] as { inputs: unknown }[]).map((each) => each.inputs);
  deepStrictEqual(
    inputs,
    [1, 2, 3].map((value) => ({ value, by: 2 })),
  );
  deepStrictEqual(
    { waves_executed, tasks_executed, events },
    { waves_executed: 2, tasks_executed: 4, events: null },
  );
}

async function testEvents(executor: Executor): Promise<void> {
  const runId = await executor.submit({ pipeline: parsePipeline(TWO_WAVES), collect_events: true });
  const { events } = await executor.getResult(runId);
  deepStrictEqual(
    events?.map(({ kind, task_id }) => `${kind} ${task_id}`),
    ['start list', 'finish list', 'start each', 'finish each'],
  );
}

async function testFailures(executor: Executor): Promise<void> {
  const pipeline = parsePipeline(`
id: fails
goal: fail
tasks:
  - {id: bad, tool: fail, inputs: {message: no luck}}
  - {id: good, tool: mock}
  - {id: never, tool: mock, await: [bad]}
`);
  const runId = await executor.submit({ pipeline });
  await rejects(executor.getResult(runId), {
    code: 'task_failed',
    task_id: 'bad',
    error: 'no luck',
    failures: [{ task_id: 'bad', error: 'no luck', attempts: 1 }],
  });
}

async function testCollectedErrors(executor: Executor): Promise<void> {
  const pipeline = parsePipeline(`
id: collects
goal: go on
tasks:
  - {id: list, tool: transform, inputs: {input: null, expression: "[1, 0]"}}
  - id: each
    tool: fail
    parallel_over: "{{list.output}}"
    on_item_error: collect
    inputs: {message: no luck, times: "{{item}}"}
`);
  const runId = await executor.submit({ pipeline });
  const { outputs } = await executor.getResult(runId);
  deepStrictEqual(outputs['each'], [{ error: 'no luck' }, { attempts: 1 }]);
}

async function testInvalidInputs(executor: Executor): Promise<void> {
  const pipeline = parsePipeline(TWO_WAVES);
  await rejects(executor.submit({ pipeline, params: { by: 'many' } }), { code: 'invalid_params' });
  await rejects(executor.submit({ pipeline, options: { backoff_jitter: 2 } }), { code: 'invalid_options' });
}

async function testCancel(executor: Executor): Promise<void> {
  let release: (value: string) => void = () => {};
  const started: string[] = [];
  const hold = defineTool({
    name: 'hold',
    description: 'blocks until it is released',
    inputs: {},
    run: (_, { task_id }) => {
      started.push(task_id);
      return new Promise<string>((resolve) => {
        release = resolve;
      });
    },
  });
  const text =
    'id: held\ngoal: hold\ntasks: [{id: first, tool: hold}, {id: second, tool: hold, await: [first]}]';
  const runId = await executor.submit({ pipeline: parsePipeline(text, { tools: [hold] }) });
  await executor.cancel(runId);
  await rejects(executor.cancel(runId), { code: 'run_already_terminal' });
  release('done');
  await rejects(executor.getResult(runId), { code: 'run_cancelled' });
  deepStrictEqual(started, ['first']);
}

async function testLateCancel(executor: Executor): Promise<void> {
  const runId = await executor.submit({ pipeline: parsePipeline(TWO_WAVES) });
  await executor.getResult(runId);
  await rejects(executor.cancel(runId), { code: 'run_already_terminal' });
  await rejects(executor.cancel(runId, { force: true }), { code: 'run_already_terminal' });
  strictEqual((await executor.getResult(runId)).waves_executed, 2);
}

async function testUnknownRun(executor: Executor): Promise<void> {
  await rejects(executor.getResult('nobody'), { code: 'run_not_found' });
  await rejects(executor.cancel('nobody'), { code: 'run_not_found' });
}
