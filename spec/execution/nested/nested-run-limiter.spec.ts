import { expect } from 'chai';
import { MAX_NESTED_PIPELINES } from '../../../lib/common/limits.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import { NestedRunBudget, NestedRunLimiter } from '../../../lib/execution/nested/nested-run-limiter.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { settle } from '../../support/deferred.js';
import { countTurns, endSlice, holdSlices } from '../../support/slices.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { type TestRun, startRun, type TestRunOptions } from '../../support/runs/start-run.js';

const MOCK = '{id: leaf, goal: g, tasks: [{id: t, tool: mock}]}';

/** Declares a task that runs a pipeline for every item of the input `n`. */
function fanOut(pipeline: string, inputs = 'session: {k: "{{item}}"}'): string {
  return `{id: c, tool: run_pipeline, retry: 3, parallel_over: "{{pipeline.inputs.n}}", inputs: {${inputs}, pipeline: ${pipeline}}}`;
}

/** Declares a pipeline that runs `pipeline` for each of ten items. */
function wrapInFanOut(pipeline: string): string {
  return `{id: x, goal: g, inputs: {n: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}, tasks: [${fanOut(pipeline)}]}`;
}

function items(count: number): { n: number[] } {
  return { n: Array.from({ length: count }, (_, index) => index) };
}

const withMemoryLimit = (bytes: number, options: TestRunOptions = {}): TestRunOptions => ({
  silent: true,
  ...options,
  executor: { runOutputLimitBytes: bytes },
});

async function waitUntilSettled(run: TestRun): Promise<TestRun> {
  await run.executor.getRun(run.runId).settled;
  return run;
}

