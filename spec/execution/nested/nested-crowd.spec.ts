import { expect } from 'chai';
import { processPace } from '../../../lib/execution/event-loop-budget.js';
import { OutputBudget } from '../../../lib/execution/memory-budget.js';
import { CalledPipelines } from '../../../lib/execution/nested/called-pipelines.js';
import { NestedBudget, NestedCrowd } from '../../../lib/execution/nested/nested-budget.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { fileAccess } from '../../../lib/tools/files/files.js';
import { defineTool } from '../../../lib/tools/tool.js';
import { settle } from '../../support/deferred.js';
import { Puppet } from '../../support/puppet.js';
import { type Running, running, type RunningOptions } from '../../support/runs/running.js';

const MOCK = '{id: leaf, goal: g, tasks: [{id: t, tool: mock}]}';

/** A task that runs a pipeline for every item of the input `n`. */
function fanOut(pipeline: string, inputs = 'session: {k: "{{item}}"}'): string {
  return `{id: c, tool: run_pipeline, retry: 3, parallel_over: "{{pipeline.inputs.n}}", inputs: {${inputs}, pipeline: ${pipeline}}}`;
}

/** Runs it in the tasks of a pipeline that does the same. */
function around(pipeline: string): string {
  return `{id: x, goal: g, inputs: {n: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}, tasks: [${fanOut(pipeline)}]}`;
}

function items(count: number): { n: number[] } {
  return { n: Array.from({ length: count }, (_, index) => index) };
}

const withRoom = (bytes: number, options: RunningOptions = {}): RunningOptions => ({
  silent: true,
  ...options,
  executor: { runOutputLimitBytes: bytes },
});

async function settled(run: Running): Promise<Running> {
  await run.executor.run(run.runId).settled;
  return run;
}

