import { expect } from 'chai';
import fc from 'fast-check';
import { cases } from '../support/measuring/cases.js';
import { parsePipeline } from '../../lib/pipelines/load.js';
import { RunRegistry } from '../../lib/runs/registry.js';
import { settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { ControlledTool } from '../support/controlled-tool.js';
import { catchRejection } from '../support/rejection.js';
import { createRunRecord } from '../support/runs/run-record.js';
import { ControlledRuns } from './controlled-runs.js';

const CONTROLLED =
  'pipeline: {id: held, goal: "wait for {{params.who}}", params: {who: {}}, tasks: [{id: a, tool: controlled}]}';

async function submitControlledRun() {
  const controlled = new ControlledTool();
  const clock = new ManualClock();
  const registry = new RunRegistry({ clock });
  const pipeline = parsePipeline(CONTROLLED, { tools: [controlled.tool] });
  const runId = await registry.submit({ pipeline, params: { who: 'Ada' }, tenant_id: 'acme' });
  await settle();
  return { controlled, clock, registry, runId, pipeline };
}

describe('RunRegistry (law L2)', () => {
  it('returns the current record of a run (Run record, D28)', async () => {
    const { controlled, clock, registry, runId } = await submitControlledRun();
    const time = new Date(clock.now()).toISOString();
    const running = createRunRecord({
      run_id: runId,
      pipeline_id: 'held',
      tenant_id: 'acme',
      goal: 'wait for Ada',
      created_at: time,
      started_at: time,
    });
    expect(registry.record(runId)).to.deep.equal(running);
    clock.advance(2000);
    await controlled.returns('came');
    expect(await registry.settled(runId)).to.deep.equal({
      ...running,
      status: 'succeeded',
      settled: true,
      finished_at: new Date(clock.now()).toISOString(),
      progress: { waves: 1, waves_executed: 1, tasks: 1, tasks_settled: 1, invocations: 1 },
      result: { outputs: { a: 'came' }, waves_executed: 1, tasks_executed: 1 },
    });
  });

  it('cancels a run and returns its record', async () => {
    const { controlled, registry, runId } = await submitControlledRun();
    expect(await registry.cancel(runId)).to.deep.include({ status: 'cancelled', settled: false });
    expect(await catchRejection(registry.cancel(runId))).to.include({ code: 'run_already_terminal' });
    expect(await registry.cancel(runId, { force: true })).to.deep.include({
      status: 'cancelled',
      settled: true,
    });
    expect(controlled.calls).to.have.length(1);
  });

  it('rejects invalid params before anything runs', async () => {
    const { registry, pipeline, controlled } = await submitControlledRun();
    const error = await catchRejection(registry.submit({ pipeline }));
    expect(error).to.include({ code: 'invalid_params', message: 'param "who" (string) is required' });
    expect(controlled.calls).to.have.length(1);
  });

  it('forgets a run', async () => {
    const { registry, runId } = await submitControlledRun();
    registry.forget(runId);
    expect(() => registry.record(runId)).to.throw('there is no run');
    expect(await catchRejection(registry.settled(runId))).to.include({ code: 'run_not_found' });
  });

  it('returns a queued run from every method as soon as it was accepted', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 1 }, eventBuffer: 10 });
    const received: string[] = [];
    const [first = ''] = await fixture.submitAll(['a']);
    const runId = await fixture.submit('acme', {
      onEvent: ({ run_id, kind }) => received.push(`${kind} ${fixture.registry.record(run_id).status}`),
    });
    expect(received).to.deep.equal(['run queued']);
    const time = new Date(fixture.clock.now()).toISOString();
    expect(fixture.registry.record(runId)).to.deep.include({
      status: 'queued',
      settled: false,
      created_at: time,
      started_at: null,
      finished_at: null,
      result: null,
      progress: { waves: 1, waves_executed: 0, tasks: 1, tasks_settled: 0, invocations: 0 },
    });
    expect(fixture.registry.queries.tenantId(runId)).to.equal('acme');
    expect(await fixture.registry.queries.actors.snapshot(runId)).to.deep.include({
      status: 'active',
      value: 'queued',
    });
    expect([...(await fixture.registry.queries.countByStatus())]).to.have.deep.members([
      ['running', 1],
      ['queued', 1],
    ]);
    fixture.clock.advance(500);
    await fixture.complete(first);
    const record = fixture.registry.record(runId);
    expect(record).to.include({ status: 'running', created_at: time });
    expect(record.started_at).to.equal(new Date(fixture.clock.now()).toISOString());
  });

  it('counts runs by status as a walk over all of them does, whatever happens to them', async () => {
    const step = fc.record({
      act: fc.constantFrom('submit', 'submit', 'submit', 'complete', 'fail', 'cancel', 'forget'),
      at: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const fixture = new ControlledRuns({ admission: { maxRunning: 3, maxQueued: 100 } });
        const { registry } = fixture;
        for (const { act, at } of steps) {
          const { runs } = registry.list({ limit: 500 });
          const { run_id: runId, settled, started_at } = runs[at % runs.length] ?? {};
          if (act === 'submit') await fixture.submit();
          else if (runId === undefined) continue;
          else if (act === 'forget') registry.forget(runId);
          else if (act === 'cancel') await registry.cancel(runId).catch(() => undefined);
          else if (settled === true || started_at === null) continue;
          else if (act === 'complete') await fixture.complete(runId);
          else await fixture.fail(runId, 'no luck');
          const counts: Record<string, number> = {};
          for (const run of registry.list({ limit: 500 }).runs)
            counts[run.status] = (counts[run.status] ?? 0) + 1;
          expect(Object.fromEntries(await registry.queries.countByStatus())).to.deep.equal(counts);
        }
      }),
      cases(40),
    );
  });

  it('throws run_not_found for an unknown id', async () => {
    const { registry } = new ControlledRuns();
    for (const method of ['record', 'version', 'tenantId', 'events'] as const) {
      expect(() => registry.queries[method]('x'), method)
        .to.throw('there is no run x')
        .with.property('code', 'run_not_found');
    }
    expect(await catchRejection(registry.queries.actors.snapshot('x'))).to.include({ code: 'run_not_found' });
    for (const method of ['settled', 'cancel', 'rerun'] as const) {
      expect(await catchRejection(registry[method]('x')), method).to.include({ code: 'run_not_found' });
    }
  });

  it('returns records that do not change while the run continues', async () => {
    const fixture = new ControlledRuns();
    const runId = await fixture.registry.submit({ pipeline: fixture.pipeline, collect_events: true });
    await fixture.waitUntilIdle();
    const record = fixture.registry.record(runId);
    expect(record.events).to.have.length(1);
    await fixture.complete(runId);
    expect(record.events).to.have.length(1);
    expect(fixture.registry.record(runId).events).to.have.length(2);
  });
});
