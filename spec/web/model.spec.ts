import { expect } from 'chai';
import { readMoment, taskOfActor, writeMoment } from '../../web/inspect/model/addresses.js';
import { ActorTree } from '../../web/inspect/model/actor-tree.js';
import { type JsonRow, type JsonView, listJsonRows } from '../../web/shared/model/json-rows.js';
import { FilteredSequence, NO_FILTER } from '../../web/inspect/model/sequence-filter.js';
import { RunTimeline } from '../../web/inspect/model/timeline.js';
import { FOLD_FROM, listTreeRows, revealActor } from '../../web/inspect/model/tree-rows.js';
import { RunScript, writeEnd, writePausedRun } from './run-script.js';

const UNFOLDED = { closed: new Set<string>(), opened: new Set<string>() };

function timelineOf(script: RunScript, limits = { entries: 1000, characters: 1e9 }): RunTimeline {
  const timeline = new RunTimeline(() => {}, limits);
  for (const entry of script.entries) timeline.add(JSON.stringify(entry));
  return timeline;
}

function treeOf(timeline: RunTimeline, count = timeline.entries.length): ActorTree {
  const tree = new ActorTree();
  for (const entry of timeline.entries.slice(0, count)) tree.apply(entry);
  return tree;
}

/** Lists the rows of a tree, as text. */
function shown(tree: ActorTree): string[] {
  return listTreeRows(tree, UNFOLDED).map((row) =>
    row.kind === 'actor' ? `${row.id} ${row.node.entry?.state ?? '?'}` : `${row.label} ${row.count}`,
  );
}

describe('The actor tree of the inspector', () => {
  it('shows at every moment the same whether one came to it forwards or backwards', () => {
    const timeline = timelineOf(writeEnd(writePausedRun()));
    const tree = treeOf(timeline);
    for (let count = timeline.entries.length - 1; count >= 0; count--) {
      const entry = timeline.entries[count];
      if (entry) tree.revert(entry);
      expect(shown(tree), String(count)).to.deep.equal(shown(treeOf(timeline, count)));
    }
  });

  it(`folds ${FOLD_FROM} children and more into one row for each state, failures first`, () => {
    const tree = treeOf(timelineOf(writePausedRun(FOLD_FROM)));
    expect(shown(tree).slice(-2)).to.deep.equal(['failed 1', `succeeded ${FOLD_FROM - 1}`]);
  });

  it('opens the groups in which an actor is folded', () => {
    const tree = treeOf(timelineOf(writePausedRun(FOLD_FROM)));
    const item = tree.get('run/wave/each/fan-out/5');
    if (!item) throw new Error('there is no such item');
    const rows = listTreeRows(tree, revealActor(UNFOLDED, item));
    expect(rows.map(({ id }) => id)).to.include(item.path);
  });

  it('shows an actor below parents that the recording does not have', () => {
    const script = new RunScript().create('run/wave/a', 'task', 'invoking');
    expect(shown(treeOf(timelineOf(script)))).to.deep.equal(['run ?', 'run/wave ?', 'run/wave/a invoking']);
  });
});

describe('The timeline of the inspector', () => {
  it('drops the oldest entries when it is full, and hands them over first', () => {
    const dropped: number[] = [];
    const limits = { entries: 20, characters: 1e9 };
    const timeline = new RunTimeline((entries) => dropped.push(...entries.map(({ seq }) => seq)), limits);
    for (const entry of writePausedRun().entries) timeline.add(JSON.stringify(entry));
    expect(timeline.entries.length).to.be.at.most(20);
    expect(dropped).to.deep.equal(Array.from({ length: timeline.dropped }, (_, index) => index + 1));
    expect(timeline.firstSeq).to.equal(timeline.dropped + 1);
  });

  it('keeps no more characters than it may', () => {
    const timeline = timelineOf(writePausedRun(), { entries: 1000, characters: 3000 });
    const kept = timeline.entries.reduce((sum, { text }) => sum + text.length, 0);
    expect(kept).to.be.at.most(3000);
  });

  it('ignores an entry that it has already, as after a broken connection', () => {
    const script = writePausedRun();
    const timeline = timelineOf(script);
    timeline.add(JSON.stringify(script.entries[3]));
    expect(timeline.entries).to.have.length(script.entries.length);
  });
});

