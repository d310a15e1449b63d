import { toDirectedGraph } from 'xstate/graph';
import { expect } from 'chai';
import fc from 'fast-check';
import type { InspectionEvent } from 'xstate';
import { planMachine } from '../../machines/plan.js';
import { isSettled, isTimedOut, toRunStatus } from '../../machines/status.js';
import {
  FakePlanPorts,
  type StartedPlanMachine,
  startPlanMachine,
} from '../support/runs/start-plan-machine.js';
import { plans } from './random-plans.js';
import { cases } from '../support/measuring/cases.js';

const FREE = ['a', 'b', 'c'].map((id) => ({ id, needs: [] }));
const CHAIN = [
  { id: 'c', needs: ['b'] },
  { id: 'b', needs: ['a'] },
  { id: 'a', needs: [] },
];

describe('planMachine', () => {
  it('is queued and begins no sub-pipeline until it receives "begin"', () => {
    const plan = startPlanMachine(FREE, { begin: false });
    expect(status(plan)).to.equal('queued');
    expect(plan.ports.begun).to.deep.equal([]);
  });

  it('begins a sub-pipeline when those it needs have succeeded, and succeeds with the last (Plan, rule 1)', () => {
    const plan = startPlanMachine(CHAIN, { concurrency: 3 });
    for (const id of ['a', 'b', 'c']) {
      expect(plan.ports.atWork).to.deep.equal([id]);
      plan.ports.succeed(id);
    }
    expect(status(plan)).to.equal('succeeded');
    expect(plan.ports.endOrder).to.deep.equal(['a', 'b', 'c']);
  });

  it('runs one sub-pipeline at a time in declaration order by default (D45)', () => {
    const plan = startPlanMachine(FREE);
    for (const id of ['a', 'b', 'c']) {
      expect(plan.ports.atWork).to.deep.equal([id]);
      plan.ports.succeed(id);
    }
  });

  it('lets the runs at work finish when one fails, and begins no other', () => {
    const plan = startPlanMachine(FREE, { concurrency: 2 });
    plan.ports.fail('a');
    expect(status(plan)).to.equal('running');
    plan.ports.succeed('b');
    expect(status(plan)).to.equal('failed');
    expect(plan.ports.begun).to.deep.equal(['a', 'b']);
    expect(plan.ports.onConcluded).to.equal(undefined);
  });

  it('is cancelled at once, and lets the runs at work drain (rule 12, D21)', () => {
    const plan = startPlanMachine(FREE, { concurrency: 2 });
    plan.actor.send({ type: 'cancel' });
    expect(status(plan)).to.equal('cancelled');
    expect(isSettled(plan.actor.getSnapshot())).to.equal(false);
    plan.ports.succeed('a');
    plan.ports.fail('b');
    expect(status(plan)).to.equal('cancelled');
    expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
    expect(plan.ports.begun).to.deep.equal(['a', 'b']);
  });

  it('aborts the tools in flight when forced, also while it drains (D21)', () => {
    for (const events of [['force'], ['cancel', 'force']] as const) {
      const plan = startPlanMachine(FREE, { concurrency: 2 });
      for (const type of events) plan.actor.send({ type });
      for (const id of ['a', 'b']) expect(plan.ports.getPorts(id).log).to.include('abort t');
      expect(status(plan)).to.equal('cancelled');
      expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
    }
  });

  it('settles a cancel at once when no tool is at work: queued, reading a session, or concluding', () => {
    for (const type of ['cancel', 'force'] as const) {
      const queued = startPlanMachine(FREE, { begin: false });
      const reading = startPlanMachine(FREE, { ports: waitingFor('a') });
      const concluding = startPlanMachine(FREE.slice(0, 1), { ports: holdingConclusion() });
      concluding.ports.succeed('a');
      for (const plan of [queued, reading, concluding]) {
        plan.actor.send({ type });
        expect(status(plan)).to.equal('cancelled');
        expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
      }
      concluding.ports.onConcluded?.({ ok: true });
      expect(status(concluding)).to.equal('cancelled');
      expect([...queued.ports.begun, ...reading.ports.begun]).to.deep.equal(['a']);
    }
  });

  it('fails when the blackboard cannot be collected', () => {
    const plan = startPlanMachine(FREE.slice(0, 1), { ports: holdingConclusion() });
    plan.ports.succeed('a');
    expect(status(plan)).to.equal('running');
    plan.ports.onConcluded?.({ ok: false, error: 'gone' });
    expect(status(plan)).to.equal('failed');
  });

  it('never leaves a terminal state, whatever event it receives', () => {
    for (const end of ['succeed', 'fail'] as const) {
      const plan = startPlanMachine(FREE.slice(0, 1));
      plan.ports[end]('a');
      const before = status(plan);
      for (const type of ['begin', 'cancel', 'force'] as const) plan.actor.send({ type });
      expect(status(plan)).to.equal(before);
    }
  });

  it('aborts the runs at work with their tools when its actor is stopped', () => {
    const plan = startPlanMachine(FREE, { concurrency: 2 });
    plan.actor.stop();
    for (const id of ['a', 'b']) expect(plan.ports.getPorts(id).log).to.include('abort t');
    expect(plan.ports.begun).to.deep.equal(['a', 'b']);
  });

  it('cancels one run in a turn when the event-loop slice is used up (D25)', () => {
    const many = Array.from({ length: 3 }, (_, index) => ({ id: `s${index}`, needs: [] }));
    const plan = startPlanMachine(many, { concurrency: 3 });
    plan.ports.isExhausted = true;
    plan.actor.send({ type: 'cancel' });
    expect(status(plan)).to.equal('cancelled');
    expect(plan.ports.cancelledIds).to.deep.equal(['s0']);
    // The force that follows is stronger, and begins anew.
    plan.actor.send({ type: 'force' });
    while (plan.ports.deferred.length > 0) plan.ports.deferred.shift()?.();
    expect(plan.ports.cancelledIds).to.deep.equal(['s0', 's0', 's1', 's2']);
    expect(plan.ports.atWork).to.deep.equal([]);
    expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
  });

  it('begins many runs over several ticks, and can be forced in between', () => {
    const many = Array.from({ length: 100 }, (_, index) => ({ id: `s${index}`, needs: [] }));
    const plan = startPlanMachine(many, { concurrency: 100 });
    expect(plan.ports.begun).to.have.length(32);
    plan.ports.succeed('s5');
    expect(plan.ports.begun).to.have.length(32);
    plan.ports.deferred.shift()?.();
    expect(plan.ports.begun).to.have.length(64);
    plan.actor.send({ type: 'force' });
    for (const next of plan.ports.deferred.splice(0)) next();
    expect(plan.ports.begun).to.have.length(64);
    expect(status(plan)).to.equal('cancelled');
    expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
  });

  it('continues in the next tick when all runs that it began in this one have ended', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ id: `s${index}`, needs: [] }));
    const plan = startPlanMachine(many, { concurrency: 40 });
    for (const id of plan.ports.atWork) plan.ports.succeed(id);
    expect(status(plan)).to.equal('running');
    plan.ports.deferred.shift()?.();
    expect(plan.ports.begun).to.have.length(40);
    for (const id of plan.ports.atWork) plan.ports.succeed(id);
    expect(status(plan)).to.equal('succeeded');
  });

  describe('for every plan, concurrency and order of ends', () => {
    const ends = fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 12, maxLength: 12 });

    it('begins each sub-pipeline at most once, after its needs, and respects the concurrency', () => {
      fc.assert(
        fc.property(plans, fc.integer({ min: 1, max: 5 }), ends, (subPipelines, concurrency, drawn) => {
          const plan = startPlanMachine(subPipelines, { concurrency });
          const { ports } = plan;
          const succeeded = new Set<string>();
          const needsById = new Map(subPipelines.map(({ id, needs }) => [id, needs]));
          let failed = 0;
          let seen = 0;
          for (const [draw, succeeds] of drawn) {
            const { atWork } = ports;
            expect(atWork.length).to.be.at.most(concurrency);
            for (const id of ports.begun.slice(seen)) {
              expect(failed).to.equal(0);
              for (const need of needsById.get(id) ?? []) expect(succeeded.has(need)).to.equal(true);
            }
            seen = ports.begun.length;
            const id = atWork[draw % atWork.length];
            if (id === undefined) break;
            if (succeeds || draw % 3 > 0) {
              succeeded.add(id);
              ports.succeed(id);
            } else {
              failed++;
              ports.fail(id);
            }
          }
          expect(new Set(ports.begun).size).to.equal(ports.begun.length);
          if (ports.atWork.length > 0) return;
          expect(status(plan)).to.equal(failed > 0 ? 'failed' : 'succeeded');
          if (failed === 0) expect(ports.begun).to.have.length(subPipelines.length);
        }),
        cases(500),
      );
    });
  });

  describe('snapshots', () => {
    it('show sub-runs, their waves and tasks to the inspect API', () => {
      const seen: string[] = [];
      const inspect = (event: InspectionEvent): void => {
        if (event.type === '@xstate.actor' && 'id' in event.actorRef) seen.push(String(event.actorRef.id));
        if (event.type === '@xstate.snapshot') expect(JSON.stringify(event.snapshot)).to.be.a('string');
      };
      const { ports } = startPlanMachine(CHAIN, { inspect });
      expect(seen.slice(1)).to.deep.equal(['sub-runs', 'a', 'wave', 't']);
      ports.succeed('a');
      expect(seen.slice(5)).to.deep.equal(['b', 'wave', 't']);
    });

    it('are plain JSON in every state, and contain every sub-run that began', () => {
      const moments: Record<string, unknown> = {};
      const plan = startPlanMachine(FREE, { begin: false, concurrency: 2, ports: holdingConclusion() });
      const check = (moment: string): void => {
        const persisted = plan.actor.getPersistedSnapshot();
        expect(JSON.stringify(structuredClone(persisted)), moment).to.equal(JSON.stringify(persisted));
        expect(JSON.parse(JSON.stringify(plan.actor.getSnapshot()))).to.be.an('object');
        moments[moment] = readSubRunStates(persisted);
      };
      check('queued');
      plan.actor.send({ type: 'begin' });
      check('begun');
      plan.ports.succeed('b');
      check('b over');
      for (const id of ['a', 'c']) plan.ports.succeed(id);
      check('concluding');
      expect(moments).to.deep.equal({
        queued: {},
        begun: { a: 'running', b: 'running' },
        'b over': { a: 'running', b: 'succeeded', c: 'running' },
        concluding: { a: 'succeeded', b: 'succeeded', c: 'succeeded' },
      });
    });

    it('serialise to a short summary', () => {
      const plan = startPlanMachine(FREE, { concurrency: 2 });
      plan.ports.succeed('a');
      const subRuns = plan.actor.getSnapshot().children['sub-runs']?.getSnapshot();
      expect(JSON.parse(JSON.stringify(subRuns))).to.deep.equal({
        status: 'active',
        value: 'running',
        closed: false,
        live: 2,
        ended: 1,
      });
    });

    it('contain one child and no event type per sub-pipeline', () => {
      const many = Array.from({ length: 50 }, (_, index) => ({ id: `s${index}`, needs: [] }));
      const { actor } = startPlanMachine(many, { concurrency: 50 });
      expect(Object.keys(actor.getSnapshot().children)).to.deep.equal(['sub-runs']);
      expect([...planMachine.events].sort()).to.deep.equal([
        'begin',
        'cancel',
        'continue',
        'force',
        'handlers.settled',
        'step',
        'sub-runs.settled',
        'timeout',
      ]);
    });
  });

  /** The specification's table "States and transitions", written with statuses. */
  const TABLE: Record<string, () => string> = {
    'queued -> running': () => status(startPlanMachine(FREE)),
    'running -> succeeded': () => {
      const plan = startPlanMachine(FREE.slice(0, 1));
      plan.ports.succeed('a');
      return status(plan);
    },
    'running -> failed': () => {
      const plan = startPlanMachine(FREE);
      plan.ports.fail('a');
      return status(plan);
    },
    'queued -> cancelled': () => {
      const plan = startPlanMachine(FREE, { begin: false });
      plan.actor.send({ type: 'cancel' });
      return status(plan);
    },
    'running -> cancelled': () => {
      const plan = startPlanMachine(FREE);
      plan.actor.send({ type: 'cancel' });
      return status(plan);
    },
  };

  it('aborts the runs at work when its time is over, begins no other, and fails (D81)', () => {
    const { actor, ports } = startPlanMachine(FREE, { concurrency: 2 });
    const atWork = ports.atWork;
    actor.send({ type: 'timeout' });
    expect(ports.cancelledIds).to.deep.equal(atWork);
    expect(ports.begun).to.deep.equal(atWork);
    expect(toRunStatus(actor.getSnapshot())).to.equal('failed');
    expect(isTimedOut(actor.getSnapshot())).to.equal(true);
  });

  it('only aborts the runs of a cancelled plan when its time is over (D81)', () => {
    const { actor, ports } = startPlanMachine(FREE);
    actor.send({ type: 'cancel' });
    actor.send({ type: 'timeout' });
    expect(ports.atWork).to.deep.equal([]);
    expect(toRunStatus(actor.getSnapshot())).to.equal('cancelled');
  });

  it('has every transition of the specification, and no other', () => {
    const found = new Set<string>();
    const visit = (graph: ReturnType<typeof toDirectedGraph>): void => {
      for (const { source, target } of graph.edges) {
        const [from, to] = [toStatus(source.key), toStatus(target.key)];
        if (from !== to) found.add(`${from} -> ${to}`);
      }
      graph.children.forEach(visit);
    };
    visit(toDirectedGraph(planMachine));
    expect([...found].sort()).to.deep.equal(Object.keys(TABLE).sort());
  });

  it('takes each transition of the specification', () => {
    for (const [row, drive] of Object.entries(TABLE)) expect(drive(), row).to.equal(row.split(' -> ')[1]);
  });
});

function status({ actor }: StartedPlanMachine): string {
  return toRunStatus(actor.getSnapshot());
}

const STATUS_OF_STATE: Readonly<Record<string, string>> = {
  aborting: 'running',
  draining: 'cancelled',
  handlingSuccess: 'succeeded',
  handlingFailure: 'failed',
  handlingCancel: 'cancelled',
};

function toStatus(state: string): string {
  return STATUS_OF_STATE[state] ?? state;
}

function waitingFor(id: string): FakePlanPorts {
  const ports = new FakePlanPorts();
  ports.waiting.add(id);
  return ports;
}

function holdingConclusion(): FakePlanPorts {
  const ports = new FakePlanPorts();
  ports.holdsConclusion = true;
  return ports;
}

/** Sub-pipeline id to the state that a persisted snapshot shows. */
function readSubRunStates(persisted: unknown): Record<string, unknown> {
  type Children = Record<
    string,
    { readonly snapshot: { readonly value: unknown; readonly children: Children } }
  >;
  const { children } = persisted as { readonly children: Children };
  const runs = children['sub-runs']?.snapshot.children ?? {};
  return Object.fromEntries(Object.entries(runs).map(([id, { snapshot }]) => [id, snapshot.value]));
}
