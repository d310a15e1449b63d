import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../../../../lib/common/json/json.js';
import type { Steps } from '../../../../lib/common/scheduling/steps.js';
import { environmentSecrets } from '../../../../lib/definition/secrets/sources.js';
import type { LiveEvent } from '../../../../lib/execution/events/event.js';
import type { RunInputs } from '../../../../lib/execution/prepare/run-inputs.js';
import { parsePipeline } from '../../../../lib/pipelines/load.js';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { RunRegistry } from '../../../../lib/runs/registry.js';
import type { RegistryOptions } from '../../../../lib/runs/registry-options.js';
import { defineTool } from '../../../../lib/tools/tool.js';
import { ControlledTool } from '../../../support/controlled-tool.js';
import { countYields, settle } from '../../../support/deferred.js';
import { ManualClock } from '../../../support/manual-clock.js';

/** Runs of one registry, whose tool `controlled` is called only when there is no cached output. */
class CachedRuns {
  readonly clock = new ManualClock();
  readonly controlled = new ControlledTool();
  readonly events: LiveEvent[] = [];
  readonly registry: RunRegistry;

  constructor(options: RegistryOptions = {}) {
    const onEvent = (event: LiveEvent) => void this.events.push(event);
    this.registry = new RunRegistry({ clock: this.clock, random: () => 0.5, onEvent, ...options });
  }