describe('the runs inside the tasks of one submitted run (D49)', () => {
  it('take from what it may, and fail in words where fan-outs in fan-outs leave no room, whatever `retry` says', async () => {
    const run = await settled(
      await running(fanOut(around(around(around(MOCK)))), withRoom(2 ** 20, { inputs: items(10) })),
    );
    expect(run.record().error).to.match(
      /no room for one more pipeline inside a task: there are \d\d, and .* the limit of 1 MiB: the option fan_out_concurrency makes them fewer$/,
    );
    expect(run.record().failures?.map(({ attempts }) => attempts)).to.deep.equal(Array(10).fill(1));
    expect(run.record().progress.invocations).to.equal(10);
  });

  it('give back what they took when they are over, however they end', async () => {
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
    const run = await running(
      `${fanOut(MOCK)}, {id: d, tool: run_pipeline, await: [c], retry: 1, inputs: {pipeline: ${failed}}}`,
      withRoom(2 ** 17, { inputs: items(10), options, tools: [failing] }),
    );
    while (!run.executor.run(run.runId).isSettled) await run.advance(1000);
    expect(run.record().error).to.equal(null);
    const over = run.executor.run(run.runId);
    if (over.kind !== 'pipeline') throw new Error('it is the run of a plan');
    // Only what the tasks gave is left; one run that is forgotten would take more.
    expect(over.weight - over.prepared.weight).to.be.within(1, 20 * 1024);
  });

  it('are no more than 10,000 at once', async () => {
    const leaf = '{id: leaf, goal: g, tasks: [{id: t, tool: sleep, inputs: {seconds: 1}}]}';
    const { executor, runId } = await running(fanOut(leaf), { silent: true, inputs: items(10_001) });
    const run = executor.run(runId);
    while (run.failures.length === 0) await settle(1);
    expect(run.failures[0]).to.include({
      item: 10_000,
      error:
        '10,000 pipelines are at work inside the tasks of this run, and it may have no more: the option fan_out_concurrency makes them fewer',
    });
    executor.forget(runId);
    const budget = new OutputBudget(1000);
    expect(NestedCrowd.of(budget)).to.equal(NestedCrowd.of(budget));
  });

  it('begin no more once one was turned away, for the run fails of it', () => {
    const crowd = new NestedCrowd(new OutputBudget(1000), 1);
    crowd.enter();
    expect(() => crowd.enter()).to.throw('1 pipelines are at work');
    crowd.leave();
    expect(() => crowd.enter()).to.throw('1 pipelines are at work');
    expect(() => crowd.makeRoom(1)).to.throw('1 pipelines are at work');
  });

  it('hold a pipeline that many of them run once', () => {
    const pipeline = parsePipeline(MOCK);
    const budget = new OutputBudget(1.5 * pipeline.weight);
    const crowd = new NestedCrowd(budget);
    crowd.use(pipeline);
    crowd.use(pipeline);
    crowd.letGo(pipeline);
    expect(budget.usedBytes).to.equal(pipeline.weight);
    expect(() => crowd.use(parsePipeline(MOCK))).to.throw('no room');
    crowd.letGo(pipeline);
    expect(budget.usedBytes).to.equal(0);
  });

  it('leave nothing of themselves behind', () => {
    const outer = new OutputBudget(2 ** 20);
    const pipeline = parsePipeline(MOCK);
    const called = new CalledPipelines(fileAccess([]), pipeline.checkAnother);
    const budget = new NestedBudget(outer, called);
    const inner = new NestedBudget(budget, called);
    inner.admit(pipeline, 1000);
    inner.take(1000);
    expect(NestedCrowd.of(outer).living).to.equal(2);
    expect(outer.usedBytes).to.be.above(2000 + pipeline.weight);
    inner.close();
    budget.close();
    expect(NestedCrowd.of(outer).living).to.equal(0);
    expect(outer.usedBytes).to.equal(0);
  });

  describe('count what they are given', () => {
    const big = Array.from({ length: 10_000 }, (_, index) => `text ${index}`);
    for (const [name, given] of [
      ['params', 'params: {p: "{{pipeline.inputs.text}} {{item}}"}'],
      ['inputs', 'inputs: {p: "{{pipeline.inputs.text}} {{item}}"}'],
      ['session', 'session: {p: "{{pipeline.inputs.text}} {{item}}"}'],
    ] as const) {
      it(`as ${name}`, async () => {
        const leaf = '{id: leaf, goal: g, params: {p: {default: null}}, tasks: [{id: t, tool: puppet}]}';
        const inputs = { ...items(10), text: 'x'.repeat(200_000) };
        const options = withRoom(2 ** 20, { inputs, tools: [new Puppet().tool] });
        const run = await running(fanOut(leaf, given), options);
        expect(run.executor.run(run.runId).failures[0]?.error).to.contain('no room');
      });
    }

    it('but not lists and objects that the run around them holds already', async () => {
      const inputs = { ...items(20), big };
      const given =
        'session: {k: "{{item}}", b: "{{pipeline.inputs.big}}"}, inputs: {b: "{{pipeline.inputs.big}}"}';
      const leaf = '{id: leaf, goal: g, tasks: [{id: t, tool: puppet}]}';
      const options = withRoom(2 ** 20, { inputs, tools: [new Puppet().tool] });
      const run = await running(fanOut(leaf, given), options);
      expect(run.executor.run(run.runId).failures).to.deep.equal([]);
    });
  });

  it('begin in slices, so that requests are served in between', async () => {
    let turn = 0;
    const turns = new Set<number>();
    const holding = defineTool({
      name: 'holding',
      description: 'holds the event loop for as long as runs may',
      inputs: {},
      run: () => {
        turns.add(turn);
        while (!processPace.overdue());
      },
    });
    const next = (): void => {
      turn++;
      if (turns.size < 5 && turn < 100) setImmediate(next);
    };
    setImmediate(next);
    const run = await running(fanOut('{id: leaf, goal: g, tasks: [{id: t, tool: holding}]}'), {
      inputs: items(5),
      tools: [holding],
    });
    await settled(run);
    expect(turns.size).to.equal(5);
  });
});
