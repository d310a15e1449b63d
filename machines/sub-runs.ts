import { type ActorScope, createActor, type Snapshot } from 'xstate';
import {
  type ChildEnd,
  isChildEnd,
  type Logic,
  type LogicChart,
  persistChildren,
  sendToParent,
  STOP,
} from './logic.js';
import { type EventLoopBudget, PortBinding } from './ports.js';
import { Readiness, type SubPipelineNeeds } from './readiness.js';
import { type HandleEvent, type RunActor, runMachine, type RunMachineInput } from './run.js';
import { SKIPPED_STATUS, toRunStatus } from './status.js';
import type { SubPipelineStatus, TaskResult } from './types.js';

/** The ports through which a plan's machines reach the world. No member throws. */
export interface PlanPorts {
  readonly eventLoopBudget: EventLoopBudget;
  /** Returns the input of the machine of a sub-pipeline. */
  input(subPipelineId: string): RunMachineInput;
  /** Looks at the conditions of a sub-pipeline that would begin now; reports once whether it is skipped (D77). */
  decide(subPipelineId: string, onDecided: (isSkipped: boolean) => void): void;
  /** Called when a sub-pipeline is skipped, before another one begins. */
  onSkipped(subPipelineId: string): void;
  /** Binds ports to the run of a sub-pipeline and starts it; it begins when its session has been read. */
  begin(subPipelineId: string, run: RunActor): void;
  /** Called when the run of a sub-pipeline, or of the plan's handlers, was cancelled. */
  cancelled(subPipelineId: string): void;
  /** Called when the run of a sub-pipeline has ended, before another one begins. */
  ended(subPipelineId: string): void;
  /** Binds ports to the run of the plan's handlers and starts it; `event` begins it when its session has been read. */
  beginHandlers(run: RunActor, event: HandleEvent): void;
  /** Called when every sub-pipeline has succeeded: collects the values that the plan leaves on the blackboard. */
  conclude(onConcluded: (result: TaskResult) => void): void;
}

export const planPorts = new PortBinding<PlanPorts>();

/**
 * The runs of a plan's sub-pipelines. Each begins when those that it needs have succeeded, or were skipped, and the
 * concurrency allows it; when several are ready, they begin in declaration order (D45). One with conditions holds its
 * place while they are looked at; if they do not hold, it is skipped (D77). After a failure or a cancel no run begins, and
 * those at work finish. It decides nothing about the plan: it reports when nothing is at work any more. The plan may then ask
 * for its handlers, which are a run, too (D80).
 */
export type SubRunsSnapshot = Snapshot<undefined> & {
  value: 'idle' | 'running' | 'concluding' | 'settled' | 'handling' | 'stopped';
  /** True when no further run may begin. */
  closed: boolean;
  /** True when the next run begins in a later tick of the event loop. */
  postponed: boolean;
  readiness: Readiness;
  /** Maximum number of runs at work. */
  concurrency: number;
  live: Map<string, RunActor>;
  /** The sub-pipelines whose conditions are being looked at. */
  deciding: Set<string>;
  /** The runs that have yet to be cancelled, or stopped by force. */
  closing: { readonly event: CloseEvent; readonly runs: Iterator<readonly [string, RunActor]> } | undefined;
  /** Final statuses of the runs that have ended, and those of skipped sub-pipelines, by sub-pipeline id. */
  ended: Map<string, SubPipelineStatus>;
  toJSON(): unknown;
};

export type SubRunsEvent =
  | { readonly type: 'sub-runs.begin' }
  | { readonly type: 'sub-runs.continue' }
  | { readonly type: 'sub-runs.decided'; readonly id: string; readonly isSkipped: boolean }
  | { readonly type: 'sub-runs.concluded'; readonly result: TaskResult }
  | { readonly type: 'cancel' }
  | { readonly type: 'abort' }
  | { readonly type: 'continue' | 'step' }
  | { readonly type: 'close.continue' }
  | HandleEvent
  | { readonly type: typeof STOP }
  | ChildEnd;