  async submit(tasks: string, run: Omit<RunInputs, 'pipeline'> = {}): Promise<string> {
    this.events.length = 0;
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [${tasks}]}`, {
      tools: [this.controlled.tool],
      inputs: run.inputs ?? {},
    });
    const runId = await this.registry.submit({ pipeline, ...run });
    await settle(10);
    return runId;
  }

  /** Runs to the end; each call that is made returns the number of calls so far. */
  async run(tasks: string, run: Omit<RunInputs, 'pipeline'> = {}): Promise<RunRecord> {
    const runId = await this.submit(tasks, run);
    while (!this.registry.record(runId).settled) {
      for (const [index, call] of this.controlled.calls.entries()) call.resolve(index + 1);
      await settle();
    }
    return this.registry.record(runId);
  }
}

const TASK = '{id: t, tool: controlled, cache: true, inputs: {x: 1}}';

describe('A task with cache (D65)', () => {
  it('reuses the output of an equal invocation in another run, without a call, and says so', async () => {
    const runs = new CachedRuns();
    expect((await runs.run(TASK)).result).to.deep.include({ outputs: { t: 1 }, tasks_executed: 1 });
    const second = await runs.run(TASK, { collect_events: true });
    expect(second.result).to.deep.include({ outputs: { t: 1 }, tasks_executed: 0 });
    expect(runs.controlled.calls).to.have.length(1);
    const finish = second.events?.find(({ kind }) => kind === 'finish');
    expect(finish).to.deep.include({ cached: true }).and.to.not.have.property('attempt');
    const record = await runs.registry.task(second.run_id, 't');
    expect(record).to.deep.include({
      status: 'succeeded',
      cached: true,
      reused: false,
      attempts: [],
      output: 1,
    });
  });

  it('calls the tool for other inputs, for another tenant, after its ttl, and with the option cache: false', async () => {
    const runs = new CachedRuns();
    const timed = TASK.replace('cache: true', 'cache: {ttl: 60}');
    await runs.run(timed);
    const others = [
      await runs.run(timed.replace('x: 1', 'x: 2')),
      await runs.run(timed, { tenant_id: 'acme' }),
      await runs.run(timed, { options: { cache: false } }),
    ];
    expect(others.map(({ result }) => result?.outputs?.['t'])).to.deep.equal([2, 3, 4]);
    runs.clock.advance(59_000);
    expect((await runs.run(timed)).result?.outputs).to.deep.equal({ t: 1 });
    runs.clock.advance(1000);
    expect((await runs.run(timed)).result?.outputs).to.deep.equal({ t: 5 });
  });

  it('never reuses a failure', async () => {
    const runs = new CachedRuns();
    const runId = await runs.submit(TASK);
    await runs.controlled.rejects(new Error('no luck'));
    expect(runs.registry.record(runId).status).to.equal('failed');
    expect((await runs.run(TASK)).result?.outputs).to.deep.equal({ t: 2 });
  });

  it('asks for each item of a fan-out, and counts those from the cache', async () => {
    const runs = new CachedRuns();
    const each =
      '{id: each, tool: controlled, cache: true, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}}';
    await runs.run(each, { inputs: { list: ['a', 'b'] } });
    const { run_id, result } = await runs.run(each, { inputs: { list: ['b', 'c', 'a'] } });
    expect(result).to.deep.include({ outputs: { each: [2, 3, 1] }, tasks_executed: 1 });
    const finish = runs.events.find((event) => event.kind === 'finish');
    expect(finish).to.deep.include({ items: 3, cached_items: 2 });
    const task = await runs.registry.task(run_id, 'each');
    expect(task).to.deep.include({ cached_items: 2, cached: false });
    const { items } = await runs.registry.items(run_id, 'each');
    expect(items.map(({ cached, reused }) => [cached, reused])).to.deep.equal([
      [true, false],
      [false, false],
      [true, false],
    ]);
  });

  it('stores what the earlier invocation has stored', async () => {
    const runs = new CachedRuns();
    const tasks =
      '{id: put, tool: store, cache: true, inputs: {key: k, value: v}}, {id: read, tool: mock, await: [put], inputs: {k: "{{session.k}}"}}';
    await runs.run(tasks);
    const { result } = await runs.run(tasks);
    expect(result?.tasks_executed).to.equal(1);
    expect(result?.outputs?.['read']).to.have.nested.property('inputs.k', 'v');
  });

  it('keeps no output that names files, which go with their run (D24)', async () => {
    const runs = new CachedRuns();
    const first = await runs.submit(TASK);
    await runs.controlled.returns(Buffer.from('bytes'));
    await runs.registry.settled(first);
    await runs.run(TASK);
    expect(runs.controlled.calls).to.have.length(2);
    await runs.registry.close(0);
  });

  it('masks a long output from the cache in steps, which leave the event loop to others (D25, D61)', async () => {
    const secrets = environmentSecrets({ TOKEN: 'hunter22' });
    const runs = new CachedRuns({ secrets });
    const kept = '{id: a, tool: mock, cache: true, inputs: {x: "{{pipeline.inputs.x}}"}}';
    const inputs = { x: Array.from({ length: 4 }, () => `hunter22 ${'x'.repeat(2 ** 20)}`) };
    await runs.run(kept, { inputs });
    const { stepRunner } = runs.registry;
    const run = stepRunner.run.bind(stepRunner);
    let pauses = 0;
    stepRunner.run = async <T>(steps: Steps<T>, tenantId: string): Promise<T> => {
      let yields = 0;
      const result = await run(
        countYields(steps, () => yields++),
        tenantId,
      );
      if (isObject(result) && 'writes' in result) pauses += yields;
      return result;
    };
    const { result } = await runs.run(`${kept}, {id: b, tool: mock, inputs: {x: "{{secrets.TOKEN}}"}}`, {
      inputs,
    });
    expect(JSON.stringify(result?.outputs?.['a'])).to.include('*** xxx').and.not.include('hunter22');
    expect(pauses).to.be.at.least(2);
  });

  it('is stopped by force while its output is looked for, and settles once', async () => {
    const runs = new CachedRuns();
    const pipeline = parsePipeline(`{id: p, goal: g, tasks: [${TASK}]}`, { tools: [runs.controlled.tool] });
    const runId = await runs.registry.submit({ pipeline });
    while (runs.registry.record(runId).progress.waves === 0) await settle(1);
    await runs.registry.cancel(runId, { force: true });
    expect(await runs.registry.settled(runId)).to.include({ status: 'cancelled', settled: true });
  });

  it('is stopped by force by its own tool, which it aborts, and settles once', async () => {
    let signal: AbortSignal | undefined;
    const stopping = defineTool({
      name: 'stopping',
      description: 'stops its run',
      inputs: {},
      run: (_, context) => {
        ({ signal } = context);
        void registry.cancel(context.run_id, { force: true });
        return new Promise(() => undefined);
      },
    });
    const registry = new RunRegistry();
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: t, tool: stopping, cache: true}]}', {
      tools: [stopping],
    });
    const runId = await registry.submit({ pipeline });
    expect(await registry.settled(runId)).to.include({ status: 'cancelled', settled: true });
    expect(signal?.aborted).to.equal(true);
  });

  it('reuses what another process has kept in the same folder', async () => {
    const cacheFolder = await mkdtemp(join(tmpdir(), 'cache-'));
    try {
      const runs = new CachedRuns({ cacheFolder });
      await runs.run(TASK);
      await runs.registry.cacheWritten();
      const other = new CachedRuns({ cacheFolder });
      expect((await other.run(TASK)).result).to.deep.include({ outputs: { t: 1 }, tasks_executed: 0 });
      expect(other.controlled.calls).to.deep.equal([]);
    } finally {
      await rm(cacheFolder, { recursive: true });
    }
  });
});
