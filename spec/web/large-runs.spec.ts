import { expect } from 'chai';
import { ActorTree } from '../../web/inspect/model/actor-tree.js';
import { EventIndex, findFrom, listTicks } from '../../web/inspect/model/event-index.js';
import { readDetail, RunTimeline, type TimelineEntry } from '../../web/inspect/model/timeline.js';
import { listTreeRows } from '../../web/inspect/model/tree-rows.js';
import { RunScript, writePausedRun } from './run-script.js';

/** A list that counts how often one of its elements is read. */
function counted<T extends object>(list: T): { readonly list: T; readonly reads: () => number } {
  let reads = 0;
  const proxy = new Proxy(list, {
    get: (target, key, receiver) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver) as unknown;
    },
  });
  return { list: proxy, reads: () => reads };
}

/** A task with very many items, of which each has an actor. */
function writeItems(items: number): RunScript {
  const script = new RunScript().create('run', 'run', 'running').create('run/fan-out', 'fan-out', 'invoking');
  for (let item = 0; item < items; item++) script.create(`run/fan-out/${item}`, 'item', 'invoking');
  return script;
}

describe('The page of the inspector with large runs', () => {
  it('draws the ticks of 50,000 events by looking at a bounded number of them', () => {
    const seqs = Array.from({ length: 50_000 }, (_, index) => index + 1);
    const { list, reads } = counted(seqs);
    expect(listTicks(list, 1, 50_000, 300)).to.have.length(300);
    // For each of the 300 places one event, found by halving.
    expect(reads()).to.be.below(300 * 20);
  });

  it('draws a tick at the same places as one that looks at each event', () => {
    const seqs = [3, 4, 9, 40, 41, 77, 100, 101, 102];
    for (const [first, last, places] of [
      [3, 102, 300],
      [3, 102, 10],
      [9, 102, 7],
      [1, 1000, 4],
    ] as const) {
      const width = Math.max(1, last - first);
      const kept = seqs.filter((seq) => seq >= first);
      const naive = new Set(kept.map((seq) => Math.floor(((seq - first) / width) * (places - 1))));
      expect(listTicks(seqs, first, last, places), `${first} ${places}`).to.deep.equal([...naive]);
    }
  });

  it('finds the next event of an actor without walking through the others', () => {
    const timeline = new RunTimeline(() => {});
    for (const entry of writeItems(2000).send('run', 'odd', 'running').entries) {
      timeline.add(JSON.stringify(entry));
    }
    const { list, reads } = counted(timeline.index.of('run'));
    expect(list[findFrom(list, 2)]).to.equal(2003);
    expect(reads()).to.be.below(5);
  });

  it('knows of one more entry without reading those before it', () => {
    const index = new EventIndex();
    const timeline = new RunTimeline(() => {});
    for (const entry of writeItems(1000).entries) timeline.add(JSON.stringify(entry));
    const { list, reads } = counted(timeline.entries);
    index.add(list.at(-1) as TimelineEntry);
    expect(reads()).to.equal(1);
    expect(index.of('run/fan-out/999')).to.deep.equal([1002]);
  });

  it('knows where something failed, and forgets it with the entries that it drops', () => {
    const failed = writePausedRun().entries.filter(({ from, state }) => from !== state && state === 'failed');
    const timeline = new RunTimeline(() => {}, { entries: 20, characters: 1e9 });
    const whole = new RunTimeline(() => {});
    for (const entry of writePausedRun().entries) {
      timeline.add(JSON.stringify(entry));
      whole.add(JSON.stringify(entry));
    }
    expect(whole.index.failed).to.deep.equal(failed.map(({ seq }) => seq));
    expect(timeline.index.failed).to.deep.equal(whole.index.failed.filter((seq) => seq >= timeline.firstSeq));
    for (const { actor } of whole.entries) {
      const kept = whole.index.of(actor).filter((seq) => seq >= timeline.firstSeq);
      expect(timeline.index.of(actor), actor).to.deep.equal(kept);
    }
  });

  it('keeps only the state of an entry that it has dropped, not its text', () => {
    const tree = new ActorTree();
    const timeline = new RunTimeline(
      (dropped) => {
        for (const entry of dropped) tree.apply(entry);
      },
      { entries: 100, characters: 1e9 },
    );
    for (const entry of writeItems(1000).entries) timeline.add(JSON.stringify(entry));
    const old = tree.get('run/fan-out/3')?.entry;
    expect(old?.state).to.equal('invoking');
    expect(old?.text).to.equal('');
    expect(old && readDetail(old)).to.equal(undefined);
  });

  it('shows 10,000 items as one row, without looking at each of them', () => {
    const tree = new ActorTree();
    const timeline = new RunTimeline(() => {});
    for (const entry of writeItems(10_000).entries) timeline.add(JSON.stringify(entry));
    for (const entry of timeline.entries) tree.apply(entry);
    const fanOut = tree.get('run/fan-out');
    if (!fanOut) throw new Error('there is no fan-out');
    const { list, reads } = counted(fanOut.children);
    Object.assign(fanOut, { children: list });
    const rows = listTreeRows(tree, { closed: new Set(), opened: new Set() });
    expect(rows).to.have.length(3);
    expect(reads()).to.equal(0);
  });

  it('lists no rows again while no actor has changed', () => {
    const tree = new ActorTree();
    const timeline = new RunTimeline(() => {});
    for (const entry of writePausedRun().entries) timeline.add(JSON.stringify(entry));
    for (const entry of timeline.entries) tree.apply(entry);
    const { changes } = tree;
    listTreeRows(tree, { closed: new Set(), opened: new Set() });
    expect(tree.changes).to.equal(changes);
    const last = timeline.entries.at(-1);
    if (last) tree.revert(last);
    expect(tree.changes).to.equal(changes + 1);
  });
});
