import { expect } from 'chai';
import fc from 'fast-check';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { EventLog } from '../../../lib/runs/event-log.js';
import type { RetentionLimits } from '../../../lib/runs/retention.js';
import { Retention } from '../../../lib/runs/retention.js';
import { ManualClock } from '../../support/manual-clock.js';

const UNLIMITED: RetentionLimits = {
  maxRuns: Number.POSITIVE_INFINITY,
  ttlMs: Number.POSITIVE_INFINITY,
  maxEvents: Number.POSITIVE_INFINITY,
};

class RetentionFixture {
  readonly clock = new ManualClock();
  readonly evicted: string[] = [];
  readonly logs = new Map<string, EventLog>();
  readonly retention: Retention;

  constructor(limits: Partial<RetentionLimits>) {
    this.retention = new Retention(
      { ...UNLIMITED, ...limits },
      this.clock,
      (id) => void this.evicted.push(id),
    );
  }

  keep(runId: string, events = 0): void {
    const log = new EventLog(1000);
    for (let seq = 1; seq <= events; seq++) {
      log.append({
        kind: 'log',
        seq,
        time: '',
        run_id: runId,
        task_id: 'a',
        message: '',
      } satisfies LiveEvent);
    }
    log.close();
    this.logs.set(runId, log);
    this.retention.add(runId, log);
  }

  /** The number of kept events per run. */
  get sizes(): number[] {
    return [...this.logs.values()].map((log) => log.size);
  }
}

describe('Retention (D26)', () => {
  it('keeps maxRuns runs and evicts the one that settled first', () => {
    const kept = new RetentionFixture({ maxRuns: 2 });
    for (const runId of ['a', 'b', 'c', 'd']) kept.keep(runId);
    expect(kept.evicted).to.deep.equal(['a', 'b']);
    kept.retention.delete('c');
    kept.keep('e');
    expect(kept.evicted).to.deep.equal(['a', 'b']);
    kept.keep('f');
    expect(kept.evicted).to.deep.equal(['a', 'b', 'd']);
  });

  it('keeps no run when maxRuns is 0', () => {
    const kept = new RetentionFixture({ maxRuns: 0 });
    kept.keep('a');
    expect(kept.evicted).to.deep.equal(['a']);
  });

  it('evicts each run when its TTL expires, and no other', () => {
    const kept = new RetentionFixture({ ttlMs: 1000 });
    kept.keep('a');
    kept.clock.advance(400);
    kept.keep('b');
    kept.clock.advance(599);
    kept.retention.sweep();
    expect(kept.evicted).to.deep.equal([]);
    kept.clock.advance(1);
    kept.retention.sweep();
    expect(kept.evicted).to.deep.equal(['a']);
    kept.clock.advance(400);
    kept.retention.sweep();
    kept.retention.sweep();
    expect(kept.evicted).to.deep.equal(['a', 'b']);
  });

  it('drops the events of the oldest runs first and keeps the runs', () => {
    const kept = new RetentionFixture({ maxEvents: 10 });
    kept.keep('a', 4);
    kept.keep('b', 4);
    expect(kept.sizes).to.deep.equal([4, 4]);
    kept.keep('c', 4);
    expect(kept.sizes).to.deep.equal([0, 4, 4]);
    kept.retention.delete('b');
    kept.keep('d', 6);
    expect(kept.sizes).to.deep.equal([0, 4, 4, 6]);
    kept.keep('e', 11);
    expect(kept.sizes).to.deep.equal([0, 4, 0, 0, 0]);
    expect(kept.evicted).to.deep.equal([]);
  });

  it('keeps all three limits and evicts runs in the order in which they settled', () => {
    const acts = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('keep' as const), events: fc.nat(8) }),
        fc.record({ kind: fc.constant('delete' as const), at: fc.nat(30) }),
        fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(300) }),
      ),
      { maxLength: 60 },
    );
    const limits = fc.record({
      maxRuns: fc.nat(6),
      ttlMs: fc.integer({ min: 1, max: 1000 }),
      maxEvents: fc.nat(20),
    });
    fc.assert(
      fc.property(limits, acts, (limit, all) => {
        const kept = new RetentionFixture(limit);
        const settledAt: number[] = [];
        const gone = new Set<number>();
        for (const act of all) {
          if (act.kind === 'wait') kept.clock.advance(act.ms);
          else if (act.kind === 'keep') {
            settledAt.push(kept.clock.now());
            kept.keep(`${settledAt.length - 1}`, act.events);
          } else if (act.at < settledAt.length && !kept.evicted.includes(`${act.at}`)) {
            gone.add(act.at);
            kept.retention.delete(`${act.at}`);
          }
          kept.retention.sweep();
          const evicted = kept.evicted.map(Number);
          expect(evicted).to.deep.equal(evicted.toSorted((a, b) => a - b));
          const left = settledAt.flatMap((at, id) =>
            gone.has(id) || evicted.includes(id) ? [] : [{ at, id }],
          );
          expect(left.length).to.be.at.most(limit.maxRuns);
          for (const { at } of left) expect(kept.clock.now() - at).to.be.below(limit.ttlMs);
          const events = left.map(({ id }) => kept.logs.get(`${id}`)?.size ?? 0);
          expect(events.reduce((sum, size) => sum + size, 0)).to.be.at.most(limit.maxEvents);
        }
      }),
      { numRuns: 300 },
    );
  });
});
