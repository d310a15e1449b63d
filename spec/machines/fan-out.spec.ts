import { expect } from 'chai';
import fc from 'fast-check';
import { statusOf } from '../../machines/status.js';
import { FakeWork } from '../support/runs/fake-work.js';
import { type StartedRun, startedRun } from '../support/runs/started-run.js';

function fanOut(items: number, concurrency: number): StartedRun {
  const work = new FakeWork();
  work.expansions.set('f', { items, concurrency });
  return startedRun([['f']], { work });
}

function statusIn({ actor }: StartedRun): string {
  return statusOf(actor.getSnapshot());
}

describe('the fan-out actor', () => {
  it('invokes the tool once for each item, all at once when nothing limits it (rule 7)', () => {
    const run = fanOut(3, Number.POSITIVE_INFINITY);
    expect(run.work.inFlight).to.deep.equal(['f[0]', 'f[1]', 'f[2]']);
    for (const item of [2, 0, 1]) run.work.succeed('f', item);
    expect(statusIn(run)).to.equal('succeeded');
  });

  it('succeeds at once over an empty list (D6)', () => {
    const run = fanOut(0, 1);
    expect(run.work.log).to.deep.equal(['expand f', 'publish f']);
    expect(statusIn(run)).to.equal('succeeded');
  });

  it('starts the next item when a place becomes free', () => {
    const run = fanOut(4, 2);
    expect(run.work.inFlight).to.deep.equal(['f[0]', 'f[1]']);
    run.work.succeed('f', 1);
    expect(run.work.inFlight).to.deep.equal(['f[0]', 'f[2]']);
  });

  it('starts no new item after a failure, and finishes those in flight (D17)', () => {
    const run = fanOut(5, 2);
    run.work.fail('f', 0, 'first');
    expect(run.work.inFlight).to.deep.equal(['f[1]']);
    run.work.fail('f', 1, 'second');
    expect(statusIn(run)).to.equal('failed');
    expect(run.work.log).to.include('publish f (first)').and.not.include('invoke f[2]');
  });

  it('gives the place of a waiting retry to the next item (D18)', () => {
    const run = fanOut(3, 1);
    run.work.find('f', 0).place.wait();
    expect(run.work.inFlight).to.deep.equal(['f[0]', 'f[1]']);
  });

  it('lets a retry wait for a place, and prefers it to a new item (D18)', () => {
    const run = fanOut(3, 1);
    const { place } = run.work.find('f', 0);
    place.wait();
    const attempts: number[] = [];
    place.resume(() => attempts.push(2));
    expect(attempts).to.deep.equal([]);
    run.work.succeed('f', 1);
    expect(attempts).to.deep.equal([2]);
    expect(run.work.inFlight).to.deep.equal(['f[0]']);
    run.work.succeed('f', 0);
    expect(run.work.inFlight).to.deep.equal(['f[2]']);
  });

  it('still retries the items that wait when another has failed (D17)', () => {
    const run = fanOut(5, 2);
    const { place } = run.work.find('f', 0);
    place.wait();
    run.work.fail('f', 1);
    run.work.succeed('f', 2);
    const attempts: number[] = [];
    place.resume(() => attempts.push(2));
    expect(attempts).to.deep.equal([2]);
    expect(statusIn(run)).to.equal('running');
    run.work.succeed('f', 0);
    expect(statusIn(run)).to.equal('failed');
  });

  it('aborts the items in flight and those that wait, and starts no other, when forced (D21)', () => {
    const run = fanOut(5, 2);
    run.work.find('f', 0).place.wait();
    run.actor.send({ type: 'force' });
    expect(run.work.log).to.include.members([
      'abort f[0]',
      'abort f[1]',
      'abort f[2]',
      'publish f (stopped by force)',
    ]);
    expect(run.work.log).to.not.include('invoke f[3]');
    expect(run.actor.getSnapshot().status).to.equal('done');
  });

  it('stops its items when the run is stopped', () => {
    const run = fanOut(3, 2);
    run.actor.stop();
    expect(run.work.log).to.include.members(['abort f[0]', 'abort f[1]']);
  });

  it('shows up to 256 items as actors of their own, and more as chunks', () => {
    const few = itemsIn(fanOut(256, 300));
    expect(Object.keys(few)).to.have.length(256);
    expect(few['7']).to.deep.equal({ src: 'item', snapshot: { status: 'active', value: 'invoking' } });
    const many = itemsIn(fanOut(257, 300));
    expect(Object.keys(many)).to.deep.equal(['chunk-0', 'chunk-1']);
    expect(many['chunk-1']?.snapshot).to.deep.include({ from: 256, to: 257, settled: 0, failed: 0 });
  });

  it('counts what settled in a chunk, and drops the chunk when all of it has', () => {
    const run = fanOut(300, 300);
    for (let item = 0; item < 255; item++) run.work.succeed('f', item);
    expect(itemsIn(run)['chunk-0']?.snapshot).to.deep.include({ settled: 255 });
    run.work.succeed('f', 255);
    expect(Object.keys(itemsIn(run))).to.deep.equal(['chunk-1']);
  });

  it('yields between items when a turn of the event loop is used up', () => {
    const work = new FakeWork();
    work.expansions.set('f', { items: 100, concurrency: 1000 });
    work.isOverdue = true;
    startedRun([['f']], { work });
    expect(work.held).to.have.length(63);
    work.postponed.shift()?.();
    expect(work.held).to.have.length(100);
  });

  it('yields as well when items that settle at once start one another', () => {
    const work = new FakeWork();
    work.expansions.set('f', { items: 200, concurrency: 1 });
    work.isOverdue = true;
    const { actor } = startedRun([['f']], { work });
    let turns = 0;
    while (actor.getSnapshot().status === 'active') {
      while (work.held.length > 0) work.succeed('f', work.held[0]?.item);
      work.postponed.shift()?.();
      turns++;
    }
    expect(turns).to.be.at.least(3);
  });

  it('aborts the item whose own start asks for the end', () => {
    const work = new FakeWork();
    work.expansions.set('f', { items: 3, concurrency: 1 });
    const { actor } = startedRun([['f']], { work });
    const invoke = work.invoke.bind(work);
    work.invoke = (taskId, item, place) => {
      if (item === 1) actor.send({ type: 'force' });
      return invoke(taskId, item, place);
    };
    work.succeed('f', 0);
    expect(work.log).to.include('abort f[1]');
    expect(actor.getSnapshot().status).to.equal('done');
  });

  it('keeps its promises whatever order items settle, wait and come back in', () => {
    const action = fc.record({ pick: fc.nat(), what: fc.constantFrom('succeed', 'fail', 'wait', 'resume') });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(action, { maxLength: 200 }),
        (items, concurrency, actions) => {
          const played = play(fanOut(items, concurrency), concurrency, actions);
          expect(played.settledOnce).to.equal(true);
        },
      ),
    );
  });
});

