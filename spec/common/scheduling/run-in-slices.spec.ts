import { expect } from 'chai';
import { eventLoopBudget } from '../../../lib/execution/run/event-loop-budget.js';
import { eventLoopScheduler } from '../../../lib/common/scheduling/event-loop-scheduler.js';
import { fairYield } from '../../../lib/common/scheduling/run-in-slices.js';
import { endSlice, holdSlices } from '../../support/slices.js';

describe('fairYield', () => {
  let order: string[];

  async function call(tenantId: string, name: string, work: () => void = () => {}): Promise<void> {
    await fairYield(tenantId);
    order.push(name);
    work();
  }

  /** Notes the next turn of the event loop. */
  function noteTurn(name: string): void {
    setImmediate(() => order.push(name));
  }

  beforeEach(async () => {
    order = [];
    holdSlices();
    await new Promise(setImmediate);
  });

  it('resumes the callers of one turn together in the next one, in the order of their calls', async () => {
    noteTurn('turn');
    const calls = ['a', 'b', 'c'].map((name) => call('acme', name));
    expect(order).to.deep.equal([]);
    noteTurn('end of turn');
    await Promise.all(calls);
    expect(order).to.deep.equal(['turn', 'a', 'b', 'c']);
  });

  it('lets short work between requests go on until the time of the turn is used up', async () => {
    expect(eventLoopScheduler.waitWhenOver('acme', 'requests')).to.equal(undefined);
    endSlice();
    noteTurn('turn');
    const paused = eventLoopScheduler.waitWhenOver('acme', 'requests');
    await paused;
    expect(order).to.deep.equal(['turn']);
    expect(eventLoopScheduler.waitWhenOver('acme', 'requests')).to.equal(undefined);
  });

  it('continues in later turns when the time of one is used up, so that other callbacks run in between', async () => {
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        call('acme', name, () => {
          endSlice();
          noteTurn('other');
        }),
      ),
    );
    expect(order.filter((name) => name !== 'other')).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(order.indexOf('other')).to.be.below(order.indexOf('d'));
  });

  it('lets a caller wait for the next turn each time it calls', async () => {
    await call('acme', 'first');
    noteTurn('turn');
    await call('acme', 'second');
    expect(order).to.deep.equal(['first', 'turn', 'second']);
  });

  it('takes tenants in turn: one with a thousand callers does not delay the only one of another (D25)', async () => {
    const many = Array.from({ length: 1000 }, (_, index) => call('alice', `alice ${index}`));
    await Promise.all([...many, call('bob', 'bob')]);
    expect(order.indexOf('bob')).to.equal(1);
  });

  it('resumes callers also while runs use up their time of every turn', async () => {
    let isOver = false;
    const keepBusy = (): void => {
      endSlice();
      if (!isOver && eventLoopBudget.exhausted()) eventLoopBudget.defer(keepBusy);
      else if (!isOver) setImmediate(keepBusy);
    };
    keepBusy();
    for (let step = 0; step < 5; step++) await call('acme', `step ${step}`);
    isOver = true;
    expect(order).to.have.length(5);
  });
});
