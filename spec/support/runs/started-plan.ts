import { type Actor, createActor, type InspectionEvent } from 'xstate';
import { planMachine } from '../../../machines/plan.js';
import type { Needing } from '../../../machines/readiness.js';
import type { Pace, Settlement } from '../../../machines/types.js';
import type { RunActor } from '../../../machines/run.js';
import { bindPlanWork, type PlanWork } from '../../../machines/sub-runs.js';
import { bindWork } from '../../../machines/work-binding.js';
import { FakeWork } from './fake-work.js';

/** The outside of a plan machine, held by the hand: every sub-pipeline has one wave of one task, `t`. */
export class FakePlanWork implements PlanWork {
  /** In the order they began. */
  readonly begun: string[] = [];
  /** In the order they ended. */
  readonly over: string[] = [];
  readonly runs = new Map<string, RunActor>();
  readonly works = new Map<string, FakeWork>();
  /** Sub-pipelines whose session the spec lets wait. */
  readonly waiting = new Set<string>();
  concluded: ((settlement: Settlement) => void) | undefined;
  /** The spec answers when everything is over. */
  holdsConclusion = false;
  isOverdue = false;
  readonly postponed: (() => void)[] = [];

  readonly pace: Pace = {
    overdue: () => this.isOverdue,
    later: (next) => {
      this.postponed.push(next);
    },
  };

  waves(): readonly (readonly string[])[] {
    return [['t']];
  }

  begin(id: string, run: RunActor): void {
    const work = new FakeWork();
    bindWork(run, work);
    this.begun.push(id);
    this.runs.set(id, run);
    this.works.set(id, work);
    run.start();
    if (!this.waiting.has(id)) run.send({ type: 'begin' });
  }

  ended(id: string): void {
    this.over.push(id);
  }

  conclude(concluded: (settlement: Settlement) => void): void {
    this.concluded = concluded;
    if (!this.holdsConclusion) concluded({ ok: true });
  }

  workOf(id: string): FakeWork {
    const work = this.works.get(id);
    if (work === undefined) throw new Error(`${id} has not begun`);
    return work;
  }

  succeed(id: string): void {
    this.workOf(id).succeed('t');
  }

  fail(id: string): void {
    this.workOf(id).fail('t');
  }

  /** Those whose task waits for the spec. */
  get atWork(): string[] {
    return this.begun.filter((id) => this.workOf(id).held.length > 0);
  }
}

export interface StartedPlan {
  readonly actor: Actor<typeof planMachine>;
  readonly work: FakePlanWork;
}

/** A plan machine, bound to work that the spec holds, and begun unless told otherwise. */
export function startedPlan(
  subPipelines: readonly Needing[],
  options: {
    readonly concurrency?: number;
    readonly begin?: boolean;
    readonly work?: FakePlanWork;
    readonly inspect?: (event: InspectionEvent) => void;
  } = {},
): StartedPlan {
  const { concurrency = 1, work = new FakePlanWork(), inspect } = options;
  const actor = createActor(planMachine, {
    input: { subPipelines, concurrency },
    ...(inspect && { inspect }),
  });
  bindPlanWork(actor, work);
  actor.start();
  if (options.begin ?? true) actor.send({ type: 'begin' });
  return { actor, work };
}