export const subRunsChart: LogicChart<SubRunsSnapshot['value'], SubRunsEvent['type']> = {
  initial: 'idle',
  states: {
    idle: { 'sub-runs.begin': 'running', 'xstate.stop': 'stopped' },
    running: {
      'sub-runs.continue': {
        running: 'runs are at work',
        concluding: 'all have succeeded',
        settled: 'none is at work',
      },
      'sub-runs.decided': {
        running: 'runs are left',
        concluding: 'all are over',
      },
      'xstate.done.actor.*': {
        running: 'runs are left',
        concluding: 'all have succeeded',
        settled: 'it is closed, none is at work',
      },
      cancel: { running: 'runs are at work', settled: 'only conditions are looked at' },
      abort: { running: 'runs are at work', settled: 'only conditions are looked at' },
      'close.continue': 'running',
      continue: 'running',
      step: 'running',
      'xstate.stop': 'stopped',
    },
    concluding: {
      'sub-runs.concluded': 'settled',
      cancel: 'settled',
      abort: 'settled',
      continue: 'concluding',
      step: 'concluding',
      'xstate.stop': 'stopped',
    },
    settled: {
      'handle.succeeded': 'handling',
      'handle.failed': 'handling',
      'handle.cancelled': 'handling',
      'xstate.stop': 'stopped',
    },
    handling: {
      'xstate.done.actor.*': 'settled',
      abort: 'handling',
      'close.continue': 'handling',
      'xstate.stop': 'stopped',
    },
    stopped: 'final',
  },
};

interface CloseEvent {
  readonly type: 'cancel' | 'force';
}

export interface SubRunsInput {
  readonly subPipelines: readonly SubPipelineNeeds[];
  readonly concurrency: number;
}

/** Reports to the plan that nothing is at work any more. */
export interface SubRunsSettled {
  readonly type: 'sub-runs.settled';
  /** True when every sub-pipeline succeeded and the blackboard was collected. */
  readonly ok: boolean;
}

/** Reports to the plan that its handlers have ended. */
export interface HandlersSettled {
  readonly type: 'handlers.settled';
}

/** Names the run of the plan's handlers. No sub-pipeline can be called so. */
export const HANDLERS_ID = '@handlers';

/** A count instead of a time limit: beginning a run is quick, but the work that follows runs in the same tick. */
const RUNS_PER_TICK = 32;

