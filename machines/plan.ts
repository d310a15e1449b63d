import { assign, sendTo, setup } from 'xstate';
import type { SubPipelineNeeds } from './readiness.js';
import { type SubRunsSettled, subRunsLogic } from './sub-runs.js';
import { withTable } from './xstate/flat-machine.js';

/**
 * The machine of a plan. It has the states and transitions of a run, with the runs of sub-pipelines in place of waves
 * (Plan, D45). `draining` has the status `cancelled` and waits for the runs at work (rule 12, D21); `aborting`
 * waits for those that a timeout has aborted (D81).
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
  | SubRunsSettled;

interface PlanMachineInput {
  /** In declaration order. */
  readonly subPipelines: readonly SubPipelineNeeds[];
  /** Maximum number of sub-pipelines at work. */
  readonly concurrency: number;
}

export interface PlanContext extends PlanMachineInput {
  /** True when the time of the plan was over. */
  readonly timedOut?: boolean;
}

const machine = setup({
  types: { context: {} as PlanContext, events: {} as PlanEvent, input: {} as PlanMachineInput },
  actors: { 'sub-runs': subRunsLogic },
  guards: { allSucceeded: ({ event }) => event.type === 'sub-runs.settled' && event.ok },
  actions: {
    beginSubRuns: sendTo('sub-runs', { type: 'sub-runs.begin' as const }),
    cancelSubRuns: sendTo('sub-runs', { type: 'cancel' as const }),
    abortSubRuns: sendTo('sub-runs', { type: 'abort' as const }),
    continueSubRuns: sendTo('sub-runs', { type: 'continue' as const }),
    stepSubRuns: sendTo('sub-runs', { type: 'step' as const }),
    storeTimeout: assign({ timedOut: true }),
  },
}).createMachine({
  id: 'plan',
  context: ({ input: { subPipelines, concurrency } }) => ({ subPipelines, concurrency }),
  invoke: { id: 'sub-runs', src: 'sub-runs', input: ({ context }) => context },
  initial: 'queued',
  states: {
    queued: {
      on: { begin: { target: 'running', actions: 'beginSubRuns' }, cancel: 'cancelled', force: 'cancelled' },
    },
    running: {
      on: {
        'sub-runs.settled': [{ guard: 'allSucceeded', target: 'succeeded' }, { target: 'failed' }],
        cancel: { target: 'draining', actions: 'cancelSubRuns' },
        force: { target: 'draining', actions: 'abortSubRuns' },
        continue: { actions: 'continueSubRuns' },
        step: { actions: 'stepSubRuns' },
        timeout: { target: 'aborting', actions: ['storeTimeout', 'abortSubRuns'] },
      },
    },
    draining: {
      on: {
        'sub-runs.settled': 'cancelled',
        force: { actions: 'abortSubRuns' },
        timeout: { actions: 'abortSubRuns' },
      },
    },
    aborting: { on: { 'sub-runs.settled': 'failed' } },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

export const planMachine = withTable(machine);
