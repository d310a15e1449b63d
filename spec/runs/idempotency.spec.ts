import { expect } from 'chai';
import { IdempotencyStore } from '../../lib/runs/idempotency.js';
import { catchRejection } from '../support/rejection.js';
import { ControlledRuns } from './controlled-runs.js';

const KEY = { key: 'k', fingerprint: 'f' };
const OTHER = { key: 'k', fingerprint: 'other' };

describe('IdempotencyStore (D36)', () => {
  it('finds the run of a key, and rejects another request with the same key', () => {
    const store = new IdempotencyStore();
    expect(store.find('a', KEY)).to.equal(undefined);
    store.add('a', KEY, 'run-1');
    expect(store.find('a', KEY)).to.equal('run-1');
    expect(() => store.find('a', OTHER))
      .to.throw('the Idempotency-Key "k" was used with another request, for run run-1')
      .with.property('code', 'idempotency_conflict');
  });

  it('separates tenants, whatever characters their names and keys contain', () => {
    const store = new IdempotencyStore();
    store.add('a', { key: 'b\nc', fingerprint: 'f' }, 'run-1');
    expect(store.find('b', KEY)).to.equal(undefined);
    expect(store.find('a\nb', { key: 'c', fingerprint: 'f' })).to.equal(undefined);
    expect(store.find('a', { key: 'b\nc', fingerprint: 'f' })).to.equal('run-1');
  });

  it('deletes the key of a run unless another run has taken the key over', () => {
    const store = new IdempotencyStore();
    store.delete('run-0');
    store.add('a', KEY, 'run-1');
    store.add('a', OTHER, 'run-2');
    store.delete('run-1');
    expect(store.find('a', OTHER)).to.equal('run-2');
    store.delete('run-2');
    expect(store.find('a', KEY)).to.equal(undefined);
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
    expect(registry.findSubmitted('default', KEY)).to.equal(ids[0]);
    expect(await fixture.submit('acme', { idempotency: KEY })).not.to.equal(ids[0]);
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
    expect(() => fixture.registry.findSubmitted('a', OTHER)).to.throw('was used with another request');
    expect(fixture.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('accepts the key again once its run was evicted or forgotten', async () => {
    const limits = { maxRuns: 10, ttlMs: 1000, maxEvents: 0 };
    const fixture = new ControlledRuns({ retention: limits });
    const first = await fixture.submit('a', { idempotency: KEY });
    await fixture.complete(first);
    fixture.clock.advance(1000);
    expect(fixture.registry.findSubmitted('a', OTHER)).to.equal(undefined);
    const second = await fixture.submit('a', { idempotency: OTHER });
    expect(second).not.to.equal(first);
    fixture.registry.forget(second);
    expect(fixture.registry.findSubmitted('a', KEY)).to.equal(undefined);
  });

  it('does not store the key of a rejected submission', async () => {
    const fixture = new ControlledRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await fixture.submit('a');
    expect(await catchRejection(fixture.submit('a', { idempotency: KEY }))).to.include({
      code: 'queue_full',
    });
    await fixture.complete(first);
    const second = await fixture.submit('a', { idempotency: OTHER });
    expect(fixture.registry.findSubmitted('a', OTHER)).to.equal(second);
  });
});
