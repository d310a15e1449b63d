import { expect } from 'chai';
import type { RetentionLimits } from '../../../lib/runs/registry-options.js';
import { HeldRuns } from '../held-runs.js';

const UNLIMITED: RetentionLimits = {
  maxRuns: Number.POSITIVE_INFINITY,
  ttlMs: Number.POSITIVE_INFINITY,
  maxEvents: Number.POSITIVE_INFINITY,
};

describe('RunRegistry: retention (D26)', () => {
  it('evicts the oldest settled run, and no running one', async () => {
    const held = new HeldRuns({ retention: { ...UNLIMITED, maxRuns: 1 } });
    const [first = '', second = '', third = ''] = await held.submitAll(['a', 'a', 'a']);
    await held.end(second);
    expect(held.statusOf(second)).to.equal('succeeded');
    await held.end(third);
    expect(() => held.registry.record(second)).to.throw('there is no run');
    expect([held.statusOf(first), held.statusOf(third)]).to.deep.equal(['running', 'succeeded']);
  });

  it('evicts expired runs before every read', async () => {
    const looks: ((held: HeldRuns, runId: string) => unknown)[] = [
      ({ registry }) => expect(registry.list({ limit: 10 }).runs).to.deep.equal([]),
      ({ registry }) => expect([...registry.countByStatus()]).to.deep.equal([]),
      ({ registry }) =>
        expect(registry.findSubmitted('default', { key: 'k', fingerprint: 'f' })).to.equal(undefined),
      ({ registry }, runId) => expect(() => registry.record(runId)).to.throw('there is no run'),
      ({ registry }, runId) => expect(() => registry.version(runId)).to.throw('there is no run'),
      ({ registry }, runId) => expect(() => registry.events(runId)).to.throw('there is no run'),
    ];
    for (const look of looks) {
      const held = new HeldRuns({ retention: { ...UNLIMITED, ttlMs: 60_000 } });
      const runId = await held.submit('default', { idempotency: { key: 'k', fingerprint: 'f' } });
      held.clock.advance(100_000);
      await held.end(runId);
      held.clock.advance(59_999);
      expect(held.statusOf(runId)).to.equal('succeeded');
      held.clock.advance(1);
      look(held, runId);
    }
  });

  it('does not count a run that was forgotten while running', async () => {
    const held = new HeldRuns({ retention: { ...UNLIMITED, maxRuns: 1 } });
    const [first = '', second = ''] = await held.submitAll(['a', 'a']);
    await held.end(first);
    held.registry.forget(second);
    await held.filled();
    expect(held.statusOf(first)).to.equal('succeeded');
  });

  it('resolves settled() with the record although no run is kept', async () => {
    const held = new HeldRuns({ retention: { ...UNLIMITED, maxRuns: 0 } });
    const runId = await held.submit();
    const settled = held.registry.settled(runId);
    held.callOf(runId).resolve('done');
    expect((await settled).status).to.equal('succeeded');
    await held.filled();
    expect(() => held.registry.record(runId)).to.throw('there is no run');
  });

  it('ignores a log line of a tool after the run has settled (D30)', async () => {
    const held = new HeldRuns({ eventBuffer: 100, retention: { ...UNLIMITED, maxEvents: 1000 } });
    const runId = await held.submit();
    await held.end(runId);
    const { size } = held.registry.events(runId);
    held.callOf(runId).context.log('too late');
    expect(held.registry.events(runId).size).to.equal(size);
    expect(held.registry.events(runId).readAfter(0, 100).events.at(-1)).to.include({
      kind: 'run',
      status: 'succeeded',
    });
  });
});
