import { expect } from 'chai';
import fc from 'fast-check';
import { IdempotencyStore } from '../../lib/runs/idempotency.js';
import { type Deferred, deferred, settle } from '../support/deferred.js';
import { ManualClock } from '../support/manual-clock.js';
import { catchRejection } from '../support/rejection.js';
import { holdSlices } from '../support/slices.js';
import { ControlledRuns } from './controlled-runs.js';
import { cases } from '../support/measuring/cases.js';

const KEY = { key: 'k', fingerprint: 'f' };
const OTHER = { key: 'k', fingerprint: 'other' };
const LIMITS = { ttlMs: 1000, keys: { total: 20, guaranteed: 2 } };

/** A store, and submissions that create the runs that a spec names. */
class Submissions {
  readonly clock = new ManualClock();
  readonly store = new IdempotencyStore(this.clock, LIMITS);
  /** The runs that were created, in order. */
  readonly runs: string[] = [];

  submit(tenantId: string, key: string, fingerprint = 'f'): Promise<{ runId: string; isReplayed: boolean }> {
    return this.store.once(tenantId, { key, fingerprint }, async (reservation) => {
      const runId = `run-${this.runs.length + 1}`;
      this.runs.push(runId);
      this.store.assign(reservation, runId);
      return runId;
    });
  }

  /** Submits with each key, and forgets each run at once. */
  async submitAndForget(tenantId: string, keys: readonly string[]): Promise<void> {
    for (const key of keys) this.store.forgetRun((await this.submit(tenantId, key)).runId, 'succeeded');
  }

  async isKnown(tenantId: string, key: string): Promise<boolean> {
    return (await this.submit(tenantId, key)).isReplayed;
  }
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `k${index}`);
}

describe('IdempotencyStore (D36)', () => {
  it('finds the run of a key, and rejects another request with the same key', async () => {
    const all = new Submissions();
    expect(await all.submit('a', 'k')).to.deep.include({ runId: 'run-1', isReplayed: false });
    expect(await all.submit('a', 'k')).to.deep.include({ runId: 'run-1', isReplayed: true });
    const rejection = await catchRejection(all.submit('a', 'k', 'other'));
    expect(rejection).to.include({
      code: 'idempotency_conflict',
      message:
        'the Idempotency-Key "k" was used with another request, for run run-1: use a new key for a new request',
    });
    expect(all.runs).to.deep.equal(['run-1']);
  });

  it('separates tenants, whatever characters their names and keys contain', async () => {
    const all = new Submissions();
    await all.submit('a', 'b\nc');
    expect(await all.isKnown('b', 'k')).to.equal(false);
    expect(await all.isKnown('a\nb', 'c')).to.equal(false);
    expect(await all.isKnown('a', 'b\nc')).to.equal(true);
  });

  it('remembers the key and the last status of a forgotten run until its time is over', async () => {
    const all = new Submissions();
    const { runId } = await all.submit('a', 'k');
    all.clock.advance(5000);
    all.store.forgetRun(runId, 'failed');
    all.clock.advance(999);
    expect(await all.submit('a', 'k')).to.deep.equal({ runId, isReplayed: true, lastStatus: 'failed' });
    all.clock.advance(1);
    expect(await all.submit('a', 'k')).to.deep.include({ runId: 'run-2', isReplayed: false });
    all.store.forgetRun(runId, 'succeeded');
    expect(await all.isKnown('a', 'k')).to.equal(true);
  });

  it('loses the oldest key of the tenant that has most, and no other, when a tenant uses too many', async () => {
    const all = new Submissions();
    await all.submitAndForget('bob', ['payment', 'order']);
    await all.submitAndForget('alice', numbered(1000));
    expect(all.store.size).to.be.at.most(20);
    expect(await all.isKnown('bob', 'payment')).to.equal(true);
    expect(await all.isKnown('bob', 'order')).to.equal(true);
    expect(await all.isKnown('alice', 'k999')).to.equal(true);
    expect(await all.isKnown('alice', 'k981')).to.equal(false);
  });

  it('has room for the guaranteed keys of a tenant although others have used all of it', async () => {
    const all = new Submissions();
    await all.submitAndForget('alice', numbered(20));
    await all.submitAndForget('bob', ['payment', 'order']);
    for (const key of numbered(20)) expect(await all.isKnown('alice', key), key).to.equal(true);
    await all.submitAndForget('bob', ['third']);
    for (const key of ['payment', 'order', 'third']) {
      expect(await all.isKnown('bob', key), key).to.equal(true);
    }
    expect(await all.isKnown('alice', 'k0')).to.equal(false);
  });

  it('drops expired keys before it takes the room of others', async () => {
    const all = new Submissions();
    await all.submitAndForget('alice', numbered(15));
    all.clock.advance(500);
    await all.submitAndForget('bob', numbered(5));
    all.clock.advance(500);
    await all.submitAndForget('carol', numbered(10));
    expect(all.store.size).to.equal(15);
    for (const key of numbered(5)) expect(await all.isKnown('bob', key), key).to.equal(true);
  });

  it('creates one run per key whatever the order in which submissions arrive, are checked and forgotten', async () => {
    const step = fc.record({
      act: fc.constantFrom('submit', 'submit', 'submit', 'accept', 'accept', 'reject', 'forget'),
      key: fc.constantFrom('k', 'l'),
      at: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = new IdempotencyStore(new ManualClock(), LIMITS);
        const checks: Deferred<void>[] = [];
        const created: string[] = [];
        const rejected = new Set<string>();
        const seen = new Map<string, Set<string>>();
        const submit = async (key: string): Promise<void> => {
          const attempt = `${key}-${checks.length}`;
          const results = seen.get(key) ?? new Set();
          seen.set(key, results);
          const once = store.once('a', { key, fingerprint: 'f' }, async (reservation) => {
            const check = deferred<void>();
            checks.push(check);
            await check.promise.catch((thrown: unknown) => {
              rejected.add(attempt);
              throw thrown;
            });
            created.push(attempt);
            store.assign(reservation, attempt);
            return attempt;
          });
          await once.then(({ runId }) => results.add(runId)).catch(() => undefined);
        };
        for (const { act, key, at } of steps) {
          const check = checks[at % Math.max(1, checks.length)];
          if (act === 'submit') void submit(key);
          else if (act === 'accept') check?.resolve();
          else if (act === 'reject') check?.reject(new Error('refused'));
          else store.forgetRun(created[at % Math.max(1, created.length)] ?? '', 'succeeded');
          if (at % 3 === 0) await settle(1);
        }
        for (const check of checks) check.resolve();
        await settle(1);
        for (const key of ['k', 'l']) {
          const runs = created.filter((run) => run.startsWith(key));
          expect(runs.length).to.be.at.most(1);
          expect([...(seen.get(key) ?? [])]).to.deep.equal(runs);
        }
      }),
      cases(300),
    );
  });
});

