import { toDirectedGraph } from 'xstate/graph';
import { expect } from 'chai';
import fc from 'fast-check';
import type { InspectionEvent } from 'xstate';
import { planMachine } from '../../machines/plan.js';
import { isSettled, statusOf } from '../../machines/status.js';
import { FakePlanWork, type StartedPlan, startedPlan } from '../support/runs/started-plan.js';
import { plans } from './random-plans.js';

const FREE = ['a', 'b', 'c'].map((id) => ({ id, needs: [] }));
const CHAIN = [
  { id: 'c', needs: ['b'] },
  { id: 'b', needs: ['a'] },
  { id: 'a', needs: [] },
];

describe('the plan machine', () => {
  it('is queued until it begins, and begins nothing', () => {
    const plan = startedPlan(FREE, { begin: false });
    expect(status(plan)).to.equal('queued');
    expect(plan.work.begun).to.deep.equal([]);
  });

  it('begins each when those that it needs have succeeded, and succeeds with the last (Plan, rule 1)', () => {
    const plan = startedPlan(CHAIN, { concurrency: 3 });
    for (const id of ['a', 'b', 'c']) {
      expect(plan.work.atWork).to.deep.equal([id]);
      plan.work.succeed(id);
    }
    expect(status(plan)).to.equal('succeeded');
    expect(plan.work.over).to.deep.equal(['a', 'b', 'c']);
  });

  it('runs one at a time, the first declared first, unless told otherwise (D45)', () => {
    const plan = startedPlan(FREE);
    for (const id of ['a', 'b', 'c']) {
      expect(plan.work.atWork).to.deep.equal([id]);
      plan.work.succeed(id);
    }
  });

  it('lets those at work end when one fails, and begins none', () => {
    const plan = startedPlan(FREE, { concurrency: 2 });
    plan.work.fail('a');
    expect(status(plan)).to.equal('running');
    plan.work.succeed('b');
    expect(status(plan)).to.equal('failed');
    expect(plan.work.begun).to.deep.equal(['a', 'b']);
    expect(plan.work.concluded).to.equal(undefined);
  });

  it('reads cancelled at once, and drains those at work (rule 12, D21)', () => {
    const plan = startedPlan(FREE, { concurrency: 2 });
    plan.actor.send({ type: 'cancel' });
    expect(status(plan)).to.equal('cancelled');
    expect(isSettled(plan.actor.getSnapshot())).to.equal(false);
    plan.work.succeed('a');
    plan.work.fail('b');
    expect(status(plan)).to.equal('cancelled');
    expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
    expect(plan.work.begun).to.deep.equal(['a', 'b']);
  });

  it('aborts what is in flight when forced, also while it drains already (D21)', () => {
    for (const events of [['force'], ['cancel', 'force']] as const) {
      const plan = startedPlan(FREE, { concurrency: 2 });
      for (const type of events) plan.actor.send({ type });
      for (const id of ['a', 'b']) expect(plan.work.workOf(id).log).to.include('abort t');
      expect(status(plan)).to.equal('cancelled');
      expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
    }
  });

  it('is cancelled at once where no tool is at work: in the queue, before a session was read, at the end', () => {
    for (const type of ['cancel', 'force'] as const) {
      const queued = startedPlan(FREE, { begin: false });
      const reading = startedPlan(FREE, { work: waitingFor('a') });
      const concluding = startedPlan(FREE.slice(0, 1), { work: holdingConclusion() });
      concluding.work.succeed('a');
      for (const plan of [queued, reading, concluding]) {
        plan.actor.send({ type });
        expect(status(plan)).to.equal('cancelled');
        expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
      }
      concluding.work.concluded?.({ ok: true });
      expect(status(concluding)).to.equal('cancelled');
      expect([...queued.work.begun, ...reading.work.begun]).to.deep.equal(['a']);
    }
  });

  it('fails when what it leaves cannot be gathered', () => {
    const plan = startedPlan(FREE.slice(0, 1), { work: holdingConclusion() });
    plan.work.succeed('a');
    expect(status(plan)).to.equal('running');
    plan.work.concluded?.({ ok: false, error: 'gone' });
    expect(status(plan)).to.equal('failed');
  });

  it('never leaves a terminal state, whatever is sent', () => {
    for (const end of ['succeed', 'fail'] as const) {
      const plan = startedPlan(FREE.slice(0, 1));
      plan.work[end]('a');
      const before = status(plan);
      for (const type of ['begin', 'cancel', 'force'] as const) plan.actor.send({ type });
      expect(status(plan)).to.equal(before);
    }
  });

  it('stops those at work, with their tools, when it is stopped from above', () => {
    const plan = startedPlan(FREE, { concurrency: 2 });
    plan.actor.stop();
    for (const id of ['a', 'b']) expect(plan.work.workOf(id).log).to.include('abort t');
    expect(plan.work.begun).to.deep.equal(['a', 'b']);
  });

  it('begins many in several turns of the event loop, and can be forced in between', () => {
    const many = Array.from({ length: 100 }, (_, index) => ({ id: `s${index}`, needs: [] }));
    const plan = startedPlan(many, { concurrency: 100 });
    expect(plan.work.begun).to.have.length(32);
    plan.work.succeed('s5');
    expect(plan.work.begun).to.have.length(32);
    plan.work.postponed.shift()?.();
    expect(plan.work.begun).to.have.length(64);
    plan.actor.send({ type: 'force' });
    for (const next of plan.work.postponed.splice(0)) next();
    expect(plan.work.begun).to.have.length(64);
    expect(status(plan)).to.equal('cancelled');
    expect(isSettled(plan.actor.getSnapshot())).to.equal(true);
  });

  it('goes on in the next turn when all that it began in this one are over', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ id: `s${index}`, needs: [] }));
    const plan = startedPlan(many, { concurrency: 40 });
    for (const id of plan.work.atWork) plan.work.succeed(id);
    expect(status(plan)).to.equal('running');
    plan.work.postponed.shift()?.();
    expect(plan.work.begun).to.have.length(40);
    for (const id of plan.work.atWork) plan.work.succeed(id);
    expect(status(plan)).to.equal('succeeded');
  });

  describe('for every plan, concurrency and order in which its sub-pipelines end', () => {
    const ends = fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 12, maxLength: 12 });

    it('begins each at most once, none before its needs have succeeded, and never too many together', () => {
      fc.assert(
        fc.property(plans, fc.integer({ min: 1, max: 5 }), ends, (subPipelines, concurrency, drawn) => {
          const plan = startedPlan(subPipelines, { concurrency });
          const { work } = plan;
          const succeeded = new Set<string>();
          const needsOf = new Map(subPipelines.map(({ id, needs }) => [id, needs]));
          let failed = 0;
          let seen = 0;
          for (const [draw, succeeds] of drawn) {
            const { atWork } = work;
            expect(atWork.length).to.be.at.most(concurrency);
            for (const id of work.begun.slice(seen)) {
              expect(failed).to.equal(0);
              for (const need of needsOf.get(id) ?? []) expect(succeeded.has(need)).to.equal(true);
            }
            seen = work.begun.length;
            const id = atWork[draw % atWork.length];
            if (id === undefined) break;
            if (succeeds || draw % 3 > 0) {
              succeeded.add(id);
              work.succeed(id);
            } else {
              failed++;
              work.fail(id);
            }
          }
          expect(new Set(work.begun).size).to.equal(work.begun.length);
          if (work.atWork.length > 0) return;
          expect(status(plan)).to.equal(failed > 0 ? 'failed' : 'succeeded');
          if (failed === 0) expect(work.begun).to.have.length(subPipelines.length);
        }),
        { numRuns: 500 },
      );
    });
  });

  describe('seen from outside', () => {
    it('shows sub-runs, their waves and tasks to the inspect API', () => {
      const seen: string[] = [];
      const inspect = (event: InspectionEvent): void => {
        if (event.type === '@xstate.actor' && 'id' in event.actorRef) seen.push(String(event.actorRef.id));
        if (event.type === '@xstate.snapshot') expect(JSON.stringify(event.snapshot)).to.be.a('string');
      };
      const { work } = startedPlan(CHAIN, { inspect });
      expect(seen.slice(1)).to.deep.equal(['sub-runs', 'a', 'wave', 't']);
      work.succeed('a');
      expect(seen.slice(5)).to.deep.equal(['b', 'wave', 't']);
    });

    it('is plain JSON at every moment, and names every sub-run that began', () => {
      const moments: Record<string, unknown> = {};
      const plan = startedPlan(FREE, { begin: false, concurrency: 2, work: holdingConclusion() });
      const look = (moment: string): void => {
        const persisted = plan.actor.getPersistedSnapshot();
        expect(JSON.stringify(structuredClone(persisted)), moment).to.equal(JSON.stringify(persisted));
        expect(JSON.parse(JSON.stringify(plan.actor.getSnapshot()))).to.be.an('object');
        moments[moment] = endsIn(persisted);
      };
      look('queued');
      plan.actor.send({ type: 'begin' });
      look('begun');
      plan.work.succeed('b');
      look('b over');
      for (const id of ['a', 'c']) plan.work.succeed(id);
      look('concluding');
      expect(moments).to.deep.equal({
        queued: {},
        begun: { a: 'running', b: 'running' },
        'b over': { a: 'running', b: 'succeeded', c: 'running' },
        concluding: { a: 'succeeded', b: 'succeeded', c: 'succeeded' },
      });
    });

    it('has a short snapshot for whoever serialises it at every event', () => {
      const plan = startedPlan(FREE, { concurrency: 2 });
      plan.work.succeed('a');
      const subRuns = plan.actor.getSnapshot().children['sub-runs']?.getSnapshot();
      expect(JSON.parse(JSON.stringify(subRuns))).to.deep.equal({
        status: 'active',
        value: 'running',
        live: ['b', 'c'],
        ended: { a: 'succeeded' },
      });
    });

    it('has no event type and no child of its own for each sub-pipeline', () => {
      const many = Array.from({ length: 50 }, (_, index) => ({ id: `s${index}`, needs: [] }));
      const { actor } = startedPlan(many, { concurrency: 50 });
      expect(Object.keys(actor.getSnapshot().children)).to.deep.equal(['sub-runs']);
      expect([...planMachine.events].sort()).to.deep.equal(['begin', 'cancel', 'force', 'sub-runs.settled']);
    });
  });

  /** The specification's table "States and transitions", in the words of statuses. */
  const TABLE: Record<string, () => string> = {
    'queued -> running': () => status(startedPlan(FREE)),
    'running -> succeeded': () => {
      const plan = startedPlan(FREE.slice(0, 1));
      plan.work.succeed('a');
      return status(plan);
    },
    'running -> failed': () => {
      const plan = startedPlan(FREE);
      plan.work.fail('a');
      return status(plan);
    },
    'queued -> cancelled': () => {
      const plan = startedPlan(FREE, { begin: false });
      plan.actor.send({ type: 'cancel' });
      return status(plan);
    },
    'running -> cancelled': () => {
      const plan = startedPlan(FREE);
      plan.actor.send({ type: 'cancel' });
      return status(plan);
    },
  };

  it('has every transition of the specification, and no other', () => {
    const found = new Set<string>();
    const visit = (graph: ReturnType<typeof toDirectedGraph>): void => {
      for (const { source, target } of graph.edges) {
        const [from, to] = [statusWord(source.key), statusWord(target.key)];
        if (from !== to) found.add(`${from} -> ${to}`);
      }
      graph.children.forEach(visit);
    };
    visit(toDirectedGraph(planMachine));
    expect([...found].sort()).to.deep.equal(Object.keys(TABLE).sort());
  });

  it('takes each transition of the specification when it is driven', () => {
    for (const [row, drive] of Object.entries(TABLE)) expect(drive(), row).to.equal(row.split(' -> ')[1]);
  });
});

function status({ actor }: StartedPlan): string {
  return statusOf(actor.getSnapshot());
}

function statusWord(state: string): string {
  return state === 'draining' ? 'cancelled' : state;
}

function waitingFor(id: string): FakePlanWork {
  const work = new FakePlanWork();
  work.waiting.add(id);
  return work;
}

function holdingConclusion(): FakePlanWork {
  const work = new FakePlanWork();
  work.holdsConclusion = true;
  return work;
}

/** Sub-pipeline id to the state that a persisted snapshot shows. */
function endsIn(persisted: unknown): Record<string, unknown> {
  type Children = Record<
    string,
    { readonly snapshot: { readonly value: unknown; readonly children: Children } }
  >;
  const { children } = persisted as { readonly children: Children };
  const runs = children['sub-runs']?.snapshot.children ?? {};
  return Object.fromEntries(Object.entries(runs).map(([id, { snapshot }]) => [id, snapshot.value]));
}
