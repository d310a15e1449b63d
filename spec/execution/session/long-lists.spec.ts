import { expect } from 'chai';
import type { EventLoopBudget } from '../../../machines/ports.js';
import type { Json } from '../../../lib/common/json/json.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import { MemoryBlackboard } from '../../../lib/execution/session/memory-blackboard.js';
import { SessionOverrides } from '../../../lib/execution/session/session-overrides.js';
import { Session } from '../../../lib/execution/session/session.js';

const LENGTH = 100_000;

/** A budget that is exhausted whenever somebody asks. */
class ExhaustedBudget implements EventLoopBudget {
  pauses = 0;

  exhausted(): boolean {
    return true;
  }

  defer(next: () => void): void {
    this.pauses++;
    queueMicrotask(next);
  }
}

async function openSession(blackboard: MemoryBlackboard, owns: boolean): Promise<Session> {
  const contract = { reads: new Map([['k', { hasFallback: false }]]), stores: new Map() };
  const memory = new MemoryBudget(2 ** 30);
  const session = new Session(
    blackboard,
    owns,
    't',
    new SessionOverrides({}),
    contract as unknown as ConstructorParameters<typeof Session>[4],
    memory,
  );
  await session.readBlackboard(undefined);
  return session;
}

const append = (value: Json) => ({ key: 'k', value, append: true, sizeBytes: 8 });

describe('An append to a long list on the blackboard (D23)', () => {
  const list: Json[] = Array.from({ length: LENGTH }, (_, position) => Object.freeze({ position }));
  Object.freeze(list);

  it('copies no element when the blackboard belongs to the run, because nobody else writes to it', async () => {
    const session = await openSession(new MemoryBlackboard(), true);
    const budget = new ExhaustedBudget();
    await session.apply([{ ...append(list), append: false }], budget, false);
    const before = session.values['k'];
    await session.apply([append(1)], budget, false);
    await session.apply([append(2), append(3)], budget, false);
    const after = session.values['k'] as readonly Json[];
    expect(after).to.have.length(LENGTH + 3).and.to.be.frozen;
    expect(after.slice(-3)).to.deep.equal([1, 2, 3]);
    expect(after.every((value, position) => position >= LENGTH || value === list[position])).to.equal(true);
    expect(before).to.have.length(LENGTH);
  });

  it('freezes a value that came from a store or a cache and is not frozen', async () => {
    const session = await openSession(new MemoryBlackboard(), true);
    await session.apply([append({ a: [1] }), append({ a: [2] })], new ExhaustedBudget(), false);
    const stored = session.values['k'] as { a: number[] }[];
    expect(stored).to.deep.equal([{ a: [1] }, { a: [2] }]);
    expect(stored[0]?.a).to.be.frozen;
  });

  it('pauses while its elements are copied when others may write to the blackboard', async () => {
    const blackboard = new MemoryBlackboard();
    await blackboard.write('t', 'k', list);
    const session = await openSession(blackboard, false);
    const budget = new ExhaustedBudget();
    await session.apply([append(1)], budget, false);
    expect(session.values['k']).to.have.length(LENGTH + 1);
    expect(budget.pauses).to.be.at.least(LENGTH / 1000);
  });
});

describe('Many keys that a task stores on the blackboard', () => {
  for (const isAppended of [false, true]) {
    it(`become readable in parts, ${isAppended ? 'also of lists' : 'with a pause after each'}`, async () => {
      const session = await openSession(new MemoryBlackboard(), true);
      const budget = new ExhaustedBudget();
      const writes = Array.from({ length: 10_000 }, (_, position) => ({
        ...append(position),
        key: `k${position % 9000}`,
        append: isAppended,
      }));
      await session.apply(writes, budget, false);
      const { k0, k8999 } = session.values;
      expect([k0, k8999]).to.deep.equal(isAppended ? [[0, 9000], [8999]] : [9000, 8999]);
      expect(Object.keys(session.values)).to.have.length(9000);
      // One for each part of the writes, of what is reserved, and of what is read back.
      expect(budget.pauses).to.be.at.least(10_000 / 256 + 10_000 / 500 + (isAppended ? 10 : 0));
    });
  }
});
