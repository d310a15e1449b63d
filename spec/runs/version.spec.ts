import { expect } from 'chai';
import fc from 'fast-check';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import { settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { ControlledTool } from '../support/controlled-tool.js';

const PIPELINE = `{id: p, goal: g, tasks: [
  {id: a, tool: controlled, retry: 1}, {id: each, tool: controlled, parallel_over: "{{pipeline.inputs.list}}", inputs: {x: "{{item}}"}},
  {id: put, tool: store, inputs: {key: k, value: "{{a.output}}"}}, {id: z, tool: controlled, await: [put, each]}]}`;

const ACT = fc.record({
  kind: fc.constantFrom('return', 'return', 'return', 'return', 'throw', 'wait', 'cancel', 'force', 'log'),
  at: fc.nat(20),
});

describe('RunRegistry.version', () => {
  it('changes if and only if the record changes', async () => {
    const shape = fc.record({
      acts: fc.array(ACT, { maxLength: 14 }),
      eventBuffer: fc.constantFrom(0, 100),
      collect_events: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ acts, eventBuffer, collect_events }) => {
        const controlled = new ControlledTool();
        const clock = new ManualClock();
        const registry = new RunRegistry({ clock, eventBuffer, admission: { maxRunning: 1, maxQueued: 1 } });
        const inputs = { list: [1, 2] };
        const pipeline = parsePipeline(PIPELINE, { tools: [controlled.tool], inputs });
        const before = await registry.submit({ pipeline, inputs });
        const runId = await registry.submit({ pipeline, inputs, collect_events });
        const records = new Map<string, string>();
        const check = (): void => {
          const record = JSON.stringify(registry.record(runId));
          const version = registry.version(runId);
          expect(records.get(version) ?? record).to.equal(record);
          records.set(version, record);
        };
        const checkOften = async (): Promise<void> => {
          for (let tick = 0; tick < 30; tick++) {
            check();
            await Promise.resolve();
          }
          await settle(2);
          check();
        };
        await checkOften();
        await registry.cancel(before, { force: true });
        await checkOften();
        const open = new Set<unknown>();
        for (const { kind, at } of acts) {
          const calls = controlled.calls.filter((call) => call.context.run_id === runId && !open.has(call));
          const call = calls[at % calls.length];
          clock.advance(1);
          if (kind === 'wait') clock.advance(10_000);
          else if (kind === 'cancel' || kind === 'force') {
            await registry.cancel(runId, { force: kind === 'force' }).catch(() => undefined);
          } else if (kind === 'log') call?.context.log('still here');
          else if (call !== undefined) {
            open.add(call);
            if (kind === 'return') call.resolve(at);
            else call.reject(new Error('no luck'));
          }
          await checkOften();
        }
        expect(new Set(records.values()).size).to.equal(records.size);
      }),
      { numRuns: 80 },
    );
  });

  it('stays the same while nothing changes and when the events of the run are dropped', async () => {
    const controlled = new ControlledTool();
    const retention = { maxRuns: 10, ttlMs: 1e9, maxEvents: 0 };
    const registry = new RunRegistry({ clock: new ManualClock(), eventBuffer: 10, retention });
    const pipeline = parsePipeline('{id: p, goal: g, tasks: [{id: a, tool: controlled}]}', {
      tools: [controlled.tool],
    });
    const runId = await registry.submit({ pipeline });
    await settle();
    const running = registry.version(runId);
    await settle();
    expect(registry.version(runId)).to.equal(running);
    controlled.last.resolve(1);
    await registry.settled(runId);
    const settled = registry.version(runId);
    await settle();
    expect(registry.events(runId).size).to.equal(0);
    expect(registry.version(runId)).to.equal(settled).and.not.equal(running);
    expect(() => registry.version('nothing')).to.throw('there is no run');
  });
});
