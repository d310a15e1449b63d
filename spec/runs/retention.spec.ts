import { expect } from 'chai';
import fc from 'fast-check';
import type { LiveEvent } from '../../lib/execution/event.js';
import { EventLog } from '../../lib/runs/event-log.js';
import { Retention, type RetentionLimits } from '../../lib/runs/retention.js';
import { ManualClock } from '../support/manual-clock.js';
import { HeldRuns } from './held-runs.js';

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

describe('the registry and how long it keeps runs (D26)', () => {
  it('forgets the oldest settled run, and none that is at work', async () => {
    const held = new HeldRuns({ retention: { ...UNLIMITED, keep: 1 } });
    const [first = '', second = '', third = ''] = await held.submitAll(['a', 'a', 'a']);
    await held.end(second);
    expect(held.statusOf(second)).to.equal('succeeded');
    await held.end(third);
    expect(() => held.registry.record(second)).to.throw('there is no run');
    expect([held.statusOf(first), held.statusOf(third)]).to.deep.equal(['running', 'succeeded']);
  });

  it('forgets by time in every look at it', async () => {
    const looks: ((held: HeldRuns, runId: string) => unknown)[] = [
      ({ registry }) => expect(registry.list({ limit: 10 }).runs).to.deep.equal([]),
      ({ registry }) => expect([...registry.statuses()]).to.deep.equal([]),
      ({ registry }) =>
        expect(registry.submitted('default', { key: 'k', fingerprint: 'f' })).to.equal(undefined),
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

  it('gives the record to whoever waits, though no run is kept', async () => {
    const held = new HeldRuns({ retention: { ...UNLIMITED, keep: 0 } });
    const runId = await held.submit();
    const settled = held.registry.settled(runId);
    held.callOf(runId).resolve('done');
    expect((await settled).status).to.equal('succeeded');
    await held.filled();
    expect(() => held.registry.record(runId)).to.throw('there is no run');
  });

  it('counts what a tool says too late in no budget (D30)', async () => {
    const held = new HeldRuns({ eventBuffer: 100, retention: { ...UNLIMITED, events: 1000 } });
    const runId = await held.submit();
    await held.end(runId);
    const { size } = held.registry.events(runId);
    held.callOf(runId).context.log('too late');
    expect(held.registry.events(runId).size).to.equal(size);
    expect(held.registry.events(runId).after(0, 100).events.at(-1)).to.include({
      kind: 'run',
      status: 'succeeded',
    });
  });
});
