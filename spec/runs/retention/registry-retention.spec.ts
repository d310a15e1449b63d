import { expect } from 'chai';
import type { RetentionLimits } from '../../../lib/runs/retention.js';
import { ControlledRuns } from '../controlled-runs.js';

const UNLIMITED: RetentionLimits = { maxRuns: Number.POSITIVE_INFINITY, ttlMs: Number.POSITIVE_INFINITY };

describe('RunRegistry: retention (D26)', () => {
  it('evicts the oldest settled run, and no running one', async () => {
    const fixture = new ControlledRuns({ retention: { ...UNLIMITED, maxRuns: 1 } });
    const [first = '', second = '', third = ''] = await fixture.submitAll(['a', 'a', 'a']);
    await fixture.complete(second);
    expect(fixture.getStatus(second)).to.equal('succeeded');
    await fixture.complete(third);
    expect(() => fixture.registry.record(second)).to.throw('there is no run');
    expect([fixture.getStatus(first), fixture.getStatus(third)]).to.deep.equal(['running', 'succeeded']);
  });

  it('evicts expired runs before every read', async () => {
    const looks: ((fixture: ControlledRuns, runId: string) => unknown)[] = [
      ({ registry }) => expect(registry.list({ limit: 10 }).runs).to.deep.equal([]),
      async ({ registry }) => expect([...(await registry.queries.countByStatus())]).to.deep.equal([]),
      async ({ registry }) => {
        const submission = { key: 'k', fingerprint: 'f' };
        const { isKept } = await registry.submitOnce('default', submission, () =>
          Promise.reject(new Error('never')),
        );
        expect(isKept).to.equal(false);
      },
      ({ registry }, runId) => expect(() => registry.record(runId)).to.throw('there is no run'),
      ({ registry }, runId) => expect(() => registry.queries.version(runId)).to.throw('there is no run'),
      ({ registry }, runId) => expect(() => registry.queries.events(runId)).to.throw('there is no run'),
    ];
    for (const look of looks) {
      const fixture = new ControlledRuns({ retention: { ...UNLIMITED, ttlMs: 60_000 } });
      const runId = await fixture.submit('default', { idempotency: { key: 'k', fingerprint: 'f' } });
      fixture.clock.advance(100_000);
      await fixture.complete(runId);
      fixture.clock.advance(59_999);
      expect(fixture.getStatus(runId)).to.equal('succeeded');
      fixture.clock.advance(1);
      await look(fixture, runId);
    }
  });

  it('does not count a run that was forgotten while running', async () => {
    const fixture = new ControlledRuns({ retention: { ...UNLIMITED, maxRuns: 1 } });
    const [first = '', second = ''] = await fixture.submitAll(['a', 'a']);
    await fixture.complete(first);
    fixture.registry.forget(second);
    await fixture.waitUntilIdle();
    expect(fixture.getStatus(first)).to.equal('succeeded');
  });

  it('resolves settled() with the record although no run is kept', async () => {
    const fixture = new ControlledRuns({ retention: { ...UNLIMITED, maxRuns: 0 } });
    const runId = await fixture.submit();
    const settled = fixture.registry.settled(runId);
    fixture.findCall(runId).resolve('done');
    expect((await settled).status).to.equal('succeeded');
    await fixture.waitUntilIdle();
    expect(() => fixture.registry.record(runId)).to.throw('there is no run');
  });

  it('ignores a log line of a tool after the run has settled (D30)', async () => {
    const fixture = new ControlledRuns({ eventBuffer: 100, retention: UNLIMITED });
    const runId = await fixture.submitAndComplete();
    const { size } = fixture.registry.queries.events(runId);
    fixture.findCall(runId).context.log('too late');
    expect(fixture.registry.queries.events(runId).size).to.equal(size);
    expect(fixture.registry.queries.events(runId).readAfter(0, 100).events.at(-1)).to.include({
      kind: 'run',
      status: 'succeeded',
    });
  });
});
