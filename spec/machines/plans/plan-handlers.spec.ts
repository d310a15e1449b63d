import { expect } from 'chai';
import type { HandlerLists } from '../../../machines/handlers.js';
import { isHandling, isSettled, toRunStatus } from '../../../machines/status.js';
import { HANDLERS_ID } from '../../../machines/sub-runs.js';
import {
  FakePlanPorts,
  startPlanMachine,
  type StartedPlanMachine,
} from '../../support/runs/start-plan-machine.js';

const FINALLY = [['clean']];

const HANDLERS: HandlerLists = {
  succeeded: [[['ok']], FINALLY],
  failed: [[['first'], ['second']], FINALLY],
  cancelled: [[['undo']], FINALLY],
};

function start(handlers: HandlerLists = HANDLERS): StartedPlanMachine {
  const subPipelines = ['a', 'b'].map((id) => ({ id, needs: [] }));
  return startPlanMachine(subPipelines, { concurrency: 2, ports: new FakePlanPorts(handlers) });
}

const handlersAtWork = ({ ports }: StartedPlanMachine): readonly string[] =>
  ports.portsById.get(HANDLERS_ID)?.pending.map(({ taskId }) => taskId) ?? [];

/** The status, `+` while handlers run, `.` once the plan has settled. */
function stateOf({ actor }: StartedPlanMachine): string {
  const snapshot = actor.getSnapshot();
  const mark = isSettled(snapshot) ? '.' : isHandling(snapshot) ? '+' : '';
  return `${toRunStatus(snapshot)}${mark}`;
}

function succeedHandler({ ports }: StartedPlanMachine, id: string): void {
  ports.getPorts(HANDLERS_ID).succeed(id);
}

describe('The machine of a plan with handlers (D80)', () => {
  it('runs the list of its end, then `finally`, when all sub-pipelines have succeeded', () => {
    const plan = start();
    plan.ports.succeed('a');
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['running', []]);
    plan.ports.succeed('b');
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['succeeded+', ['ok']]);
    succeedHandler(plan, 'ok');
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['succeeded+', ['clean']]);
    succeedHandler(plan, 'clean');
    expect(stateOf(plan)).to.equal('succeeded.');
    expect(plan.ports.endOrder).to.deep.equal(['a', 'b']);
  });

  it('waits after a failure until the sub-pipelines at work have ended', () => {
    const plan = start();
    plan.ports.fail('a');
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['running', []]);
    plan.ports.succeed('b');
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['failed+', ['first']]);
    plan.ports.getPorts(HANDLERS_ID).fail('first');
    expect(handlersAtWork(plan)).to.deep.equal(['clean']);
    succeedHandler(plan, 'clean');
    expect(stateOf(plan)).to.equal('failed.');
  });

  it('runs them after a failure to collect the blackboard', () => {
    const ports = new FakePlanPorts(HANDLERS);
    ports.holdsConclusion = true;
    const plan = startPlanMachine([{ id: 'a', needs: [] }], { ports });
    ports.succeed('a');
    ports.onConcluded?.({ ok: false, error: 'gone' });
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['failed+', ['first']]);
  });

  it('ignores the blackboard that is collected after a cancel has begun its handlers', () => {
    const ports = new FakePlanPorts(HANDLERS);
    ports.holdsConclusion = true;
    const plan = startPlanMachine([{ id: 'a', needs: [] }], { ports });
    ports.succeed('a');
    plan.actor.send({ type: 'cancel' });
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['cancelled+', ['undo']]);
    ports.onConcluded?.({ ok: true });
    expect(plan.actor.getSnapshot().children['sub-runs']?.getSnapshot().value).to.equal('handling');
    for (const id of ['undo', 'clean']) succeedHandler(plan, id);
    expect(stateOf(plan)).to.equal('cancelled.');
  });

  for (const type of ['cancel', 'force'] as const) {
    it(`runs them when everything at work has ended after a "${type}"`, () => {
      const plan = start();
      plan.actor.send({ type });
      if (type === 'cancel') {
        expect(stateOf(plan)).to.equal('cancelled');
        for (const id of ['a', 'b']) plan.ports.succeed(id);
      }
      expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['cancelled+', ['undo']]);
    });
  }

  it('runs none after a cancel in the queue', () => {
    const plan = startPlanMachine([{ id: 'a', needs: [] }], {
      begin: false,
      ports: new FakePlanPorts(HANDLERS),
    });
    plan.actor.send({ type: 'cancel' });
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['cancelled.', []]);
  });

  it('runs those of a failure after the time of the plan was over', () => {
    const plan = start();
    plan.actor.send({ type: 'timeout' });
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['failed+', ['first']]);
  });

  it('ignores a cancel, and ends all of them after a "force"', () => {
    const plan = start();
    for (const id of ['a', 'b']) plan.ports.succeed(id);
    plan.actor.send({ type: 'cancel' });
    expect([stateOf(plan), handlersAtWork(plan)]).to.deep.equal(['succeeded+', ['ok']]);
    plan.actor.send({ type: 'force' });
    expect(stateOf(plan)).to.equal('succeeded.');
    expect(plan.ports.getPorts(HANDLERS_ID).log).to.include('abort ok').and.not.include('expand clean');
    expect(plan.ports.cancelledIds).to.deep.equal([HANDLERS_ID]);
  });

  it('settles at once for an end without handlers', () => {
    const plan = start({ ...HANDLERS, succeeded: [] });
    for (const id of ['a', 'b']) plan.ports.succeed(id);
    expect(stateOf(plan)).to.equal('succeeded.');
  });

  it('shows the run of its handlers among those of its sub-pipelines', () => {
    const plan = start();
    for (const id of ['a', 'b']) plan.ports.succeed(id);
    const children = (): unknown =>
      JSON.parse(JSON.stringify(plan.actor.getPersistedSnapshot())).children['sub-runs'].snapshot.children;
    expect(Object.keys(children() as object)).to.deep.equal(['a', 'b', HANDLERS_ID]);
    for (const id of ['ok', 'clean']) succeedHandler(plan, id);
    expect(Object.keys(children() as object)).to.deep.equal(['a', 'b', HANDLERS_ID]);
  });
});
