import type { ActorRefFrom, AnyActorRef } from 'xstate';
import type { runMachine } from './run.js';
import type { Pace, Settlement, Work } from './types.js';

// Bound to the run's actor and kept out of inputs and machine context, so that every snapshot stays plain JSON.
const bindings = new WeakMap<object, Work>();

/** Gives a run its work. To be done between creating its actor and starting it. */
export function bindWork(run: object, work: Work): void {
  bindings.set(run, work);
}

/** The work of the run that an actor belongs to: that of the nearest one above it. */
export function workOf(actor: AnyActorRef): Work {
  // oxlint-disable-next-line no-underscore-dangle -- XState has no other word for the actor above
  for (let above: AnyActorRef | undefined = actor; above !== undefined; above = above._parent) {
    const work = bindings.get(above);
    if (work !== undefined) return work;
  }
  throw new Error('no work is bound to the run of this actor');
}

export type RunActor = ActorRefFrom<typeof runMachine>;

/** What the plan machine asks of the outside. No member throws. */
export interface PlanWork {
  readonly pace: Pace;
  /** Task ids of a sub-pipeline, wave by wave. */
  waves(subPipelineId: string): readonly (readonly string[])[];
  /** Gives the run of a sub-pipeline its work and starts it; it begins when its session has been read. */
  begin(subPipelineId: string, run: RunActor): void;
  /** The run of a sub-pipeline is over: told before another begins. */
  ended(subPipelineId: string): void;
  /** Every sub-pipeline has succeeded: gathers what the plan leaves. */
  conclude(concluded: (settlement: Settlement) => void): void;
}

// Kept out of inputs and context for the same reason as the work of a run (environment.ts).
const planBindings = new WeakMap<object, PlanWork>();

/** Gives a plan its work. To be done between creating its actor and starting it. */
export function bindPlanWork(plan: object, work: PlanWork): void {
  planBindings.set(plan, work);
}

/** The work of a plan, by its actor. */
export function planWorkOf(plan: object): PlanWork {
  const work = planBindings.get(plan);
  if (work === undefined) throw new Error('no work is bound to this plan');
  return work;
}
