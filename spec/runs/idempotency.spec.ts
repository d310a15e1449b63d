import { expect } from 'chai';
import { IdempotencyStore } from '../../lib/runs/idempotency.js';
import { catchRejection } from '../support/rejection.js';
import { HeldRuns } from './held-runs.js';

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
    const held = new HeldRuns();
    const { registry, pipeline } = held;
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => registry.submit({ pipeline }, { idempotency: KEY })),
    );
    await held.filled();
    expect(new Set(ids).size).to.equal(1);
    expect(held.begun).to.deep.equal([ids[0]]);
    expect(registry.findSubmitted('default', KEY)).to.equal(ids[0]);
    expect(await held.submit('acme', { idempotency: KEY })).not.to.equal(ids[0]);
  });

  it('returns the earlier run although it has settled and although the queue is full', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await held.submit('a', { idempotency: KEY });
    expect(await held.submit('a', { idempotency: KEY })).to.equal(first);
    await held.end(first);
    expect(await held.submit('a', { idempotency: KEY })).to.equal(first);
    expect(held.begun).to.have.length(1);
  });

  it('rejects another request with the same key without creating a run', async () => {
    const held = new HeldRuns();
    await held.submit('a', { idempotency: KEY });
    expect(await catchRejection(held.submit('a', { idempotency: OTHER }))).to.include({
      code: 'idempotency_conflict',
    });
    expect(() => held.registry.findSubmitted('a', OTHER)).to.throw('was used with another request');
    expect(held.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('accepts the key again once its run was evicted or forgotten', async () => {
    const limits = { maxRuns: 10, ttlMs: 1000, maxEvents: 0 };
    const held = new HeldRuns({ retention: limits });
    const first = await held.submit('a', { idempotency: KEY });
    await held.end(first);
    held.clock.advance(1000);
    expect(held.registry.findSubmitted('a', OTHER)).to.equal(undefined);
    const second = await held.submit('a', { idempotency: OTHER });
    expect(second).not.to.equal(first);
    held.registry.forget(second);
    expect(held.registry.findSubmitted('a', KEY)).to.equal(undefined);
  });

  it('does not store the key of a rejected submission', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await held.submit('a');
    expect(await catchRejection(held.submit('a', { idempotency: KEY }))).to.include({ code: 'queue_full' });
    await held.end(first);
    const second = await held.submit('a', { idempotency: OTHER });
    expect(held.registry.findSubmitted('a', OTHER)).to.equal(second);
  });
});
