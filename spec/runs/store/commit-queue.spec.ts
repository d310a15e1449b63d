import { expect } from 'chai';
import fc from 'fast-check';
import type { Fact } from '../../../lib/execution/history/fact.js';
import { type Batch, CommitQueue } from '../../../lib/runs/store/commit-queue.js';
import type { StoredRun } from '../../../lib/runs/store/run-store.js';
import { deferred } from '../../support/deferred.js';
import { cases } from '../../support/measuring/cases.js';

const LARGE = 2 ** 20;

function run(id: string, tenantId = 'alice'): StoredRun {
  const submission = {
    kind: 'pipeline' as const,
    definition: { id: 'p' },
    tenant_id: tenantId,
    submitted_keys: { params: [], inputs: [] },
  };
  return { id, number: 1, createdAt: 1, submission };
}

/** A call that has succeeded; the times tell facts apart. */
function outcome(at: number, value = ''): Fact {
  const bytes = value.length;
  return { kind: 'succeeded', at, place: '', task: 't', item: -1, value, writes: [], attempts: 1, bytes };
}

/** Keeps batches, and hands what was kept of each run together again. */
class Kept {
  readonly batches: Batch[] = [];
  readonly queue: CommitQueue;
  /** Set to hold the next commit. */
  hold: Promise<void> | undefined;

  constructor() {
    this.queue = new CommitQueue(async (batch) => {
      await this.hold;
      this.batches.push(batch);
    });
  }

  /** The complete documents of a run. */
  documents(runId: string): unknown[] {
    const documents: string[] = [''];
    for (const { runId: id, text, goesOn } of this.batches.flatMap(({ pieces }) => pieces)) {
      if (id !== runId) continue;
      documents.push((documents.pop() ?? '') + text);
      if (!goesOn) documents.push('');
    }
    documents.pop();
    return documents.map((text) => JSON.parse(text) as unknown);
  }

  times(runId: string): number[] {
    const [, ...lists] = this.documents(runId);
    return (lists as Fact[][]).flat().map(({ at }) => at);
  }
}

describe('CommitQueue (D68)', () => {
  it('keeps what all runs write in one turn with one commit', async () => {
    const kept = new Kept();
    for (const id of ['a', 'b']) {
      kept.queue.add(run(id));
      for (let at = 0; at < 3; at++) kept.queue.append(id, 'alice', outcome(at));
    }
    await kept.queue.idle();
    expect(kept.batches).to.have.length(1);
    expect(kept.batches[0]?.added.map(({ id }) => id)).to.deep.equal(['a', 'b']);
    expect(kept.documents('a')).to.deep.equal([run('a').submission, [outcome(0), outcome(1), outcome(2)]]);
  });

  it('keeps a large value in pieces, with commits of other runs between them', async () => {
    const kept = new Kept();
    kept.queue.add(run('large'));
    kept.queue.append('large', 'alice', outcome(0));
    const value = '\u{1f600}'.repeat(LARGE / 2);
    kept.queue.append('large', 'alice', outcome(1, value));
    kept.queue.append('large', 'alice', outcome(2));
    kept.queue.add(run('small', 'bob'));
    await kept.queue.committed('small');
    expect(kept.times('large')).to.deep.equal([0]);
    await kept.queue.committed('large');
    expect(kept.documents('large').slice(1)).to.deep.equal([[outcome(0)], [outcome(1, value)], [outcome(2)]]);
    expect(Math.max(...kept.batches.flatMap(({ pieces }) => pieces.map(({ text }) => text.length)))).to.equal(
      256 * 1024,
    );
  });

  it('lets tenants take turns, and their runs, with a piece each, however much one of them has written', async () => {
    const kept = new Kept();
    const value = 'x'.repeat(LARGE);
    for (const id of ['a1', 'a2', 'a3']) {
      for (let at = 0; at < 20; at++) kept.queue.append(id, 'alice', outcome(at, value));
    }
    for (let at = 0; at < 10_000; at++) kept.queue.append('a4', 'alice', outcome(at));
    for (const id of ['b1', 'b2']) kept.queue.append(id, 'bob', outcome(0));
    await Promise.all([kept.queue.committed('b1'), kept.queue.committed('b2')]);
    const lengths = kept.batches.map(({ pieces }) => pieces.reduce((sum, { text }) => sum + text.length, 0));
    // Two batches, because nobody fills the first one alone.
    expect(kept.batches).to.have.length.at.most(2);
    expect(Math.max(...lengths)).to.be.at.most(LARGE + 256 * 1024);
    await kept.queue.idle();
    for (const id of ['a1', 'a2', 'a3']) expect(kept.documents(id)).to.have.length(20);
    expect(kept.documents('a4').flat()).to.have.length(10_000);
  });

  it('keeps values whose text is much longer than the memory that they take, and more of them than one text can have', async () => {
    const kept = new Kept();
    const value = '\u0001'.repeat(60_000);
    kept.queue.add(run('a'));
    let text = 0;
    for (let at = 0; at < 200; at++) kept.queue.append('a', 'alice', outcome(at, value));
    await kept.queue.idle();
    for (const { pieces } of kept.batches)
      for (const piece of pieces) text = Math.max(text, piece.text.length);
    // One fact more than a piece.
    expect(text).to.be.at.most(256 * 1024 + 7 * value.length);
    expect(kept.times('a')).to.deep.equal(Array.from({ length: 200 }, (_, at) => at));
  });

  it('keeps nothing more of a run that is removed, also while a large value of it is being kept', async () => {
    const kept = new Kept();
    for (const id of ['gone', 'stays']) kept.queue.add(run(id));
    await kept.queue.idle();
    kept.queue.append('gone', 'alice', outcome(0, 'x'.repeat(8 * LARGE)));
    kept.queue.append('stays', 'alice', outcome(0, 'x'.repeat(LARGE)));
    const first = deferred<void>();
    kept.hold = first.promise;
    kept.queue.append('other', 'bob', outcome(0));
    kept.queue.remove('gone');
    kept.hold = undefined;
    first.resolve();
    await kept.queue.idle();
    expect(kept.times('gone')).to.deep.equal([]);
    expect(kept.times('stays')).to.deep.equal([0]);
  });

  it('keeps all facts of every run in their order, however large they are and whenever they come', async () => {
    const written = fc.array(
      fc.record({
        runId: fc.constantFrom('a', 'b', 'c'),
        size: fc.constantFrom(0, 10, 70_000, 600_000),
        waits: fc.constantFrom('no', 'turn', 'commit'),
      }),
      { maxLength: 25 },
    );
    const keepsOrder = fc.asyncProperty(written, async (facts) => {
      const kept = new Kept();
      const expected: Record<string, number[]> = { a: [], b: [], c: [] };
      for (const runId of Object.keys(expected)) kept.queue.add(run(runId));
      for (const [at, { runId, size, waits }] of facts.entries()) {
        kept.queue.append(runId, runId, outcome(at, 'x'.repeat(size)));
        expected[runId]?.push(at);
        if (waits === 'turn') await new Promise((resolve) => setImmediate(resolve));
        if (waits === 'commit') await kept.queue.committed(runId);
        if (waits === 'commit') expect(kept.times(runId)).to.deep.equal(expected[runId]);
      }
      await kept.queue.idle();
      for (const [runId, times] of Object.entries(expected)) expect(kept.times(runId)).to.deep.equal(times);
    });
    await fc.assert(keepsOrder, cases(40));
  });
});