describe('NestedRunLimiter (D49)', () => {
  // The share that a run cannot have any more depends on how much of it has begun.
  beforeEach(holdSlices);

  it('fails fan-outs in fan-outs that exceed the memory of the run, without a retry', async () => {
    const run = await waitUntilSettled(
      await startRun(
        fanOut(wrapInFanOut(wrapInFanOut(wrapInFanOut(MOCK)))),
        withMemoryLimit(2 ** 20, { inputs: items(10) }),
      ),
    );
    expect(run.record().error).to.match(
      /no memory for another nested pipeline: \d\d of them and .* the limit of 1 MiB; lower fan_out_concurrency$/,
    );
    expect(run.record().failures?.map(({ attempts }) => attempts)).to.deep.equal(Array(10).fill(1));
    expect(run.record().progress.invocations).to.equal(10);
  });

  it('releases the memory of nested runs when they end, however they end', async () => {
    let calls = 0;
    const failing = defineTool({
      name: 'failing',
      description: 'fails at first',
      inputs: {},
      run: () => {
        if (++calls === 1) throw new Error('boom');
      },
    });
    const options = { fan_out_concurrency: 1 };
    const failed = '{id: leaf, goal: g, tasks: [{id: t, tool: failing}]}';
    const run = await startRun(
      `${fanOut(MOCK)}, {id: d, tool: run_pipeline, await: [c], retry: 1, inputs: {pipeline: ${failed}}}`,
      withMemoryLimit(2 ** 17, { inputs: items(10), options, tools: [failing] }),
    );
    while (!run.executor.getRun(run.runId).isSettled) await run.advance(1000);
    expect(run.record().error).to.equal(null);
    const over = run.executor.getRun(run.runId);
    if (over.kind !== 'pipeline') throw new Error('it is the run of a plan');
    // Only the outputs are left; a nested run that was not released would take more.
    expect(over.budget.usedBytes - over.prepared.sizeBytes).to.be.within(1, 20 * 1024);
  });

  it('allows as many nested runs at once as the executor, and fails the item that exceeds them', async () => {
    const leaf = '{id: leaf, goal: g, tasks: [{id: t, tool: sleep, inputs: {seconds: 1}}]}';
    const { executor, runId } = await startRun(fanOut(leaf), {
      silent: true,
      inputs: items(501),
      executor: { maxNestedPipelines: 500 },
    });
    const run = executor.getRun(runId);
    while (run.failures.length === 0) await settle(1);
    expect(run.failures[0]).to.include({
      item: 500,
      error: 'this run already has 500 nested pipelines, the maximum; lower fan_out_concurrency',
    });
    executor.forget(runId);
  });

  it('allows 10,000 nested runs by default (D49)', () => {
    expect(MAX_NESTED_PIPELINES).to.equal(10_000);
    const limiter = new NestedRunLimiter(new MemoryBudget(1000), MAX_NESTED_PIPELINES);
    for (let count = 0; count < 10_000; count++) limiter.acquire();
    expect(() => limiter.acquire()).to.throw('already has 10,000 nested pipelines, the maximum');
  });

  it('refuses all other nested runs after the first refusal', () => {
    const budget = new MemoryBudget(1000);
    const limiter = new NestedRunLimiter(budget, 1);
    limiter.acquire();
    expect(() => limiter.acquire()).to.throw('already has 1 nested pipelines');
    limiter.release();
    expect(() => limiter.acquire()).to.throw('already has 1 nested pipelines');
    expect(() => limiter.reserve(budget, 1)).to.throw('already has 1 nested pipelines');
  });

  it('counts the memory of a pipeline once, however many nested runs use it', () => {
    const pipeline = parsePipeline(MOCK);
    const budget = new MemoryBudget(1.5 * pipeline.sizeBytes);
    const limiter = new NestedRunLimiter(budget, 2);
    limiter.retainPipeline(pipeline);
    limiter.retainPipeline(pipeline);
    limiter.releasePipeline(pipeline);
    expect(budget.usedBytes).to.equal(pipeline.sizeBytes);
    expect(() => limiter.retainPipeline(parsePipeline(MOCK))).to.throw('no memory');
    limiter.releasePipeline(pipeline);
    expect(budget.usedBytes).to.equal(0);
  });

  it('releases everything when the budgets are closed', () => {
    const outer = new MemoryBudget(2 ** 20);
    const pipeline = parsePipeline(MOCK);
    const limiter = new NestedRunLimiter(outer, 2);
    const budget = new NestedRunBudget(outer, limiter);
    const inner = new NestedRunBudget(budget, limiter);
    inner.reserveFor(pipeline, 1000);
    inner.reserve(1000);
    expect(limiter.active).to.equal(2);
    expect(outer.usedBytes).to.be.above(2000 + pipeline.sizeBytes);
    inner.close();
    budget.close();
    expect(limiter.active).to.equal(0);
    expect(outer.usedBytes).to.equal(0);
  });

  describe('counts the inputs of a nested run', () => {
    const big = Array.from({ length: 10_000 }, (_, index) => `text ${index}`);
    for (const [name, callFields] of [
      ['params', 'params: {p: "{{pipeline.inputs.text}} {{item}}"}'],
      ['inputs', 'inputs: {p: "{{pipeline.inputs.text}} {{item}}"}'],
      ['session', 'session: {p: "{{pipeline.inputs.text}} {{item}}"}'],
    ] as const) {
      it(`as ${name}`, async () => {
        const leaf = '{id: leaf, goal: g, params: {p: {default: null}}, tasks: [{id: t, tool: controlled}]}';
        const inputs = { ...items(10), text: 'x'.repeat(200_000) };
        const options = withMemoryLimit(3 * 2 ** 20, { inputs, tools: [new ControlledTool().tool] });
        const run = await startRun(fanOut(leaf, callFields), options);
        expect(run.executor.getRun(run.runId).failures[0]?.error).to.contain('no memory');
      });
    }

    it('but not lists and objects that the calling run holds already', async () => {
      const inputs = { ...items(20), big };
      const callFields =
        'session: {k: "{{item}}", b: "{{pipeline.inputs.big}}"}, inputs: {b: "{{pipeline.inputs.big}}"}';
      const leaf = '{id: leaf, goal: g, tasks: [{id: t, tool: controlled}]}';
      const options = withMemoryLimit(2 ** 20, { inputs, tools: [new ControlledTool().tool] });
      const run = await startRun(fanOut(leaf, callFields), options);
      expect(run.executor.getRun(run.runId).failures).to.deep.equal([]);
    });
  });

  it('begins nested runs in event-loop slices', async () => {
    const turns = countTurns();
    const begunIn = new Set<number>();
    const holding = defineTool({
      name: 'holding',
      description: 'holds the event loop for as long as runs may',
      inputs: {},
      run: () => {
        begunIn.add(turns.count);
        endSlice();
      },
    });
    const run = await startRun(fanOut('{id: leaf, goal: g, tasks: [{id: t, tool: holding}]}'), {
      inputs: items(5),
      tools: [holding],
    });
    await waitUntilSettled(run);
    turns.stop();
    expect(begunIn.size).to.equal(5);
  });
});
