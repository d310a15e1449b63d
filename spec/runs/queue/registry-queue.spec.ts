import { expect } from 'chai';
import fc from 'fast-check';
import { settle } from '../../support/deferred.js';
import { catchRejection } from '../../support/rejection.js';
import { HeldRuns, exhaustEventLoopBudget } from '../held-runs.js';

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
    const limits = fc.record({
      maxRunning: fc.integer({ min: 1, max: 4 }),
      maxQueued: fc.nat(6),
    });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(ACT, { maxLength: 40 }), async (admission, acts) => {
        const held = new HeldRuns({ admission });
        const runs: ModelRun[] = [];
        const pick = (at: number, among: ModelRun[]): ModelRun | undefined => among[at % among.length];
        const open = (): ModelRun[] => runs.filter(({ state }) => state !== 'over');
        const inState = (state: ModelRun['state']): ModelRun[] => runs.filter((run) => run.state === state);
        const submit = async (tenant: string): Promise<void> => {
          const isFull = open().length >= admission.maxRunning + admission.maxQueued;
          const submitted = held.registry.submit({ pipeline: held.pipeline, tenant_id: tenant });
          if (isFull)
            expect(await catchRejection(submitted)).to.include({ code: 'queue_full', fault: 'service' });
          else runs.push({ id: await submitted, tenant, state: 'waiting' });
        };
        for (const { kind, tenant, at } of acts) {
          if (kind === 'submit') await submit(tenant);
          else if (kind === 'burst') {
            exhaustEventLoopBudget();
            for (let more = 0; more < 3; more++) await submit(tenant);
          } else {
            const run = pick(at, kind === 'end' ? inState('running') : open());
            if (run === undefined) continue;
            if (kind === 'end') await held.end(run.id);
            else if (kind === 'forget') held.registry.forget(run.id);
            else await held.registry.cancel(run.id, { force: kind === 'force' || run.state === 'running' });
            run.state = 'over';
          }
          await held.filled();
          const begun = new Set(held.begun);
          for (const run of inState('waiting')) if (begun.has(run.id)) run.state = 'running';
          const running = inState('running').length;
          expect(running).to.equal(Math.min(open().length, admission.maxRunning));
          expect(held.registry.load).to.deep.equal({ running, queued: open().length - running });
        }
        for (const tenant of ['a', 'b', 'c']) {
          const order = runs.filter((run) => run.tenant === tenant && held.begun.includes(run.id));
          const begun = held.begun.filter((id) => order.some((run) => run.id === id));
          expect(begun).to.deep.equal(order.map(({ id }) => id));
        }
      }),
      { numRuns: 60 },
    );
  }).timeout(20_000);

  it('starts the next run when one settles, tenant by tenant', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 10 } });
    const ids = await held.submitAll(['many', 'many', 'many', 'one']);
    const [a0 = '', a1 = '', a2 = '', b0 = ''] = ids;
    expect(ids.map((id) => held.statusOf(id))).to.deep.equal(['running', 'queued', 'queued', 'queued']);
    for (const id of [a0, a1, b0]) await held.end(id);
    expect(held.begun).to.deep.equal([a0, a1, b0, a2]);
    expect(held.registry.record(a2).started_at).to.be.a('string');
    expect(held.registry.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('rejects with queue_full beyond the limits, also before any run of a burst has started', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 4, maxQueued: 6 } });
    exhaustEventLoopBudget();
    const { pipeline, registry } = held;
    const results = await Promise.allSettled(
      Array.from({ length: 500 }, () => registry.submit({ pipeline })),
    );
    const accepted = results.filter(({ status }) => status === 'fulfilled');
    expect(accepted).to.have.length(10);
    const rejected = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(rejected[0]).to.include({ code: 'queue_full' });
    await held.filled();
    expect(registry.load).to.deep.equal({ running: 4, queued: 6 });
    expect(registry.list({ limit: 1000 }).runs).to.have.length(10);
  });

  it('reserves no slot for a run rejected with invalid_params', async () => {
    const pipeline = '{id: p, goal: g, params: {who: {}}, tasks: [{id: a, tool: puppet}]}';
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } }, pipeline);
    expect(await catchRejection(held.submit())).to.include({ code: 'invalid_params' });
    expect(held.registry.load).to.deep.equal({ running: 0, queued: 0 });
    await held.registry.submit({ pipeline: held.pipeline, params: { who: 'Ada' } });
    expect(await catchRejection(held.submit())).to.include({ code: 'queue_full' });
  });

  it('frees the queue position of a queued run that is cancelled', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    expect(await catchRejection(held.submit('a'))).to.include({ code: 'queue_full' });
    const record = await held.registry.cancel(second);
    expect(record).to.include({ status: 'cancelled', settled: true, started_at: null });
    const third = await held.submit('a');
    await held.end(first);
    expect(held.begun).to.deep.equal([first, third]);
    expect(held.statusOf(second)).to.equal('cancelled');
  });

  it('keeps the slot of a cancelled run until its wave has finished (D21)', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    await held.registry.cancel(first);
    await held.filled();
    expect(held.statusOf(second)).to.equal('queued');
    await held.end(first);
    expect(held.statusOf(second)).to.equal('running');
  });

  it('starts the next run when a running one is forgotten', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 2 } });
    const [first = '', second = '', third = ''] = await held.submitAll(['a', 'a', 'a']);
    held.registry.forget(second);
    held.registry.forget(first);
    await held.filled();
    expect(held.begun).to.deep.equal([first, third]);
    expect(held.registry.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('starts no run while the event-loop budget is used up, and continues in the next slice', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
    exhaustEventLoopBudget();
    const waits = await held.registry.submit({ pipeline: held.pipeline });
    const leaves = await held.registry.submit({ pipeline: held.pipeline });
    expect(held.registry.load).to.deep.equal({ running: 0, queued: 2 });
    await held.registry.cancel(leaves);
    await held.filled();
    expect(held.begun).to.deep.equal([waits]);
    expect(held.registry.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('never starts a run that its own listener cancelled on the queued event', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const runId = await held.submit('a', {
      onEvent: ({ run_id, seq }) => {
        if (seq === 1) void held.registry.cancel(run_id);
      },
    });
    expect(held.registry.record(runId)).to.include({ status: 'cancelled', settled: true });
    expect([held.begun, held.registry.load]).to.deep.equal([[], { running: 0, queued: 0 }]);
  });

  it('handles ten thousand cancels of queued runs and of one running run', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 10_000 } });
    const { registry, pipeline } = held;
    const all = await Promise.all(Array.from({ length: 10_001 }, () => registry.submit({ pipeline })));
    await held.filled();
    const [runningId = '', ...waiting] = all;
    expect(registry.load).to.deep.equal({ running: 1, queued: 10_000 });
    const records = await Promise.all(waiting.toReversed().map((id) => registry.cancel(id)));
    expect(records.every(({ status, settled }) => status === 'cancelled' && settled)).to.equal(true);
    expect(registry.load).to.deep.equal({ running: 1, queued: 0 });
    const results = await Promise.allSettled(all.map(() => registry.cancel(runningId)));
    expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    await held.end(runningId);
    await settle();
    expect([...registry.countByStatus()]).to.deep.equal([['cancelled', 10_001]]);
    expect(held.begun).to.deep.equal([runningId]);
  });
});