type Action = { readonly pick: number; readonly what: string };

/** Plays random events on a fan-out, checks the limit after each, then lets everything succeed. */
function play(run: StartedRun, concurrency: number, actions: readonly Action[]): { settledOnce: boolean } {
  const { work } = run;
  const waiting = new Set<number>();
  const returning = new Set<number>();
  const act = ({ pick, what }: Action): void => {
    const held = work.held.filter(({ item }) => !waiting.has(item ?? -1) && !returning.has(item ?? -1));
    expect(held.length).to.be.at.most(concurrency);
    const chosen = held[pick % Math.max(1, held.length)];
    if (what === 'resume') {
      const [item] = waiting;
      if (item === undefined) return;
      waiting.delete(item);
      returning.add(item);
      work.find('f', item).place.resume(() => returning.delete(item));
    } else if (chosen?.item === undefined) return;
    else if (what === 'wait') {
      waiting.add(chosen.item);
      chosen.place.wait();
    } else if (what === 'fail') work.fail('f', chosen.item);
    else work.succeed('f', chosen.item);
  };
  actions.forEach(act);
  while (work.held.length > 0) {
    act({ pick: 0, what: 'resume' });
    act({ pick: 0, what: 'succeed' });
  }
  expect(run.actor.getSnapshot().status).to.equal('done');
  return { settledOnce: work.log.filter((line) => line.startsWith('publish')).length === 1 };
}

type Children = Record<string, { readonly src: string; readonly snapshot: unknown }>;

function itemsIn({ actor }: StartedRun): Children {
  let snapshot: unknown = JSON.parse(JSON.stringify(actor.getPersistedSnapshot()));
  for (const id of ['wave', 'f', 'fan-out'])
    snapshot = (snapshot as { children: Children }).children[id]?.snapshot;
  return (snapshot as { children: Children }).children;
}
