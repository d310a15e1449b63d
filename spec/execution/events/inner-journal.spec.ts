import { expect } from 'chai';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { InnerJournal, Journal } from '../../../lib/execution/events/journal.js';
import { ManualClock } from '../../support/manual-clock.js';

describe('the journal of a run within another', () => {
  const clock = new ManualClock();
  const LOG = { kind: 'log', task_id: 't', message: 'hello' } as const;

  function outerJournal(): { outer: Journal; heard: LiveEvent[] } {
    const outer = new Journal('run-1', clock, true);
    const heard: LiveEvent[] = [];
    outer.listen((event) => void heard.push(event));
    return { outer, heard };
  }

  it('writes into the outer one, with its place, and numbers go on', () => {
    const { outer, heard } = outerJournal();
    outer.write({ kind: 'run', status: 'running' });
    new InnerJournal(outer, { sub_pipeline: 'a' }, clock).write(LOG);
    expect(heard[1]).to.deep.include({ ...LOG, seq: 2, run_id: 'run-1', sub_pipeline: 'a' });
  });

  it('makes the status of a sub-pipeline of what would read as that of the run', () => {
    const { outer, heard } = outerJournal();
    new InnerJournal(outer, { sub_pipeline: 'a' }, clock).write({
      kind: 'run',
      status: 'failed',
      error: 'boom',
    });
    expect(heard[0]).to.deep.include({
      kind: 'sub_pipeline',
      sub_pipeline: 'a',
      status: 'failed',
      error: 'boom',
    });
  });

  it('says nothing of the status of a run inside a task', () => {
    const { outer, heard } = outerJournal();
    new InnerJournal(outer, { within: ['t'] }, clock).write({ kind: 'run', status: 'failed' });
    expect(heard).to.deep.equal([]);
  });

  it('names the tasks that it is within, the outermost first, and the sub-pipeline of them all', () => {
    const { outer, heard } = outerJournal();
    const ofPlan = new InnerJournal(outer, { sub_pipeline: 'a' }, clock);
    const ofTask = new InnerJournal(ofPlan, { within: ['t[1]'] }, clock);
    new InnerJournal(ofTask, { within: ['u'] }, clock).write(LOG);
    expect(heard[0]).to.deep.include({ sub_pipeline: 'a', within: ['t[1]', 'u'], task_id: 't' });
  });

  it('keeps nothing, and is read when the outer one is', () => {
    const { outer } = outerJournal();
    const nested = new InnerJournal(outer, { sub_pipeline: 'a' }, clock);
    nested.write({ kind: 'start', task_id: 't', tool: 'mock', wave: 0 });
    expect(nested.events).to.equal(null);
    expect(outer.events?.map(({ sub_pipeline }) => sub_pipeline)).to.deep.equal(['a']);
    expect(nested.isRead).to.equal(true);
    const unread = new InnerJournal(new Journal('run-2', clock, false), { sub_pipeline: 'a' }, clock);
    expect(unread.isRead).to.equal(false);
  });
});
