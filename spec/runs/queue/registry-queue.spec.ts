import { expect } from 'chai';
import fc from 'fast-check';
import { settle } from '../../support/deferred.js';
import { rejectionOf } from '../../support/rejection.js';
import { HeldRuns, useUpTheTurn } from '../held-runs.js';

const ACT = fc.record({
  kind: fc.constantFrom('submit', 'submit', 'submit', 'end', 'end', 'cancel', 'force', 'forget', 'burst'),
  tenant: fc.constantFrom('a', 'b', 'c'),
  at: fc.nat(1000),
});

/** A run as a plain model knows it. */
interface Plain {
  readonly id: string;
  readonly tenant: string;
  state: 'waiting' | 'running' | 'over';
}

describe('the queue of the registry (D25)', () => {
  it('lets so many run at once, begins them in order, and takes so many waiting, whatever happens', async () => {
    const limits = fc.record({
      maxRunning: fc.integer({ min: 1, max: 4 }),
      maxQueued: fc.nat(6),
    });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(ACT, { maxLength: 40 }), async (admission, acts) => {
        const held = new HeldRuns({ admission });
        const runs: Plain[] = [];
        const pick = (at: number, among: Plain[]): Plain | undefined => among[at % among.length];
        const open = (): Plain[] => runs.filter(({ state }) => state !== 'over');
        const inState = (state: Plain['state']): Plain[] => runs.filter((run) => run.state === state);
        const submit = async (tenant: string): Promise<void> => {
          const isFull = open().length >= admission.maxRunning + admission.maxQueued;
          const submitted = held.registry.submit({ pipeline: held.pipeline, tenant_id: tenant });
          if (isFull)
            expect(await rejectionOf(submitted)).to.include({ code: 'queue_full', fault: 'service' });
          else runs.push({ id: await submitted, tenant, state: 'waiting' });
        };
        for (const { kind, tenant, at } of acts) {
          if (kind === 'submit') await submit(tenant);
          else if (kind === 'burst') {
            useUpTheTurn();
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

  it('begins the next when one settles, tenant by tenant', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 10 } });
    const ids = await held.submitAll(['many', 'many', 'many', 'one']);
    const [a0 = '', a1 = '', a2 = '', b0 = ''] = ids;
    expect(ids.map((id) => held.statusOf(id))).to.deep.equal(['running', 'queued', 'queued', 'queued']);
    for (const id of [a0, a1, b0]) await held.end(id);
    expect(held.begun).to.deep.equal([a0, a1, b0, a2]);
    expect(held.registry.record(a2).started_at).to.be.a('string');
    expect(held.registry.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('refuses with a code when too many wait, also before any of a burst could begin', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 4, maxQueued: 6 } });
    useUpTheTurn();
    const { pipeline, registry } = held;
    const answers = await Promise.allSettled(
      Array.from({ length: 500 }, () => registry.submit({ pipeline })),
    );
    const accepted = answers.filter(({ status }) => status === 'fulfilled');
    expect(accepted).to.have.length(10);
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refused[0]).to.include({ code: 'queue_full' });
    await held.filled();
    expect(registry.load).to.deep.equal({ running: 4, queued: 6 });
    expect(registry.list({ limit: 1000 }).runs).to.have.length(10);
  });

  it('holds no place for a run that is refused for its params', async () => {
    const pipeline = '{id: p, goal: g, params: {who: {}}, tasks: [{id: a, tool: puppet}]}';
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } }, pipeline);
    expect(await rejectionOf(held.submit())).to.include({ code: 'invalid_params' });
    expect(held.registry.load).to.deep.equal({ running: 0, queued: 0 });
    await held.registry.submit({ pipeline: held.pipeline, params: { who: 'Ada' } });
    expect(await rejectionOf(held.submit())).to.include({ code: 'queue_full' });
  });

  it('gives the place in the queue to another when a run that waits is cancelled', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    expect(await rejectionOf(held.submit('a'))).to.include({ code: 'queue_full' });
    const record = await held.registry.cancel(second);
    expect(record).to.include({ status: 'cancelled', settled: true, started_at: null });
    const third = await held.submit('a');
    await held.end(first);
    expect(held.begun).to.deep.equal([first, third]);
    expect(held.statusOf(second)).to.equal('cancelled');
  });

  it('keeps the place of a cancelled run until its wave has finished (D21)', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    await held.registry.cancel(first);
    await held.filled();
    expect(held.statusOf(second)).to.equal('queued');
    await held.end(first);
    expect(held.statusOf(second)).to.equal('running');
  });

  it('begins the next when a run that is at work is forgotten', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 2 } });
    const [first = '', second = '', third = ''] = await held.submitAll(['a', 'a', 'a']);
    held.registry.forget(second);
    held.registry.forget(first);
    await held.filled();
    expect(held.begun).to.deep.equal([first, third]);
    expect(held.registry.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('begins nothing in a turn that has been used up, and goes on in the next', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 2, maxQueued: 10 } });
    useUpTheTurn();
    const waits = await held.registry.submit({ pipeline: held.pipeline });
    const leaves = await held.registry.submit({ pipeline: held.pipeline });
    expect(held.registry.load).to.deep.equal({ running: 0, queued: 2 });
    await held.registry.cancel(leaves);
    await held.filled();
    expect(held.begun).to.deep.equal([waits]);
    expect(held.registry.load).to.deep.equal({ running: 1, queued: 0 });
  });

  it('begins a run that its own listener cancelled while it was told, never', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 1 } });
    const runId = await held.submit('a', {
      onEvent: ({ run_id, seq }) => {
        if (seq === 1) void held.registry.cancel(run_id);
      },
    });
    expect(held.registry.record(runId)).to.include({ status: 'cancelled', settled: true });
    expect([held.begun, held.registry.load]).to.deep.equal([[], { running: 0, queued: 0 }]);
  });

  it('takes ten thousand cancels, of runs that wait and of one that is at work', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 10_000 } });
    const { registry, pipeline } = held;
    const all = await Promise.all(Array.from({ length: 10_001 }, () => registry.submit({ pipeline })));
    await held.filled();
    const [atWork = '', ...waiting] = all;
    expect(registry.load).to.deep.equal({ running: 1, queued: 10_000 });
    const records = await Promise.all(waiting.toReversed().map((id) => registry.cancel(id)));
    expect(records.every(({ status, settled }) => status === 'cancelled' && settled)).to.equal(true);
    expect(registry.load).to.deep.equal({ running: 1, queued: 0 });
    const answers = await Promise.allSettled(all.map(() => registry.cancel(atWork)));
    expect(answers.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    await held.end(atWork);
    await settle();
    expect([...registry.statuses()]).to.deep.equal([['cancelled', 10_001]]);
    expect(held.begun).to.deep.equal([atWork]);
  });
});
