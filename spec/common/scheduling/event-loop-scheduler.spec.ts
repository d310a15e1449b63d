import { expect } from 'chai';
import fc from 'fast-check';
import { EventLoopScheduler } from '../../../lib/common/scheduling/event-loop-scheduler.js';
import { cases } from '../../support/measuring/cases.js';

describe('EventLoopScheduler', () => {
  /** The tenants in the order in which they were served. */
  let order: string[];
  let now: number;
  let slice: { isOver: boolean; start(): void };
  let scheduler: EventLoopScheduler;
  /** Ends the rest of the tenants that work hard; undefined when they do not rest. */
  let resume: (() => void) | undefined;

  let restMs: number | undefined;
  const timer = {
    setTimeout(next: () => void, ms: number): void {
      resume = next;
      restMs = ms;
    },
  };

  function createScheduler(mayRest = false): EventLoopScheduler {
    const clock = { monotonicNow: () => now };
    const created = new EventLoopScheduler(slice, clock, { headStartMs: 50, startLater: setImmediate });
    if (mayRest) created.allowRests(timer);
    return created;
  }

  beforeEach(() => {
    order = [];
    now = 0;
    slice = { isOver: false, start: () => undefined };
    resume = undefined;
    scheduler = createScheduler();
  });

  /** Lets a tenant do steps one after another, each of which waits for the one before. */
  async function work(tenantId: string, { steps, ms }: { steps: number; ms: number }): Promise<void> {
    for (let step = 0; step < steps; step++) {
      await scheduler.wait(tenantId, 'tasks');
      order.push(tenantId);
      now += ms;
    }
  }

  it('serves the tenant first that has had least of the event loop lately, not the next in turn (D25)', async () => {
    slice.isOver = true;
    const long = [work('alice', { steps: 20, ms: 8 }), work('carol', { steps: 20, ms: 8 })];
    await nextTurn(() => order.length >= 4);
    const served = order.length;
    await work('bob', { steps: 5, ms: 1 });
    expect(order.slice(served, served + 5)).to.deep.equal(['bob', 'bob', 'bob', 'bob', 'bob']);
    await Promise.all(long);
  });

  it('keeps the order of the work of one tenant', async () => {
    const served: number[] = [];
    await new Promise<void>((resolve) => {
      for (let index = 0; index < 5000; index++) {
        scheduler.defer('alice', 'tasks', () => {
          if (served.push(index) === 5000) resolve();
        });
      }
    });
    expect(served).to.deep.equal(Array.from({ length: 5000 }, (_, index) => index));
  });

  it('gives tenants with much to do the same time, however long their steps are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 2, maxLength: 6 }),
        async (costs) => {
          now = 0;
          scheduler = createScheduler();
          const used = costs.map(() => 0);
          let isOver = false;
          await Promise.all(
            costs.map(async (ms, index) => {
              while (!isOver) {
                await scheduler.wait(`tenant ${index}`, 'tasks');
                now += ms;
                used[index] = (used[index] ?? 0) + ms;
                if (now > 2000) isOver = true;
              }
            }),
          );
          expect(Math.max(...used) - Math.min(...used)).to.be.at.most(30);
        },
      ),
      cases(30),
    );
  });

  it('lets a tenant that had rested go before others for the time of its head start, and then takes turns', async () => {
    slice.isOver = true;
    const alice = work('alice', { steps: 400, ms: 5 });
    await nextTurn(() => order.length >= 100);
    const served = order.length;
    await work('bob', { steps: 40, ms: 5 });
    const aliceMeanwhile = order.slice(served).filter((tenant) => tenant === 'alice').length;
    expect(aliceMeanwhile).to.be.within(25, 32);
    await alice;
  });

  describe('while a tenant asks for little', () => {
    const passTurns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
    };

    beforeEach(async () => {
      scheduler = createScheduler(true);
      slice.isOver = true;
      void work('alice', { steps: 100, ms: 2 });
      await nextTurn(() => order.length >= 40);
    });

    it('lets those rest that work hard, after 4 ms of work, and serves that tenant meanwhile', async () => {
      expect(resume).to.equal(undefined);
      await work('bob', { steps: 1, ms: 1 });
      await nextTurn(() => resume !== undefined);
      const served = order.length;
      await passTurns(5);
      expect(order).to.have.length(served);
      await work('bob', { steps: 3, ms: 1 });
      expect(order.slice(served)).to.deep.equal(['bob', 'bob', 'bob']);
      resume?.();
      await nextTurn(() => order.length >= served + 5);
      expect(order.slice(served + 3)).to.deep.equal(['alice', 'alice']);
      await passTurns(5);
      expect(order).to.have.length(served + 5);
    });

    it('lets nobody rest once that tenant is gone', async () => {
      await work('bob', { steps: 1, ms: 1 });
      await nextTurn(() => resume !== undefined);
      now += 250;
      resume?.();
      resume = undefined;
      await nextTurn(() => order.length >= 60);
      expect(resume).to.equal(undefined);
    });
  });

  it('lets those rest that work hard for as long as they have worked, and no longer than 20 ms', async () => {
    scheduler = createScheduler(true);
    await work('alice', { steps: 40, ms: 2 });
    const endRest = (): void => {
      const next = resume;
      resume = undefined;
      next?.();
    };
    const restAfter = async (ms: number): Promise<number | undefined> => {
      await work('bob', { steps: 1, ms: 1 });
      endRest();
      scheduler.defer('alice', 'tasks', () => (now += ms));
      await nextTurn(() => resume !== undefined);
      endRest();
      return restMs;
    };
    expect(await restAfter(9)).to.be.within(9, 13);
    expect(await restAfter(100)).to.equal(20);
  });

  it('lets nobody rest for callers without a tenant', async () => {
    scheduler = createScheduler(true);
    slice.isOver = true;
    const alice = work('alice', { steps: 100, ms: 2 });
    await nextTurn(() => order.length >= 40);
    await work('', { steps: 1, ms: 1 });
    await alice;
    expect(resume).to.equal(undefined);
  });

  it('lets nobody rest when all work hard', async () => {
    scheduler = createScheduler(true);
    slice.isOver = true;
    await Promise.all(['alice', 'carol'].map((tenant) => work(tenant, { steps: 50, ms: 2 })));
    expect(resume).to.equal(undefined);
  });

  it('forgets what a tenant has had once it has not worked for a second', async () => {
    await work('alice', { steps: 10, ms: 5 });
    await new Promise(setImmediate);
    now += 2000;
    await work('bob', { steps: 1, ms: 1 });
    await new Promise(setImmediate);
    const both = [work('bob', { steps: 1, ms: 1 }), work('alice', { steps: 1, ms: 1 })];
    await Promise.all(both);
    expect(order.slice(-2)).to.deep.equal(['alice', 'bob']);
  });

  it('serves at least one step in each turn of the event loop, and no more when the slice is over', async () => {
    slice.isOver = true;
    const served = work('alice', { steps: 3, ms: 1 });
    const afterTurns: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      await new Promise(setImmediate);
      afterTurns.push(order.length);
    }
    await served;
    expect(afterTurns.every((count, turn) => count <= turn + 1)).to.equal(true);
    expect(order).to.have.length(3);
  });

  it('goes on with others when a step throws, which the process learns as a rejection', async () => {
    const listeners = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    const thrown = new Promise((resolve) => process.once('unhandledRejection', resolve));
    try {
      scheduler.defer('alice', 'tasks', () => {
        throw new Error('a bug');
      });
      await work('bob', { steps: 2, ms: 1 });
      expect(await thrown).to.have.property('message', 'a bug');
    } finally {
      for (const listener of listeners) process.on('unhandledRejection', listener);
    }
    expect(order).to.deep.equal(['bob', 'bob']);
  });

  it('counts the time of the promises that a step resolves', async () => {
    const first = scheduler.wait('alice', 'tasks').then(async () => {
      await Promise.resolve();
      now += 100;
    });
    await first;
    const both = [work('alice', { steps: 1, ms: 1 }), work('bob', { steps: 1, ms: 1 })];
    await Promise.all(both);
    expect(order).to.deep.equal(['bob', 'alice']);
  });
});

/** Resolves in the first turn of the event loop in which `isReached` returns true. */
async function nextTurn(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise(setImmediate);
}