describe('RunRegistry: repeated submissions (D36)', () => {
  it('creates one run per key for concurrent submissions', async () => {
    const fixture = new ControlledRuns();
    const { registry, pipeline } = fixture;
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => registry.submit({ pipeline }, { idempotency: KEY })),
    );
    await fixture.waitUntilIdle();
    expect(new Set(ids).size).to.equal(1);
    expect(fixture.calledRunIds).to.deep.equal([ids[0]]);
    expect(await fixture.submit('acme', { idempotency: KEY })).not.to.equal(ids[0]);
  });

  it('creates one run for submissions that arrive while the first is still being checked', async () => {
    holdSlices();
    const fixture = new ControlledRuns();
    const { registry, pipeline } = fixture;
    const checked = deferred<void>();
    const submitOnce = () =>
      registry.submitOnce('a', KEY, async (options) => {
        await checked.promise;
        return registry.submit({ pipeline, tenant_id: 'a' }, options);
      });
    const [first, second] = [submitOnce(), submitOnce()];
    await settle();
    expect(registry.list({ limit: 10 }).runs).to.deep.equal([]);
    checked.resolve();
    const { run_id } = await first;
    expect(await first).to.deep.equal({ run_id, status: 'queued', isReplayed: false, isKept: true });
    expect(await second).to.deep.equal({ run_id, status: 'running', isReplayed: true, isKept: true });
    expect(registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('gives submissions that arrive meanwhile the error of the first one, and leaves the key free', async () => {
    const fixture = new ControlledRuns();
    const refused = deferred<string>();
    const submitOnce = () => fixture.registry.submitOnce('a', KEY, () => refused.promise);
    const waiting = [catchRejection(submitOnce()), catchRejection(submitOnce())];
    const reason = new Error('not valid');
    refused.reject(reason);
    expect(await Promise.all(waiting)).to.deep.equal([reason, reason]);
    expect(await fixture.submit('a', { idempotency: OTHER })).to.be.a('string');
  });

  it('returns the earlier run although it has settled and although the queue is full', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await fixture.submit('a', { idempotency: KEY });
    expect(await fixture.submit('a', { idempotency: KEY })).to.equal(first);
    await fixture.complete(first);
    expect(await fixture.submit('a', { idempotency: KEY })).to.equal(first);
    expect(fixture.calledRunIds).to.have.length(1);
  });

  it('rejects another request with the same key without creating a run', async () => {
    const fixture = new ControlledRuns();
    await fixture.submit('a', { idempotency: KEY });
    expect(await catchRejection(fixture.submit('a', { idempotency: OTHER }))).to.include({
      code: 'idempotency_conflict',
    });
    expect(fixture.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('never runs again with a key whose run was evicted by the runs of another tenant', async () => {
    const fixture = new ControlledRuns({ retention: { maxRuns: 3, ttlMs: 1e9 } });
    const payment = await fixture.submitAndComplete('bob', { idempotency: KEY });
    for (let count = 0; count < 10; count++) await fixture.complete(await fixture.submit('alice'));
    fixture.registry.forget(payment);
    expect(await fixture.submit('bob', { idempotency: KEY })).to.equal(payment);
    expect(fixture.calledRunIds.filter((runId) => runId === payment)).to.have.length(1);
    expect(fixture.calledRunIds).to.have.length(11);
  });

  it('accepts the key again when its time is over after its run was evicted', async () => {
    const fixture = new ControlledRuns({ retention: { maxRuns: 10, ttlMs: 1000 }, idempotency: LIMITS });
    const first = await fixture.submitAndComplete('a', { idempotency: KEY });
    fixture.clock.advance(1000);
    expect(await fixture.submit('a', { idempotency: KEY })).to.equal(first);
    expect(await catchRejection(fixture.submit('a', { idempotency: OTHER }))).to.include({
      code: 'idempotency_conflict',
    });
    fixture.clock.advance(1000);
    expect(await fixture.submit('a', { idempotency: OTHER })).not.to.equal(first);
  });

  it('does not store the key of a rejected submission', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await fixture.submit('a');
    expect(await catchRejection(fixture.submit('a', { idempotency: KEY }))).to.include({
      code: 'queue_full',
    });
    await fixture.complete(first);
    const second = await fixture.submit('a', { idempotency: OTHER });
    expect(await fixture.submit('a', { idempotency: OTHER })).to.equal(second);
  });
});
