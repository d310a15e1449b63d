import { type AnyActorRef, createActor, type Snapshot } from 'xstate';
import { type ChildEnd, isChildEnd, type Logic, persistChildren, STOP, type Scope } from './logic.js';
import { type Needing, Readiness } from './readiness.js';
import { type RunActor, runMachine } from './run.js';
import { statusOf } from './status.js';
import type { Pace, RunStatus, Settlement } from './types.js';

/**
 * The runs of a plan's sub-pipelines. Each begins when those that it needs have succeeded and there is a place for
 * it, the first declared first (D45). After a failure, or when the plan was cancelled, none begins any more, and those
 * at work come to their end. It decides nothing about the plan: it says when nothing is at work any more.
 */
export type SubRunsSnapshot = Snapshot<undefined> & {
  value: 'idle' | 'running' | 'concluding' | 'settled' | 'stopped';
  /** No further run begins. */
  closed: boolean;
  /** The next one begins in a later turn of the event loop. */
  postponed: boolean;
  readiness: Readiness;
  /** How many may be at work together. */
  concurrency: number;
  live: Map<string, RunActor>;
  /** How those that are over have ended. */
  ended: Map<string, RunStatus>;
  /** Whom it reports to. */
  plan: AnyActorRef;
  toJSON(): unknown;
};

export type SubRunsEvent =
  | { readonly type: 'sub-runs.begin' }
  | { readonly type: 'sub-runs.continue' }
  | { readonly type: 'sub-runs.concluded'; readonly settlement: Settlement }
  | { readonly type: 'cancel' }
  | { readonly type: 'abort' }
  | { readonly type: typeof STOP }
  | ChildEnd;

export interface SubRunsInput {
  readonly plan: AnyActorRef;
  readonly subPipelines: readonly Needing[];
  readonly concurrency: number;
}

/** What they tell the plan: nothing is at work any more. */
export interface SubRunsSettled {
  readonly type: 'sub-runs.settled';
  /** Every sub-pipeline succeeded, and what the plan leaves was gathered. */
  readonly ok: boolean;
}

/** To begin one costs little; what it does once its session was read comes upon the same turn. */
const RUNS_IN_A_TURN = 32;

export const subRunsLogic: Logic<SubRunsSnapshot, SubRunsEvent, SubRunsInput> = {
  getInitialSnapshot: (_, { plan, subPipelines, concurrency }) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'idle',
    closed: false,
    postponed: false,
    readiness: new Readiness(subPipelines),
    concurrency,
    live: new Map(),
    ended: new Map(),
    plan,
    toJSON: summary,
  }),

  transition(runs, event, scope) {
    if (isChildEnd(event)) {
      noteEnd(runs, event.actorId);
      goOn(runs, scope);
      return runs;
    }
    switch (event.type) {
      case 'sub-runs.begin':
        runs.value = 'running';
        goOn(runs, scope);
        return runs;
      case 'sub-runs.continue':
        runs.postponed = false;
        goOn(runs, scope);
        return runs;
      case 'sub-runs.concluded':
        tellPlan(runs, event.settlement.ok);
        return runs;
      case 'cancel':
        close(runs, { type: 'cancel' });
        return runs;
      case 'abort':
        close(runs, { type: 'force' });
        return runs;
      case STOP:
        for (const run of runs.live.values()) scope.stopChild(run);
        return { ...runs, status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot(runs) {
    const { status, output, error, value } = runs;
    const ended = [...runs.ended].map(([id, end]) => [id, endedRun(end)] as const);
    const children = Object.fromEntries([...ended, ...Object.entries(persistChildren(runs.live))]);
    return { status, output, error, value, children } as Snapshot<undefined>;
  },
};

type SubRunsScope = Scope<SubRunsSnapshot, SubRunsEvent>;

/** Begins what may begin; when nothing is at work then, all is over. */
function goOn(runs: SubRunsSnapshot, scope: SubRunsScope): void {
  if (runs.postponed) return;
  beginReady(runs, scope);
  if (runs.live.size > 0) return;
  if (runs.closed) tellPlan(runs, false);
  else conclude(runs, scope);
}

/** In slices of one turn of the event loop: a wide plan does not hold the process. */
function beginReady(runs: SubRunsSnapshot, { self }: SubRunsScope): void {
  const work = planWorkOf(runs.plan);
  for (let begun = 1; !runs.closed && runs.live.size < runs.concurrency; begun++) {
    const id = runs.readiness.next();
    if (id === undefined) return;
    const run = createActor(runMachine, { parent: self, id, src: 'run', input: { waves: work.waves(id) } });
    runs.live.set(id, run);
    work.begin(id, run);
    if (begun === RUNS_IN_A_TURN) {
      runs.postponed = true;
      work.pace.later(() => self.send({ type: 'sub-runs.continue' }));
      return;
    }
  }
}

function noteEnd(runs: SubRunsSnapshot, id: string): void {
  const run = runs.live.get(id);
  if (run === undefined) return;
  runs.live.delete(id);
  const end = statusOf(run.getSnapshot());
  runs.ended.set(id, end);
  planWorkOf(runs.plan).ended(id);
  if (end === 'succeeded') runs.readiness.release(id);
  else runs.closed = true;
}

/** No further one begins. When no tool is at work there is nothing to wait for. */
function close(runs: SubRunsSnapshot, event: { readonly type: 'cancel' | 'force' }): void {
  runs.closed = true;
  for (const run of runs.live.values()) run.send(event);
  if (runs.value === 'concluding') tellPlan(runs, false);
}

function conclude(runs: SubRunsSnapshot, { self }: SubRunsScope): void {
  runs.value = 'concluding';
  planWorkOf(runs.plan).conclude((settlement) => self.send({ type: 'sub-runs.concluded', settlement }));
}

function tellPlan(runs: SubRunsSnapshot, ok: boolean): void {
  runs.value = 'settled';
  runs.plan.send({ type: 'sub-runs.settled', ok } satisfies SubRunsSettled);
}

function endedRun(value: RunStatus): { readonly snapshot: unknown; readonly src: string } {
  return { src: 'run', snapshot: { status: 'done', value } };
}

function summary(this: SubRunsSnapshot): unknown {
  const { status, value, live, ended } = this;
  return { status, value, live: [...live.keys()], ended: Object.fromEntries(ended) };
}

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

// Kept out of inputs and context for the same reason as the work of a run (work-binding.ts).
const planBindings = new WeakMap<object, PlanWork>();

/** Gives a plan its work. To be done between creating its actor and starting it. */
export function bindPlanWork(plan: object, work: PlanWork): void {
  planBindings.set(plan, work);
}

/** The work of a plan, by its actor. */
function planWorkOf(plan: object): PlanWork {
  const work = planBindings.get(plan);
  if (work === undefined) throw new Error('no work is bound to this plan');
  return work;
}
