import { expect } from 'chai';
import fc from 'fast-check';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { endSlice } from '../../support/slices.js';
import { ControlledRuns } from '../controlled-runs.js';
import { cases } from '../../support/measuring/cases.js';

const ACT = fc.record({
  kind: fc.constantFrom('submit', 'submit', 'submit', 'end', 'end', 'cancel', 'force', 'forget', 'burst'),
  tenant: fc.constantFrom('a', 'b', 'c'),
  at: fc.nat(1000),
});

/** A run in the model. */
interface ModelRun {
  readonly id: string;
  readonly tenant: string;
  state: 'waiting' | 'running' | 'over';
}

describe('RunRegistry: admission and queue (D25)', () => {
  it('keeps to maxRunning and maxQueued and starts the runs of each tenant in order, whatever happens', async () => {
    const limits = fc.record({ maxRunning: fc.integer({ min: 1, max: 4 }), maxQueued: fc.nat(6) });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(ACT, { maxLength: 40 }), async (admission, acts) => {
        const fixture = new ControlledRuns({ admission });
        const runs: ModelRun[] = [];
        const pick = (at: number, among: ModelRun[]): ModelRun | undefined => among[at % among.length];
        const open = (): ModelRun[] => runs.filter(({ state }) => state !== 'over');
        const inState = (state: ModelRun['state']): ModelRun[] => runs.filter((run) => run.state === state);
        const submit = async (tenant: string): Promise<void> => {
          const isFull = open().length >= admission.maxRunning + admission.maxQueued;
          const submitted = fixture.registry.submit({ pipeline: fixture.pipeline, tenant_id: tenant });
          if (isFull)
            expect(await catchRejection(submitted)).to.include({ code: 'queue_full', fault: 'service' });
          else runs.push({ id: await submitted, tenant, state: 'waiting' });
        };
        for (const { kind, tenant, at } of acts) {
          if (kind === 'submit') await submit(tenant);
          else if (kind === 'burst') {
            endSlice();
            for (let more = 0; more < 3; more++) await submit(tenant);
          } else {
            const run = pick(at, kind === 'end' ? inState('running') : open());
            if (run === undefined) continue;
            if (kind === 'end') await fixture.complete(run.id);
            else if (kind === 'forget') fixture.registry.forget(run.id);
            else
              await fixture.registry.cancel(run.id, { force: kind === 'force' || run.state === 'running' });
            run.state = 'over';
          }
          await fixture.waitUntilIdle();
          const begun = new Set(fixture.calledRunIds);
          for (const run of inState('waiting')) if (begun.has(run.id)) run.state = 'running';
          const running = inState('running').length;
          expect(running).to.equal(Math.min(open().length, admission.maxRunning));
          expect(fixture.registry.queries.load).to.deep.equal({ running, queued: open().length - running });
        }
        for (const tenant of ['a', 'b', 'c']) {
          const order = runs.filter((run) => run.tenant === tenant && fixture.calledRunIds.includes(run.id));
          const begun = fixture.calledRunIds.filter((id) => order.some((run) => run.id === id));
          expect(begun).to.deep.equal(order.map(({ id }) => id));
        }
      }),
      cases(60),
    );
  });

  it('starts the next run when one settles, tenant by tenant', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 10 } });
    const ids = await fixture.submitAll(['many', 'many', 'many', 'one']);
    const [a0 = '', a1 = '', a2 = '', b0 = ''] = ids;
    expect(ids.map((id) => fixture.getStatus(id))).to.deep.equal(['running', 'queued', 'queued', 'queued']);
    for (const id of [a0, a1, b0]) await fixture.complete(id);
    expect(fixture.calledRunIds).to.deep.equal([a0, a1, b0, a2]);
    expect(fixture.registry.record(a2).started_at).to.be.a('string');
    expect(fixture.registry.queries.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('rejects with queue_full beyond the limits, also before any run of a burst has started', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 4, maxQueued: 6 } });
    endSlice();
    const { pipeline, registry } = fixture;
    const results = await Promise.allSettled(
      Array.from({ length: 500 }, () => registry.submit({ pipeline })),
    );
    const accepted = results.filter(({ status }) => status === 'fulfilled');
    expect(accepted).to.have.length(10);
    const rejected = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(rejected[0]).to.include({ code: 'queue_full' });
    await fixture.waitUntilIdle();
    expect(registry.queries.load).to.deep.equal({ running: 4, queued: 6 });
    expect(registry.list({ limit: 1000 }).runs).to.have.length(10);
  });

  it('reserves no slot for a run rejected with invalid_params', async () => {
    const pipeline = '{id: p, goal: g, params: {who: {}}, tasks: [{id: a, tool: controlled}]}';
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 0 } }, pipeline);
    expect(await catchRejection(fixture.submit())).to.include({ code: 'invalid_params' });
    expect(fixture.registry.queries.load).to.deep.equal({ running: 0, queued: 0 });
    await fixture.registry.submit({ pipeline: fixture.pipeline, params: { who: 'Ada' } });
    expect(await catchRejection(fixture.submit())).to.include({ code: 'queue_full' });
  });

  it('keeps the slot of a cancelled run until its wave has finished (D21)', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await fixture.submitAll(['a', 'a']);
    await fixture.registry.cancel(first);
    await fixture.waitUntilIdle();
    expect(fixture.getStatus(second)).to.equal('queued');
    await fixture.complete(first);
    expect(fixture.getStatus(second)).to.equal('running');
  });

  it('starts no run while the event-loop budget is used up, and continues in the next slice', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
    endSlice();
    const waits = await fixture.registry.submit({ pipeline: fixture.pipeline });
    const leaves = await fixture.registry.submit({ pipeline: fixture.pipeline });
    expect(fixture.registry.queries.load).to.deep.equal({ running: 0, queued: 2 });
    await fixture.registry.cancel(leaves);
    await fixture.waitUntilIdle();
    expect(fixture.calledRunIds).to.deep.equal([waits]);
    expect(fixture.registry.queries.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('never starts a run that its own listener cancelled on the queued event', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const runId = await fixture.submit('a', {
      onEvent: ({ run_id, seq }) => {
        if (seq === 1) void fixture.registry.cancel(run_id);
      },
    });
    expect(fixture.registry.record(runId)).to.include({ status: 'cancelled', settled: true });
    expect([fixture.calledRunIds, fixture.registry.queries.load]).to.deep.equal([
      [],
      { running: 0, queued: 0 },
    ]);
  });

  it('handles ten thousand cancels of queued runs and of one running run', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 10_000 } });
    const { registry, pipeline } = fixture;
    const all = await Promise.all(Array.from({ length: 10_001 }, () => registry.submit({ pipeline })));
    await fixture.waitUntilIdle();
    const [runningId = '', ...waiting] = all;
    expect(registry.queries.load).to.deep.equal({ running: 1, queued: 10_000 });
    const records = await Promise.all(waiting.toReversed().map((id) => registry.cancel(id)));
    expect(records.every(({ status, settled }) => status === 'cancelled' && settled)).to.equal(true);
    expect(registry.queries.load).to.deep.equal({ running: 1, queued: 0 });
    const results = await Promise.allSettled(all.map(() => registry.cancel(runningId)));
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    await fixture.complete(runningId);
    await settle();
    expect([...(await registry.queries.countByStatus())]).to.deep.equal([['cancelled', 10_001]]);
    expect(fixture.calledRunIds).to.deep.equal([runningId]);
  });
});