describe('The filter of the sequence of the inspector', () => {
  it('finds entry by entry what it finds all at once', () => {
    const script = writeEnd(writePausedRun());
    const filter = { ...NO_FILTER, below: 'run/wave/each', event: 'item.settled' };
    const timeline = new RunTimeline(() => {});
    const sequence = new FilteredSequence();
    for (const entry of script.entries) {
      timeline.add(JSON.stringify(entry));
      sequence.update(timeline, filter);
    }
    const fresh = new FilteredSequence();
    fresh.update(timeline, filter);
    expect(sequence.entries).to.deep.equal(fresh.entries).and.to.have.length(8);
    expect([...sequence.types]).to.deep.equal([...fresh.types]);
  });
});

describe('The types of events in the inspector', () => {
  it('count the ends of all children as one type, and are at most 100', () => {
    const script = new RunScript().create('run', 'run', 'queued');
    for (let index = 0; index < 300; index++) {
      script.send('run', `xstate.done.actor.${index}`, 'running').send('run', `odd ${index}`, 'running');
    }
    const sequence = new FilteredSequence();
    sequence.update(timelineOf(script), { ...NO_FILTER, event: 'xstate.done.actor.*' });
    expect(sequence.types.get('xstate.done.actor.*')).to.equal(300);
    expect(sequence.types.size).to.equal(100);
    expect(sequence.entries).to.have.length(300);
  });
});

describe('The JSON tree of the inspector', () => {
  const closed: JsonView = { toggled: new Map(), pages: new Map() };
  const marks = (rows: readonly JsonRow[]): string[] =>
    rows.flatMap((row) => (row.kind === 'value' && row.mark ? [`${row.key} ${row.mark}`] : []));

  it('marks what was added, changed and removed, and opens where something changed', () => {
    const before = { a: 1, b: { deep: { x: 1, y: 2 } }, gone: true };
    const after = { a: 1, b: { deep: { x: 1, y: 3 } }, fresh: null };
    const rows = listJsonRows(after, { value: before }, closed);
    expect(marks(rows)).to.deep.equal(['y changed', 'fresh added', 'gone removed']);
  });

  it('marks nothing in equal values, whatever the order of their keys', () => {
    expect(marks(listJsonRows({ a: 1, b: [{}] }, { value: { b: [{}], a: 1 } }, closed))).to.deep.equal([]);
  });

  it('shows names such as __proto__ like any other', () => {
    const rows = listJsonRows(JSON.parse('{"__proto__": 1, "constructor": 2}'), { value: {} }, closed);
    expect(marks(rows)).to.deep.equal(['__proto__ added', 'constructor added']);
  });
});

describe('The addresses of the inspector', () => {
  it('lead to the same moment after they were written and read, and ignore nonsense', () => {
    const moment = { seq: 12, actor: 'run/wave/a b&c' };
    expect(readMoment(writeMoment(moment))).to.deep.equal(moment);
    for (const hash of ['', '#', '#seq=-1', '#seq=x', '#seq=1e99']) {
      expect(readMoment(hash), hash).to.deep.equal({ seq: null, actor: '' });
    }
  });

  it('find the task of an actor, in a pipeline and in a plan', () => {
    expect(taskOfActor('run/wave')).to.equal(undefined);
    expect(taskOfActor('run/wave/a')).to.deep.equal({ taskId: 'a', subPipeline: undefined, item: undefined });
    expect(taskOfActor('plan/sub-runs/s/wave/a/fan-out/3')).to.deep.equal({
      taskId: 'a',
      subPipeline: 's',
      item: 3,
    });
  });
});
