import { expect } from 'chai';
import type { Json } from '../../../lib/common/json/json.js';
import { eventLoopScheduler } from '../../../lib/common/scheduling/event-loop-scheduler.js';
import { LocalExecutor } from '../../../lib/execution/local-executor.js';
import type { PipelineRun } from '../../../lib/execution/run/pipeline-run.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { countYields, settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';

const EACH_ITEM = 'parallel_over: "{{pipeline.inputs.list}}",';
const READ_ITEM = ', session: {i: "{{item}}"}';

/** Runs as much in one slice of the event loop as it is allowed to. */
const PLENTY = Number.POSITIVE_INFINITY;

describe('Cancelling a run with many nested runs at work (D25, D49)', () => {
  const controlled = new ControlledTool();
  const clock = new ManualClock();
  /** How often the slice is found not to be used up yet. */
  let slice = PLENTY;

  beforeEach(() => {
    controlled.calls.length = 0;
    slice = PLENTY;
    // Shadows the method of the class: how long this machine takes must not matter.
    Object.defineProperty(eventLoopScheduler, 'isOver', { get: () => slice-- <= 0, configurable: true });
  });

  afterEach(() => {
    Reflect.deleteProperty(eventLoopScheduler, 'isOver');
  });

  /** Starts a task that runs `nested` for each of `length` items, or once. */
  async function start(nested: string, length?: number, fields = ''): Promise<PipelineRun> {
    const list = Array.from({ length: length ?? 0 }, (_, item) => item);
    const pipeline = parsePipeline(
      `{id: outer, goal: g, inputs: {list: [${list.join()}]}, tasks: [{id: call, tool: run_pipeline, ${fields}
        ${length === undefined ? '' : EACH_ITEM}
        inputs: {pipeline: {id: inner, goal: g, ${nested}}${length === undefined ? '' : READ_ITEM}}}]}`,
      { tools: [controlled.tool] },
    );
    const run = new LocalExecutor({ clock, random: () => 0.5 }).createRun({ pipeline });
    void run.begin();
    await settle(8);
    return run;
  }

  const countStopped = (): number => controlled.calls.filter(({ context }) => context.signal.aborted).length;

  it('settles a run that is forced only when all that runs inside its task was stopped, in turns', async () => {
    const run = await start('tasks: [{id: t, tool: controlled}]', 20);
    expect(controlled.calls).to.have.length(20);
    slice = 3;
    run.cancel(true);
    expect(run.status).to.equal('cancelled');
    expect(countStopped()).to.be.within(1, 4);
    expect(run.isSettled).to.equal(false);
    slice = PLENTY;
    await settle();
    expect(countStopped()).to.equal(20);
    expect(run.isSettled).to.equal(true);
  });

  it('settles a forced run after the items of a pipeline in its task, which are stopped in turns', async () => {
    const items = `[${'0, '.repeat(200)} 0]`;
    const run = await start(
      `inputs: {list: ${items}}, tasks: [{id: t, tool: controlled, ${EACH_ITEM} inputs: {i: "{{item}}"}}]`,
    );
    expect(controlled.calls).to.have.length(201);
    run.cancel(true);
    expect([countStopped(), run.isSettled]).to.deep.equal([64, false]);
    await settle(8);
    expect([countStopped(), run.isSettled]).to.deep.equal([201, true]);
  });

  it('starts the next attempt of a task only when what ran inside the one before was stopped', async () => {
    const items = `[${'0, '.repeat(200)} 0]`;
    const run = await start(
      `inputs: {list: ${items}}, tasks: [{id: t, tool: controlled, ${EACH_ITEM} inputs: {i: "{{item}}"}}]`,
      undefined,
      'timeout: 1, retry: 1,',
    );
    clock.advance(1000);
    expect([countStopped(), controlled.calls.length]).to.deep.equal([64, 201]);
    clock.advance(1000);
    expect(controlled.calls).to.have.length(201);
    await settle(8);
    expect(countStopped()).to.equal(201);
    clock.advance(1000);
    await settle(8);
    expect([countStopped(), controlled.calls.length]).to.deep.equal([201, 402]);
    run.cancel(true);
    await settle(8);
    expect([countStopped(), run.isSettled]).to.deep.equal([402, true]);
  });

  it('lets the waves of nested runs finish, and no other begin, when it is cancelled', async () => {
    const run = await start('tasks: [{id: t, tool: controlled}, {id: u, tool: controlled, await: [t]}]', 20);
    slice = 3;
    run.cancel(false);
    expect(run.status).to.equal('cancelled');
    slice = PLENTY;
    await settle();
    for (const call of controlled.calls) call.resolve('done');
    await settle(8);
    expect(controlled.calls).to.have.length(20);
    expect(run.isSettled).to.equal(true);
  });
});

describe('The values of a nested run (D49)', () => {
  /** Counts the steps of work that a run does beside its tasks. */
  async function countSteps(nested: string, call: string, value: Json): Promise<number> {
    const pipeline = parsePipeline(
      `{id: outer, goal: g, inputs: {value: null}, tasks: [{id: call, tool: run_pipeline, inputs: {pipeline: ${nested}, ${call}}}]}`,
    );
    const executor = new LocalExecutor();
    const { stepRunner } = executor;
    const runSteps = stepRunner.run.bind(stepRunner);
    let count = 0;
    stepRunner.run = (steps, ...rest) =>
      runSteps(
        countYields(steps, () => count++),
        ...rest,
      );
    const run = executor.createRun({ pipeline, inputs: { value } });
    void run.begin();
    await run.settled;
    expect(run.failures).to.deep.equal([]);
    return count;
  }

  it('are checked in steps, a list once that is the value of many params', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `p${index}`);
    const declared = names.map((name) => `${name}: {type: list}`);
    const given = names.map((name) => `${name}: "{{pipeline.inputs.value}}"`);
    const count = await countSteps(
      `{id: inner, goal: g, params: {${declared.join()}}, tasks: [{id: t, tool: mock}]}`,
      `params: {${given.join()}}`,
      Array.from({ length: 50_000 }, () => 1),
    );
    expect(count).to.be.within(100, 300);
  });

  it('are measured and merged in steps', async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, index]));
    const leaf = '{id: inner, goal: g, tasks: [{id: t, tool: mock}]}';
    for (const name of ['inputs', 'session']) {
      const count = await countSteps(leaf, `${name}: "{{pipeline.inputs.value}}"`, many);
      expect(count, name).to.be.within(50, 150);
    }
  });
});
