import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { parsePipeline } from '../../../lib/pipelines/load.js';
import { RunRegistry } from '../../../lib/runs/registry.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { parsePlan } from '../../support/definitions/parse-plan.js';
import { cases } from '../../support/measuring/cases.js';

const PIPELINE = `{id: p, goal: g, tasks: [
  {id: a, tool: controlled, retry: 1}, {id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}},
  {id: put, tool: store, inputs: {key: k, value: "{{a.output}}"}}, {id: z, tool: controlled, await: [put, each]}]}`;

const ACT = fc.record({
  kind: fc.constantFrom('return', 'return', 'return', 'return', 'throw', 'wait', 'cancel', 'force', 'log'),
  at: fc.nat(20),
});

/** Two sub-pipelines that may run at once, one that waits for both, and a task that runs another pipeline. */
const PLAN = `{id: p, plan_concurrency: 2, sub_pipelines: [
  {id: a, stores: [k], pipeline: {id: a, goal: g, tasks: [
    {id: t, tool: controlled}, {id: put, tool: store, inputs: {key: k, value: "{{t.output}}"}}]}},
  {id: b, stores: [l], pipeline: {id: b, goal: g, tasks: [{id: put, tool: store, inputs: {key: l, value: 1}}]}},
  {id: c, reads: [k, l], pipeline: {id: c, goal: g, tasks: [
    {id: t, tool: controlled, retry: 1, inputs: {x: "{{session.k}}"}},
    {id: inner, tool: run_pipeline, inputs: {pipeline: {id: i, goal: g, tasks: [{id: t, tool: controlled}]}}}]}}]}`;

/** A run stays queued for a turn of the event loop while it reads this blackboard. */
class SlowBlackboard extends MemoryBlackboard {
  override async getAll(tenant: string) {
    await settle(1);
    return super.getAll(tenant);
  }

  override async readMany(tenant: string, keys: readonly string[]) {
    await settle(1);
    return super.readMany(tenant, keys);
  }
}

type Submit = (registry: RunRegistry, controlled: ControlledTool, collectEvents: boolean) => Promise<string>;

const KINDS: Record<string, Submit> = {
  pipeline: (registry, controlled, collect_events) => {
    const inputs = { list: [1, 2] };
    const pipeline = parsePipeline(PIPELINE, { tools: [controlled.tool], inputs });
    return registry.submit({ pipeline, inputs, collect_events });
  },
  plan: (registry, controlled, collect_events) => {
    const plan = parsePlan(PLAN, { tools: [controlled.tool] });
    return registry.submitPlan({ plan, collect_events });
  },
};

describe('RunRegistry.version', () => {
  for (const [kind, submit] of Object.entries(KINDS)) {
    it(`changes if and only if the record of a ${kind} run changes, seen at every microtask and event`, async () => {
      const shape = fc.record({
        acts: fc.array(ACT, { maxLength: 14 }),
        eventBuffer: fc.constantFrom(0, 100),
        collectEvents: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(shape, async ({ acts, eventBuffer, collectEvents }) => {
          const controlled = new ControlledTool();
          const clock = new ManualClock();
          const registry = new RunRegistry({
            clock,
            eventBuffer,
            admission: { maxRunning: 1, maxQueued: 1 },
            blackboard: new SlowBlackboard(),
            onEvent: () => check(),
          });
          let runId: string | undefined;
          const records = new Map<string, string>();
          const stale: string[] = [];
          const check = (): void => {
            if (runId === undefined) return;
            const record = JSON.stringify(registry.record(runId));
            const version = registry.queries.version(runId);
            if ((records.get(version) ?? record) !== record) stale.push(version);
            records.set(version, record);
          };
          const before = await submit(registry, controlled, false);
          const run = await submit(registry, controlled, collectEvents);
          runId = run;
          const checkOften = async (): Promise<void> => {
            for (let turn = 0; turn < 3; turn++) {
              for (let tick = 0; tick < 30; tick++) {
                check();
                await Promise.resolve();
              }
              await settle(1);
            }
            check();
          };
          await checkOften();
          await registry.cancel(before, { force: true });
          await checkOften();
          const open = new Set<unknown>();
          for (const { kind: act, at } of acts) {
            const calls = controlled.calls.filter((call) => call.context.run_id === run && !open.has(call));
            const call = calls[at % calls.length];
            clock.advance(1);
            if (act === 'wait') clock.advance(10_000);
            else if (act === 'cancel' || act === 'force') {
              await registry.cancel(run, { force: act === 'force' }).catch(() => undefined);
            } else if (act === 'log') call?.context.log('still here');
            else if (call !== undefined) {
              open.add(call);
              if (act === 'return') call.resolve(at);
              else call.reject(new Error('no luck'));
            }
            await checkOften();
          }
          expect(stale).to.deep.equal([]);
          expect(new Set(records.values()).size).to.equal(records.size);
        }),
        cases(80),
      );
    });
  }

  it('stays the same while nothing changes', async () => {
    const controlled = new ControlledTool();
    const registry = new RunRegistry({ clock: new ManualClock(), eventBuffer: 10 });
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: controlled}]}', {
      tools: [controlled.tool],
    });
    const runId = await registry.submit({ pipeline });
    await settle();
    const running = registry.queries.version(runId);
    await settle();
    expect(registry.queries.version(runId)).to.equal(running);
    controlled.last.resolve(1);
    await registry.settled(runId);
    const settled = registry.queries.version(runId);
    await settle();
    expect(registry.queries.version(runId)).to.equal(settled).and.not.equal(running);
    expect(() => registry.queries.version('nothing')).to.throw('there is no run');
  });
});