export const subRunsLogic: Logic<SubRunsSnapshot, SubRunsEvent, SubRunsInput> = {
  getInitialSnapshot: (_, { subPipelines, concurrency }) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'idle',
    closed: false,
    postponed: false,
    readiness: new Readiness(subPipelines),
    concurrency,
    live: new Map(),
    deciding: new Set(),
    closing: undefined,
    ended: new Map(),
    toJSON: summarize,
  }),

  transition(runs, event, scope) {
    if (isChildEnd(event)) {
      recordEnd(runs, event.actorId, scope);
      if (event.actorId === HANDLERS_ID) reportHandlers(runs, scope);
      else schedule(runs, scope);
      return runs;
    }
    switch (event.type) {
      case 'sub-runs.begin':
        runs.value = 'running';
        schedule(runs, scope);
        return runs;
      case 'sub-runs.continue':
        runs.postponed = false;
        schedule(runs, scope);
        return runs;
      case 'sub-runs.decided':
        applyDecision(runs, event.id, event.isSkipped, scope);
        return runs;
      case 'sub-runs.concluded':
        // A cancel or a timeout may have come first.
        if (runs.value === 'concluding') reportToPlan(runs, event.result.ok, scope);
        return runs;
      case 'cancel':
        close(runs, { type: 'cancel' }, scope);
        return runs;
      case 'abort':
        close(runs, { type: 'force' }, scope);
        return runs;
      case 'continue':
      case 'step':
        // A sub-run that has not paused ignores the event.
        for (const run of runs.live.values()) run.send({ type: event.type });
        return runs;
      case 'close.continue':
        closeRuns(runs, scope);
        return runs;
      case 'handle.succeeded':
      case 'handle.failed':
      case 'handle.cancelled':
        beginHandlers(runs, event, scope);
        return runs;
      case STOP:
        for (const run of runs.live.values()) scope.stopChild(run);
        return { ...runs, status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot(runs) {
    const { status, output, error, value } = runs;
    const ended = [...runs.ended].map(
      ([id, runStatus]) => [id, { src: 'run', snapshot: { status: 'done', value: runStatus } }] as const,
    );
    const children = Object.fromEntries([...ended, ...Object.entries(persistChildren(runs.live))]);
    return { status, output, error, value, children } as Snapshot<undefined>;
  },
};

type SubRunsScope = ActorScope<SubRunsSnapshot, SubRunsEvent>;

/** Begins the runs that may begin; when nothing is at work afterwards, concludes the plan. */
function schedule(runs: SubRunsSnapshot, scope: SubRunsScope): void {
  if (runs.postponed) return;
  beginReady(runs, scope);
  if (runs.live.size + runs.deciding.size > 0) return;
  if (runs.closed) reportToPlan(runs, false, scope);
  else conclude(runs, scope);
}

/** Begins a limited number of runs per tick, so that a wide plan does not block the event loop. */
function beginReady(runs: SubRunsSnapshot, { self }: SubRunsScope): void {
  const ports = planPorts.find(self);
  for (let begun = 1; !runs.closed && runs.live.size + runs.deciding.size < runs.concurrency; begun++) {
    const id = runs.readiness.next();
    if (id === undefined) return;
    if (runs.readiness.isConditional(id)) decide(runs, id, self);
    else begin(runs, id, self);
    if (begun === RUNS_PER_TICK) {
      runs.postponed = true;
      ports.eventLoopBudget.defer(() => self.send({ type: 'sub-runs.continue' }));
      return;
    }
  }
}

function begin(runs: SubRunsSnapshot, id: string, self: SubRunsScope['self']): void {
  planPorts.find(self).begin(id, createRun(runs, id, self));
}

/** Begins the handlers of the plan: a run without tasks, whose first event names the end that they handle. */
function beginHandlers(runs: SubRunsSnapshot, event: HandleEvent, { self }: SubRunsScope): void {
  runs.value = 'handling';
  planPorts.find(self).beginHandlers(createRun(runs, HANDLERS_ID, self), event);
}

function createRun(runs: SubRunsSnapshot, id: string, self: SubRunsScope['self']): RunActor {
  const input = planPorts.find(self).input(id);
  const run = createActor(runMachine, { parent: self, id, src: 'run', input });
  runs.live.set(id, run);
  return run;
}

/** Asks whether a sub-pipeline is skipped. The decision is an event, so it comes after this transition. */
function decide(runs: SubRunsSnapshot, id: string, self: SubRunsScope['self']): void {
  runs.deciding.add(id);
  planPorts.find(self).decide(id, (isSkipped) => self.send({ type: 'sub-runs.decided', id, isSkipped }));
}

/** Ignores a decision that comes after the plan was closed. */
function applyDecision(runs: SubRunsSnapshot, id: string, isSkipped: boolean, scope: SubRunsScope): void {
  if (!runs.deciding.delete(id)) return;
  if (!isSkipped) return begin(runs, id, scope.self);
  runs.ended.set(id, SKIPPED_STATUS);
  planPorts.find(scope.self).onSkipped(id);
  runs.readiness.release(id);
  schedule(runs, scope);
}

function recordEnd(runs: SubRunsSnapshot, id: string, { self }: SubRunsScope): void {
  const run = runs.live.get(id);
  if (run === undefined) return;
  runs.live.delete(id);
  const status = toRunStatus(run.getSnapshot());
  runs.ended.set(id, status);
  if (id === HANDLERS_ID) return;
  planPorts.find(self).ended(id);
  if (status === 'succeeded') return runs.readiness.release(id);
  runs.closed = true;
  runs.deciding.clear();
}

/**
 * Lets no further run begin, not even one whose conditions are being looked at. While the plan concludes no tool is at
 * work, so there is nothing to wait for.
 */
function close(runs: SubRunsSnapshot, event: CloseEvent, scope: SubRunsScope): void {
  const isUnderWay = runs.closing !== undefined;
  const isDeciding = runs.deciding.size > 0;
  runs.closed = true;
  runs.deciding.clear();
  runs.closing = { event, runs: runs.live.entries() };
  if (!isUnderWay) closeRuns(runs, scope);
  const isIdle = isDeciding && runs.live.size === 0 && !runs.postponed;
  if (runs.value === 'concluding' || isIdle) reportToPlan(runs, false, scope);
}

/** Cancels runs at work: some at once, the others in later turns, because they may be thousands. */
function closeRuns(runs: SubRunsSnapshot, { self }: SubRunsScope): void {
  if (runs.closing === undefined) return;
  const ports = planPorts.find(self);
  const { event, runs: left } = runs.closing;
  for (let next = left.next(); next.done !== true; next = left.next()) {
    const [id, run] = next.value;
    run.send(event);
    ports.cancelled(id);
    if (ports.eventLoopBudget.exhausted()) {
      ports.eventLoopBudget.defer(() => self.send({ type: 'close.continue' }));
      return;
    }
  }
  runs.closing = undefined;
}

function conclude(runs: SubRunsSnapshot, { self }: SubRunsScope): void {
  runs.value = 'concluding';
  planPorts.find(self).conclude((result) => self.send({ type: 'sub-runs.concluded', result }));
}

function reportToPlan(runs: SubRunsSnapshot, ok: boolean, { self }: SubRunsScope): void {
  runs.value = 'settled';
  const settled: SubRunsSettled = { type: 'sub-runs.settled', ok };
  sendToParent(self, settled);
}

function reportHandlers(runs: SubRunsSnapshot, { self }: SubRunsScope): void {
  runs.value = 'settled';
  const settled: HandlersSettled = { type: 'handlers.settled' };
  sendToParent(self, settled);
}

function summarize(this: SubRunsSnapshot): unknown {
  const { status, value, closed, live, ended } = this;
  // Counts, because an inspector reads this after every event, and there may be thousands of runs.
  return { status, value, closed, live: live.size, ended: ended.size };
}
