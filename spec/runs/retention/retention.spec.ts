import { expect } from 'chai';
import fc from 'fast-check';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { EventLog } from '../../../lib/runs/event-log.js';
import type { RetentionLimits } from '../../../lib/runs/registry-options.js';
import { Retention } from '../../../lib/runs/retention.js';
import { ManualClock } from '../../support/manual-clock.js';

const UNLIMITED: RetentionLimits = {
  keep: Number.POSITIVE_INFINITY,
  ttlMs: Number.POSITIVE_INFINITY,
  events: Number.POSITIVE_INFINITY,
};

class Kept {
  readonly clock = new ManualClock();
  readonly forgotten: string[] = [];
  readonly logs = new Map<string, EventLog>();
  readonly retention: Retention;

  constructor(limits: Partial<RetentionLimits>) {
    this.retention = new Retention(
      { ...UNLIMITED, ...limits },
      this.clock,
      (id) => void this.forgotten.push(id),
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
    this.retention.keep(runId, log);
  }

  /** How many events each run still has. */
  get sizes(): number[] {
    return [...this.logs.values()].map((log) => log.size);
  }
}

describe('how long settled runs are kept (D26)', () => {
  it('keeps so many, and lets the one go that settled first', () => {
    const kept = new Kept({ keep: 2 });
    for (const runId of ['a', 'b', 'c', 'd']) kept.keep(runId);
    expect(kept.forgotten).to.deep.equal(['a', 'b']);
    kept.retention.release('c');
    kept.keep('e');
    expect(kept.forgotten).to.deep.equal(['a', 'b']);
    kept.keep('f');
    expect(kept.forgotten).to.deep.equal(['a', 'b', 'd']);
  });

  it('keeps none when none is to be kept', () => {
    const kept = new Kept({ keep: 0 });
    kept.keep('a');
    expect(kept.forgotten).to.deep.equal(['a']);
  });

  it('lets go of each when its time is over, and of no other', () => {
    const kept = new Kept({ ttlMs: 1000 });
    kept.keep('a');
    kept.clock.advance(400);
    kept.keep('b');
    kept.clock.advance(599);
    kept.retention.sweep();
    expect(kept.forgotten).to.deep.equal([]);
    kept.clock.advance(1);
    kept.retention.sweep();
    expect(kept.forgotten).to.deep.equal(['a']);
    kept.clock.advance(400);
    kept.retention.sweep();
    kept.retention.sweep();
    expect(kept.forgotten).to.deep.equal(['a', 'b']);
  });

  it('takes the events of the oldest runs first, and lets the runs stand', () => {
    const kept = new Kept({ events: 10 });
    kept.keep('a', 4);
    kept.keep('b', 4);
    expect(kept.sizes).to.deep.equal([4, 4]);
    kept.keep('c', 4);
    expect(kept.sizes).to.deep.equal([0, 4, 4]);
    kept.retention.release('b');
    kept.keep('d', 6);
    expect(kept.sizes).to.deep.equal([0, 4, 4, 6]);
    kept.keep('e', 11);
    expect(kept.sizes).to.deep.equal([0, 4, 0, 0, 0]);
    expect(kept.forgotten).to.deep.equal([]);
  });

  it('holds all three limits, whatever comes, and forgets in the order in which runs settled', () => {
    const acts = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('keep' as const), events: fc.nat(8) }),
        fc.record({ kind: fc.constant('release' as const), at: fc.nat(30) }),
        fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(300) }),
      ),
      { maxLength: 60 },
    );
    const limits = fc.record({
      keep: fc.nat(6),
      ttlMs: fc.integer({ min: 1, max: 1000 }),
      events: fc.nat(20),
    });
    fc.assert(
      fc.property(limits, acts, (limit, all) => {
        const kept = new Kept(limit);
        const settledAt: number[] = [];
        const gone = new Set<number>();
        for (const act of all) {
          if (act.kind === 'wait') kept.clock.advance(act.ms);
          else if (act.kind === 'keep') {
            settledAt.push(kept.clock.now());
            kept.keep(`${settledAt.length - 1}`, act.events);
          } else if (act.at < settledAt.length && !kept.forgotten.includes(`${act.at}`)) {
            gone.add(act.at);
            kept.retention.release(`${act.at}`);
          }
          kept.retention.sweep();
          const forgotten = kept.forgotten.map(Number);
          expect(forgotten).to.deep.equal(forgotten.toSorted((a, b) => a - b));
          const here = settledAt.flatMap((at, id) =>
            gone.has(id) || forgotten.includes(id) ? [] : [{ at, id }],
          );
          expect(here.length).to.be.at.most(limit.keep);
          for (const { at } of here) expect(kept.clock.now() - at).to.be.below(limit.ttlMs);
          const events = here.map(({ id }) => kept.logs.get(`${id}`)?.size ?? 0);
          expect(events.reduce((sum, size) => sum + size, 0)).to.be.at.most(limit.events);
        }
      }),
      { numRuns: 300 },
    );
  });
});
