import { sendTo, setup } from 'xstate';
import type { Needing } from './readiness.js';
import { type SubRunsSettled, subRunsLogic } from './sub-runs.js';

/**
 * The plan: the same states and transitions as a run has, whose waves are the runs of its sub-pipelines (Plan, D45).
 * As there, `draining` reads `cancelled` and waits for what is at work (rule 12, D21).
 */
export type PlanEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'cancel' }
  | { readonly type: 'force' }
  | SubRunsSettled;

export interface PlanContext {
  /** In declared order. */
  readonly subPipelines: readonly Needing[];
  /** How many may run together. */
  readonly concurrency: number;
}

export const planMachine = setup({
  types: {
    context: {} as PlanContext,
    events: {} as PlanEvent,
    input: {} as PlanContext,
  },
  actors: { 'sub-runs': subRunsLogic },
  guards: {
    allSucceeded: ({ event }) => event.type === 'sub-runs.settled' && event.ok,
  },
  actions: {
    beginSubRuns: sendTo('sub-runs', { type: 'sub-runs.begin' as const }),
    cancelSubRuns: sendTo('sub-runs', { type: 'cancel' as const }),
    abortSubRuns: sendTo('sub-runs', { type: 'abort' as const }),
  },
}).createMachine({
  id: 'plan',
  context: ({ input: { subPipelines, concurrency } }) => ({ subPipelines, concurrency }),
  invoke: {
    id: 'sub-runs',
    src: 'sub-runs',
    input: ({ context, self }) => ({ ...context, plan: self }),
  },
  initial: 'queued',
  states: {
    queued: {
      on: {
        begin: { target: 'running', actions: 'beginSubRuns' },
        cancel: 'cancelled',
        force: 'cancelled',
      },
    },
    running: {
      on: {
        'sub-runs.settled': [{ guard: 'allSucceeded', target: 'succeeded' }, { target: 'failed' }],
        cancel: { target: 'draining', actions: 'cancelSubRuns' },
        force: { target: 'draining', actions: 'abortSubRuns' },
      },
    },
    draining: {
      on: {
        'sub-runs.settled': 'cancelled',
        force: { actions: 'abortSubRuns' },
      },
    },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});
