import { expect } from 'chai';
import { isSettled, toRunStatus } from '../../../machines/status.js';
import { type StartedPlanMachine, startPlanMachine } from '../../support/runs/start-plan-machine.js';

const conditional = (id: string, ...needs: string[]): Parameters<typeof startPlanMachine>[0][number] => ({
  id,
  needs,
  isConditional: true,
});

function status({ actor }: StartedPlanMachine): string {
  return toRunStatus(actor.getSnapshot());
}

describe('planMachine with conditions (D77)', () => {
  it('asks of a sub-pipeline with conditions when it would begin, and begins it when they hold', () => {
    const plan = startPlanMachine([{ id: 'a', needs: [] }, conditional('b', 'a')]);
    expect([...plan.ports.undecided.keys()]).to.deep.equal([]);
    plan.ports.succeed('a');
    expect([...plan.ports.undecided.keys()]).to.deep.equal(['b']);
    expect(plan.ports.begun).to.deep.equal(['a']);
    plan.ports.answer('b', false);
    expect(plan.ports.begun).to.deep.equal(['a', 'b']);
    plan.ports.succeed('b');
    expect(status(plan)).to.equal('succeeded');
  });

  it('lets those that need a skipped one begin, and can succeed', () => {
    const plan = startPlanMachine([conditional('a'), { id: 'b', needs: ['a'] }]);
    plan.ports.answer('a', true);
    expect(plan.ports.skippedIds).to.deep.equal(['a']);
    expect(plan.ports.begun).to.deep.equal(['b']);
    plan.ports.succeed('b');
    expect(status(plan)).to.equal('succeeded');
  });

  it('succeeds when every sub-pipeline is skipped', () => {
    const plan = startPlanMachine([conditional('a'), conditional('b')]);
    for (const id of ['a', 'b']) plan.ports.answer(id, true);
    expect(status(plan)).to.equal('succeeded');
    expect(plan.ports.begun).to.deep.equal([]);
  });

  it('holds a place of the concurrency while it is decided', () => {
    const plan = startPlanMachine([conditional('a'), { id: 'b', needs: [] }]);
    expect(plan.ports.begun).to.deep.equal([]);
    plan.ports.answer('a', true);
    expect(plan.ports.begun).to.deep.equal(['b']);
  });

  for (const type of ['cancel', 'force', 'timeout'] as const) {
    it(`ends at once on "${type}" while it only decides, and ignores the decision that comes later`, () => {
      const plan = startPlanMachine([conditional('a')]);
      plan.actor.send({ type });
      expect(status(plan)).to.equal(type === 'timeout' ? 'failed' : 'cancelled');
      expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
      plan.ports.answer('a', true);
      expect(plan.ports.skippedIds).to.deep.equal([]);
    });
  }

  it('ignores a decision after another sub-pipeline has failed, and waits for no answer', () => {
    const plan = startPlanMachine([{ id: 'a', needs: [] }, conditional('b')], { concurrency: 2 });
    plan.ports.fail('a');
    expect(status(plan)).to.equal('failed');
    plan.ports.answer('b', false);
    expect(plan.ports.begun).to.deep.equal(['a']);
  });

  it('lists skipped sub-pipelines in its snapshot', () => {
    const plan = startPlanMachine([conditional('a'), { id: 'b', needs: [] }]);
    plan.ports.answer('a', true);
    const persisted = JSON.stringify(plan.actor.getPersistedSnapshot());
    expect(persisted).to.include('"a":{"src":"run","snapshot":{"status":"done","value":"skipped"}}');
  });
});
