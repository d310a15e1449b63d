import { expect } from 'chai';
import { Submissions } from '../../lib/runs/idempotency.js';
import { rejectionOf } from '../support/rejection.js';
import { HeldRuns } from './held-runs.js';

const KEY = { key: 'k', fingerprint: 'f' };
const OTHER = { key: 'k', fingerprint: 'other' };

describe('submissions by their keys (D36)', () => {
  it('finds the run of a key, and tells another request with the same key', () => {
    const submissions = new Submissions();
    expect(submissions.find('a', KEY)).to.equal(undefined);
    submissions.note('a', KEY, 'run-1');
    expect(submissions.find('a', KEY)).to.equal('run-1');
    expect(() => submissions.find('a', OTHER))
      .to.throw('the Idempotency-Key "k" was used with another request, for run run-1')
      .with.property('code', 'idempotency_conflict');
  });

  it('keeps tenants apart, whatever their names and keys hold', () => {
    const submissions = new Submissions();
    submissions.note('a', { key: 'b\nc', fingerprint: 'f' }, 'run-1');
    expect(submissions.find('b', KEY)).to.equal(undefined);
    expect(submissions.find('a\nb', { key: 'c', fingerprint: 'f' })).to.equal(undefined);
    expect(submissions.find('a', { key: 'b\nc', fingerprint: 'f' })).to.equal('run-1');
  });

  it('forgets the key with its run, and not one that another run has by now', () => {
    const submissions = new Submissions();
    submissions.forget('run-0');
    submissions.note('a', KEY, 'run-1');
    submissions.note('a', OTHER, 'run-2');
    submissions.forget('run-1');
    expect(submissions.find('a', OTHER)).to.equal('run-2');
    submissions.forget('run-2');
    expect(submissions.find('a', KEY)).to.equal(undefined);
  });
});

describe('the registry and repeated submissions (D36)', () => {
  it('makes one run of a key, however many ask at once', async () => {
    const held = new HeldRuns();
    const { registry, pipeline } = held;
    const ids = await Promise.all(
      Array.from({ length: 20 }, () => registry.submit({ pipeline }, { idempotency: KEY })),
    );
    await held.filled();
    expect(new Set(ids).size).to.equal(1);
    expect(held.begun).to.deep.equal([ids[0]]);
    expect(registry.submitted('default', KEY)).to.equal(ids[0]);
    expect(await held.submit('acme', { idempotency: KEY })).not.to.equal(ids[0]);
  });

  it('answers the run though it has settled, and though the queue is full', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await held.submit('a', { idempotency: KEY });
    expect(await held.submit('a', { idempotency: KEY })).to.equal(first);
    await held.end(first);
    expect(await held.submit('a', { idempotency: KEY })).to.equal(first);
    expect(held.begun).to.have.length(1);
  });

  it('refuses another request with the same key before there is a run', async () => {
    const held = new HeldRuns();
    await held.submit('a', { idempotency: KEY });
    expect(await rejectionOf(held.submit('a', { idempotency: OTHER }))).to.include({
      code: 'idempotency_conflict',
    });
    expect(() => held.registry.submitted('a', OTHER)).to.throw('was used with another request');
    expect(held.registry.list({ limit: 10 }).runs).to.have.length(1);
  });

  it('takes the key anew when its run is kept no longer', async () => {
    const limits = { keep: 10, ttlMs: 1000, events: 0 };
    const held = new HeldRuns({ retention: limits });
    const first = await held.submit('a', { idempotency: KEY });
    await held.end(first);
    held.clock.advance(1000);
    expect(held.registry.submitted('a', OTHER)).to.equal(undefined);
    const second = await held.submit('a', { idempotency: OTHER });
    expect(second).not.to.equal(first);
    held.registry.forget(second);
    expect(held.registry.submitted('a', KEY)).to.equal(undefined);
  });

  it('keeps no key of a submission that was refused', async () => {
    const held = new HeldRuns({ admission: { maxRunning: 1, maxQueued: 0 } });
    const first = await held.submit('a');
    expect(await rejectionOf(held.submit('a', { idempotency: KEY }))).to.include({ code: 'queue_full' });
    await held.end(first);
    const second = await held.submit('a', { idempotency: OTHER });
    expect(held.registry.submitted('a', OTHER)).to.equal(second);
  });
});
