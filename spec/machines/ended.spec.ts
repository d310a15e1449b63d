import { expect } from 'chai';
import type { AnyMachineSnapshot } from 'xstate';
import { createEndedActor, detachSnapshot } from '../../machines/xstate/ended.js';
import { countWavesExecuted, toRunStatus } from '../../machines/status.js';
import { startPlanMachine } from '../support/runs/start-plan-machine.js';
import { startRunMachine } from '../support/runs/start-run-machine.js';

function endedRun() {
  const { actor, ports } = startRunMachine([['a', 'b'], ['c']]);
  ports.succeed('a');
  ports.fail('b');
  return actor;
}

function endedPlan() {
  const plan = startPlanMachine([
    { id: 'a', needs: [] },
    { id: 'b', needs: ['a'] },
  ]);
  for (const id of ['a', 'b']) plan.ports.succeed(id);
  return plan.actor;
}

describe('detachSnapshot', () => {
  for (const [name, create] of Object.entries({ run: endedRun, plan: endedPlan })) {
    it(`keeps all that is persisted of a ${name} that has ended`, () => {
      const actor = create();
      const snapshot: AnyMachineSnapshot = actor.getSnapshot();
      const ended = createEndedActor(detachSnapshot(snapshot));
      expect(ended.getSnapshot()).to.deep.include({ status: 'done', value: snapshot.value });
      expect(ended.getPersistedSnapshot()).to.deep.equal(actor.getPersistedSnapshot());
      expect(JSON.stringify(ended.getSnapshot())).to.equal(JSON.stringify(snapshot));
    });

    it(`keeps no actor of a ${name} that has ended: neither its own, nor those of its children`, () => {
      const detached = detachSnapshot<AnyMachineSnapshot>(create().getSnapshot());
      expect(findActors(detached)).to.deep.equal([]);
    });
  }

  it('keeps the status and the number of waves', () => {
    const snapshot = detachSnapshot(endedRun().getSnapshot());
    expect([toRunStatus(snapshot), countWavesExecuted(snapshot)]).to.deep.equal(['failed', 1]);
  });
});

describe('createEndedActor', () => {
  it('creates an actor that completes for every subscriber and ignores events', () => {
    const actor = createEndedActor(detachSnapshot(endedRun().getSnapshot()));
    let completed = 0;
    actor.subscribe({ complete: () => completed++ });
    actor.send({ type: 'begin' });
    expect(completed).to.equal(1);
    expect(actor.getSnapshot().value).to.equal('failed');
  });
});

/** Finds the paths to actors that a value refers to. Does not look into the machine, which all runs share. */
function findActors(root: object): string[] {
  const seen = new Set<unknown>();
  const found: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if ('mailbox' in value) found.push(path);
    const members = value instanceof Map ? [...value] : Object.entries(value);
    for (const [key, member] of members) {
      if (key !== 'machine' && key !== '_nodes') visit(member, `${path}.${String(key)}`);
    }
    if ('getSnapshot' in value && typeof value.getSnapshot === 'function') {
      visit(value.getSnapshot(), `${path}.snapshot`);
    }
  };
  visit(root, 'snapshot');
  return found;
}
