import { assign, sendTo, setup } from 'xstate';
import { type HandlerLists, type HandlersContext, hasHandlers, type TasksEnd } from './handlers.js';
import type { SubPipelineNeeds } from './readiness.js';
import { type HandlersSettled, type SubRunsSettled, subRunsLogic } from './sub-runs.js';
import { withTable } from './xstate/flat-machine.js';

/**
 * The machine of a plan. It has the states and transitions of a run, with the runs of sub-pipelines in place of waves
 * (Plan, D45). `draining` has the status `cancelled` and waits for the runs at work (rule 12, D21); `aborting`
 * waits for those that a timeout has aborted (D81). Handlers of the plan run when no sub-pipeline is at work any more, in
 * a run of their own (D80).
 */
export type PlanEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'cancel' }
  | { readonly type: 'force' }
  /** Lets the runs go on that have paused, to their next breakpoints. */
  | { readonly type: 'continue' }
  /** Lets each of them run one wave. */
  | { readonly type: 'step' }
  /** The time of the whole run is over. */
  | { readonly type: 'timeout' }
  | SubRunsSettled
  | HandlersSettled;

interface PlanMachineInput {
  /** In declaration order. */
  readonly subPipelines: readonly SubPipelineNeeds[];
  /** Maximum number of sub-pipelines at work. */
  readonly concurrency: number;
  /** Undefined for a plan without handlers. */
  readonly handlers?: HandlerLists | undefined;
}

export interface PlanContext extends Omit<PlanMachineInput, 'handlers'>, Pick<HandlersContext, 'handlers'> {
  /** True when the time of the plan was over. */
  readonly timedOut?: boolean;
}

function createContext({ subPipelines, concurrency, handlers }: PlanMachineInput): PlanContext {
  const context = { subPipelines, concurrency };
  return handlers === undefined ? context : { ...context, handlers };
}

const TO_FAILURE_HANDLERS = {
  guard: 'handlesFailure',
  target: 'handlingFailure',
  actions: 'handleFailure',
} as const;

/** A state in which handlers run, until the plan comes to the state that its sub-pipelines have decided (D80). */
function handlingUntil<Target extends TasksEnd>(target: Target) {
  return { on: { 'handlers.settled': target, force: { actions: 'abortSubRuns' } } } as const;
}

function hasSucceeded(event: PlanEvent): boolean {
  return event.type === 'sub-runs.settled' && event.ok;
}

const machine = setup({
  types: { context: {} as PlanContext, events: {} as PlanEvent, input: {} as PlanMachineInput },
  actors: { 'sub-runs': subRunsLogic },
  guards: {
    allSucceeded: ({ event }) => hasSucceeded(event),
    handlesSuccess: ({ context, event }) => hasSucceeded(event) && hasHandlers(context, 'succeeded'),
    handlesFailure: ({ context, event }) => !hasSucceeded(event) && hasHandlers(context, 'failed'),
    handlesCancel: ({ context }) => hasHandlers(context, 'cancelled'),
  },
  actions: {
    beginSubRuns: sendTo('sub-runs', { type: 'sub-runs.begin' as const }),
    cancelSubRuns: sendTo('sub-runs', { type: 'cancel' as const }),
    abortSubRuns: sendTo('sub-runs', { type: 'abort' as const }),
    continueSubRuns: sendTo('sub-runs', { type: 'continue' as const }),
    stepSubRuns: sendTo('sub-runs', { type: 'step' as const }),
    storeTimeout: assign({ timedOut: true }),
    handleSuccess: sendTo('sub-runs', { type: 'handle.succeeded' as const }),
    handleFailure: sendTo('sub-runs', { type: 'handle.failed' as const }),
    handleCancel: sendTo('sub-runs', { type: 'handle.cancelled' as const }),
  },
}).createMachine({
  id: 'plan',
  context: ({ input }) => createContext(input),
  invoke: { id: 'sub-runs', src: 'sub-runs', input: ({ context }) => context },
  initial: 'queued',
  states: {
    queued: {
      on: { begin: { target: 'running', actions: 'beginSubRuns' }, cancel: 'cancelled', force: 'cancelled' },
    },
    running: {
      on: {
        'sub-runs.settled': [
          { guard: 'handlesSuccess', target: 'handlingSuccess', actions: 'handleSuccess' },
          { guard: 'allSucceeded', target: 'succeeded' },
          TO_FAILURE_HANDLERS,
          { target: 'failed' },
        ],
        cancel: { target: 'draining', actions: 'cancelSubRuns' },
        force: { target: 'draining', actions: 'abortSubRuns' },
        continue: { actions: 'continueSubRuns' },
        step: { actions: 'stepSubRuns' },
        timeout: { target: 'aborting', actions: ['storeTimeout', 'abortSubRuns'] },
      },
    },
    draining: {
      on: {
        'sub-runs.settled': [
          { guard: 'handlesCancel', target: 'handlingCancel', actions: 'handleCancel' },
          { target: 'cancelled' },
        ],
        force: { actions: 'abortSubRuns' },
        timeout: { actions: 'abortSubRuns' },
      },
    },
    aborting: { on: { 'sub-runs.settled': [TO_FAILURE_HANDLERS, { target: 'failed' }] } },
    handlingSuccess: handlingUntil('succeeded'),
    handlingFailure: handlingUntil('failed'),
    handlingCancel: handlingUntil('cancelled'),
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

export const planMachine = withTable(machine);
