import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import {
  type EvictionReason,
  Retention,
  type RetentionLimits,
  UNLIMITED_RETENTION,
} from '../../../lib/runs/retention.js';
import { ManualClock } from '../../support/manual-clock.js';
import { cases } from '../../support/measuring/cases.js';

/** A settled run, as retention sees it. */
class SettledRun {
  readonly name: string;
  readonly run: {
    readonly id: string;
    readonly tenantId: string;
    readonly budget: MemoryBudget;
    readonly finishedAt: number | null;
  };
  isBeingRead = false;

  constructor(name: string, tenantId: string, budget: MemoryBudget, finishedAt: number | null = null) {
    this.name = name;
    this.run = { id: name, tenantId, budget, finishedAt };
  }
}

class RetentionFixture {
  readonly clock = new ManualClock();
  readonly evicted: string[] = [];
  readonly reasons: EvictionReason[] = [];
  readonly runs = new Map<string, SettledRun>();
  readonly memory: MemoryPool;
  readonly retention: Retention<SettledRun>;

  constructor(limits: Partial<RetentionLimits>, memory = new MemoryPool({ total: 1000 })) {
    this.memory = memory;
    this.retention = new Retention(
      { ...UNLIMITED_RETENTION, ...limits },
      this.clock,
      memory,
      (run, reason) => {
        run.run.budget.close();
        this.evicted.push(run.name);
        this.reasons.push(reason);
      },
    );
  }

  keep(name: string, tenantId = 'alice', bytes = 0): void {
    const budget = new MemoryBudget(0, this.memory, tenantId);
    expect(budget.admit(bytes)).to.equal(true);
    const run = new SettledRun(name, tenantId, budget);
    this.runs.set(name, run);
    this.retention.add(run);
  }

  /** @param ages by name, in milliseconds since the run settled */
  restore(ages: Readonly<Record<string, number>>): void {
    const runs = Object.entries(ages).map(([name, age]) => {
      const budget = new MemoryBudget(0, this.memory, 'alice');
      return new SettledRun(name, 'alice', budget, this.clock.now() - age);
    });
    this.retention.restore(runs);
  }

  find(name: string): SettledRun {
    const run = this.runs.get(name);
    if (run === undefined) throw new Error(`there is no run ${name}`);
    return run;
  }

  delete(name: string): void {
    this.retention.delete(this.find(name));
  }
}

