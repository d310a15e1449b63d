import { expect } from 'chai';
import { createActor } from 'xstate';
import { toDirectedGraph } from 'xstate/graph';
import { type CompileEvent, compileMachine, compilePorts } from '../../machines/compile.js';

const REJECTED: CompileEvent = { type: 'rejected', repeated: false };

describe('compileMachine (D35)', () => {
  it('drafts, validates, and is done with a valid answer', () => {
    const { actor, calls } = start(2);
    expect(actor.getSnapshot().value).to.equal('drafting');
    actor.send({ type: 'answered' });
    expect(actor.getSnapshot().value).to.equal('validating');
    actor.send({ type: 'accepted' });
    expect(actor.getSnapshot()).to.include({ value: 'done', status: 'done' });
    expect(calls).to.deep.equal(['draft', 'check']);
  });

  it('repairs as often as it may, and gives up then', () => {
    const { actor, calls } = start(2);
    for (let answers = 0; answers < 3; answers++) {
      actor.send({ type: 'answered' });
      actor.send(REJECTED);
    }
    expect(actor.getSnapshot()).to.include({ value: 'gaveUp', status: 'done' });
    expect(calls).to.deep.equal(['draft', 'check', 'repair', 'check', 'repair', 'check']);
  });

  it('gives up without a repair when none is allowed, the answer repeats itself, or the model declines', () => {
    for (const [repairs, event] of [
      [0, REJECTED],
      [5, { type: 'rejected', repeated: true }],
      [5, { type: 'declined' }],
    ] as const) {
      const { actor, calls } = start(repairs);
      actor.send({ type: 'answered' });
      actor.send(event);
      expect(actor.getSnapshot().value, event.type).to.equal('gaveUp');
      expect(calls).to.deep.equal(['draft', 'check']);
    }
  });

  it('stops in every state in which something is awaited', () => {
    const paths: CompileEvent[][] = [[], [{ type: 'answered' }], [{ type: 'answered' }, REJECTED]];
    for (const events of paths) {
      const { actor } = start(1);
      for (const event of events) actor.send(event);
      actor.send({ type: 'stop' });
      expect(actor.getSnapshot()).to.include({ value: 'stopped', status: 'done' });
    }
  });

  it('keeps no question and no answer: its snapshot counts repairs and nothing else (law L1)', () => {
    const { actor } = start(2);
    expect(actor.getSnapshot().context).to.deep.equal({ repairsLeft: 2 });
    expect(JSON.parse(JSON.stringify(actor.getPersistedSnapshot()))).to.deep.include({
      value: 'drafting',
      context: { repairsLeft: 2 },
    });
  });

  it('leads from each state that is not final to another one', () => {
    const stuck = toDirectedGraph(compileMachine).children.filter(
      ({ stateNode, edges }) => stateNode.type !== 'final' && edges.length === 0,
    );
    expect(stuck).to.deep.equal([]);
  });
});

function start(repairsLeft: number) {
  const calls: string[] = [];
  const actor = createActor(compileMachine, { input: { repairsLeft } });
  compilePorts.bind(actor, {
    draft: () => void calls.push('draft'),
    check: () => void calls.push('check'),
    repair: () => void calls.push('repair'),
  });
  actor.start();
  return { actor, calls };
}
