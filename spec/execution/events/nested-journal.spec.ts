import { expect } from 'chai';
import { Timeline } from '../../../lib/common/clock.js';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { NestedJournal, Journal } from '../../../lib/execution/events/journal.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('NestedJournal', () => {
  const timeline = new Timeline(new ManualClock());
  const budget = new MemoryBudget(2 ** 20);
  const LOG = { kind: 'log', task_id: 't', message: 'hello' } as const;

  function createOuterJournal(): { outer: Journal; received: LiveEvent[] } {
    const outer = new Journal('run-1', timeline, true, budget);
    const received: LiveEvent[] = [];
    outer.subscribe((event) => void received.push(event));
    return { outer, received };
  }

  it('writes to the outer journal with its location, and continues its numbers', () => {
    const { outer, received } = createOuterJournal();
    outer.write({ kind: 'run', status: 'running' });
    new NestedJournal(outer, { sub_pipeline: 'a' }).write(LOG);
    expect(received[1]).to.deep.include({ ...LOG, seq: 2, run_id: 'run-1', sub_pipeline: 'a' });
  });

  it('turns the status of a sub-run into a sub_pipeline event', () => {
    const { outer, received } = createOuterJournal();
    new NestedJournal(outer, { sub_pipeline: 'a' }).write({ kind: 'run', status: 'failed', error: 'boom' });
    expect(received[0]).to.deep.include({
      kind: 'sub_pipeline',
      sub_pipeline: 'a',
      status: 'failed',
      error: 'boom',
    });
  });

  it('writes no status of a nested run', () => {
    const { outer, received } = createOuterJournal();
    new NestedJournal(outer, { within: ['t'] }).write({ kind: 'run', status: 'failed' });
    expect(received).to.deep.equal([]);
  });

  it('lists the outer tasks, outermost first, and the sub-pipeline', () => {
    const { outer, received } = createOuterJournal();
    const ofPlan = new NestedJournal(outer, { sub_pipeline: 'a' });
    const ofTask = new NestedJournal(ofPlan, { within: ['t[1]'] });
    new NestedJournal(ofTask, { within: ['u'] }).write(LOG);
    expect(received[0]).to.deep.include({ sub_pipeline: 'a', within: ['t[1]', 'u'], task_id: 't' });
  });

  it('collects nothing, and is observed when the outer journal is', () => {
    const { outer } = createOuterJournal();
    const nested = new NestedJournal(outer, { sub_pipeline: 'a' });
    nested.write({ kind: 'start', task_id: 't', tool: 'mock', wave: 0 });
    expect(nested.events).to.equal(null);
    expect(outer.events?.map(({ sub_pipeline }) => sub_pipeline)).to.deep.equal(['a']);
    expect(nested.isObserved).to.equal(true);
    const unread = new NestedJournal(new Journal('run-2', timeline, false, budget), { sub_pipeline: 'a' });
    expect(unread.isObserved).to.equal(false);
  });
});