describe('Retention (D26)', () => {
  it('counts the time since runs have settled in another process, and evicts the oldest of them first (D68)', () => {
    const kept = new RetentionFixture({ maxRuns: 2, ttlMs: 1000 });
    kept.restore({ young: 100, expired: 1001, old: 500, older: 600, ahead: -5000 });
    expect(kept.evicted).to.deep.equal(['expired', 'older', 'old']);
    kept.clock.advance(900);
    kept.retention.sweep();
    expect(kept.evicted).to.deep.equal(['expired', 'older', 'old', 'young']);
  });

  it('keeps maxRuns runs and evicts the one that settled first', () => {
    const kept = new RetentionFixture({ maxRuns: 2 });
    for (const name of ['a', 'b', 'c', 'd']) kept.keep(name);
    expect(kept.evicted).to.deep.equal(['a', 'b']);
    kept.delete('c');
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

  it('says why it evicts a run: its age, the number or the bytes of all, or others that need memory', () => {
    const kept = new RetentionFixture({ ttlMs: 1000, maxRuns: 2, maxBytes: 600 });
    kept.keep('old');
    kept.clock.advance(1000);
    for (const name of ['a', 'b', 'c']) kept.keep(name);
    kept.keep('large', 'bob', 700);
    expect(kept.reasons).to.deep.equal(['age', 'number', 'number', 'bytes']);
    kept.keep('small', 'bob', 500);
    expect(new MemoryBudget(0, kept.memory, 'carol').admit(900)).to.equal(true);
    expect(kept.reasons.at(-1)).to.equal('memory');
  });

  it('keeps both limits and evicts the runs of one tenant in the order in which they settled', () => {
    const acts = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('keep' as const) }),
        fc.record({ kind: fc.constant('delete' as const), at: fc.nat(30) }),
        fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(300) }),
      ),
      { maxLength: 60 },
    );
    const limits = fc.record({ maxRuns: fc.nat(6), ttlMs: fc.integer({ min: 1, max: 1000 }) });
    fc.assert(
      fc.property(limits, acts, (limit, all) => {
        const kept = new RetentionFixture(limit);
        const settledAt: number[] = [];
        const gone = new Set<number>();
        for (const act of all) {
          if (act.kind === 'wait') kept.clock.advance(act.ms);
          else if (act.kind === 'keep') {
            settledAt.push(kept.clock.now());
            kept.keep(`${settledAt.length - 1}`);
          } else if (act.at < settledAt.length && !kept.evicted.includes(`${act.at}`)) {
            gone.add(act.at);
            kept.delete(`${act.at}`);
          }
          kept.retention.sweep();
          const evicted = kept.evicted.map(Number);
          expect(evicted).to.deep.equal(evicted.toSorted((a, b) => a - b));
          const left = settledAt.flatMap((at, id) => (gone.has(id) || evicted.includes(id) ? [] : [at]));
          expect(left.length).to.be.at.most(limit.maxRuns);
          for (const at of left) expect(kept.clock.now() - at).to.be.below(limit.ttlMs);
        }
      }),
      cases(300),
    );
  });
});

describe('Retention of several tenants (D25, D26)', () => {
  it('evicts the oldest run of the tenant that keeps most runs', () => {
    const kept = new RetentionFixture({ maxRuns: 4 });
    kept.keep('bob', 'bob');
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) kept.keep(name, 'alice');
    expect(kept.evicted).to.deep.equal(['a1', 'a2']);
  });

  it('evicts runs of the tenant that keeps most bytes when another one needs memory', () => {
    const kept = new RetentionFixture({});
    kept.keep('bob', 'bob', 300);
    kept.keep('a1', 'alice', 400);
    kept.keep('a2', 'alice', 250);
    expect(kept.memory.tryReserve('carol', 100)).to.equal(true);
    expect(kept.evicted).to.deep.equal(['a1']);
    expect(kept.memory.tryReserve('carol', 500)).to.equal(true);
    expect(kept.evicted).to.deep.equal(['a1', 'bob']);
    expect(kept.memory.usedBytes).to.equal(850);
  });

  it('leaves a tenant the memory that it is guaranteed, and takes that of the one who asks', () => {
    const kept = new RetentionFixture({}, new MemoryPool({ total: 1000, guaranteed: 100 }));
    kept.keep('bob', 'bob', 100);
    kept.keep('a1', 'alice', 800);
    expect(kept.memory.tryReserve('alice', 900)).to.equal(true);
    expect(kept.evicted).to.deep.equal(['a1']);
    expect(kept.memory.tryReserve('alice', 1)).to.equal(false);
    expect(kept.evicted).to.deep.equal(['a1']);
  });

  it('does not evict a run for memory that a response still needs', () => {
    const kept = new RetentionFixture({});
    kept.keep('read', 'alice', 600);
    kept.find('read').isBeingRead = true;
    kept.keep('free', 'alice', 300);
    expect(kept.memory.tryReserve('bob', 300)).to.equal(true);
    expect(kept.evicted).to.deep.equal(['free']);
    expect(kept.memory.tryReserve('bob', 300)).to.equal(false);
  });

  it('evicts nothing for more memory than there is', () => {
    const kept = new RetentionFixture({});
    kept.keep('a', 'alice', 500);
    expect(kept.memory.tryReserve('bob', 1001)).to.equal(false);
    expect(kept.evicted).to.deep.equal([]);
  });
});
