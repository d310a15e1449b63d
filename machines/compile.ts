import { assign, setup } from 'xstate';
import { PortBinding } from './ports.js';

/**
 * The machine of a compilation: when a model is asked, when its answer is checked, and when it is asked again (D35).
 *
 * Law L1: the question, the answers and the problems stay outside, behind {@link CompilePorts}. Each port reports with
 * one event. `stopped` is the end of a compilation that the model or the caller ended: nothing was wrong with the answer.
 */
export type CompileEvent =
  /** The model has answered. */
  | { readonly type: 'answered' }
  /** The answer is a valid definition. */
  | { readonly type: 'accepted' }
  /** The answer has errors. `repeated`: the model has given this answer before; asking again would not help. */
  | { readonly type: 'rejected'; readonly repeated: boolean }
  /** The model says that it cannot. */
  | { readonly type: 'declined' }
  /** The model did not answer, or the caller wants no answer any more. */
  | { readonly type: 'stop' };

/** The functions that the machine calls. None throws. A report of one is handled after the call has returned. */
export interface CompilePorts {
  /** Asks the model for a first answer. Reports `answered` or `stop`. */
  draft(): void;
  /** Checks the last answer. Reports `accepted`, `rejected` or `declined`. */
  check(): void;
  /** Asks the model to repair its last answer. Reports as `draft` does. */
  repair(): void;
}

export const compilePorts = new PortBinding<CompilePorts>();

export interface CompileContext {
  /** How often the model may still be asked to repair its answer. */
  readonly repairsLeft: number;
}

export const compileMachine = setup({
  types: { context: {} as CompileContext, events: {} as CompileEvent, input: {} as CompileContext },
  guards: {
    canRepair: ({ context, event }) =>
      event.type === 'rejected' && !event.repeated && context.repairsLeft > 0,
  },
  actions: {
    countRepair: assign({ repairsLeft: ({ context }) => context.repairsLeft - 1 }),
    draft: ({ self }) => compilePorts.find(self).draft(),
    check: ({ self }) => compilePorts.find(self).check(),
    repair: ({ self }) => compilePorts.find(self).repair(),
  },
}).createMachine({
  id: 'compile',
  context: ({ input: { repairsLeft } }) => ({ repairsLeft }),
  initial: 'drafting',
  states: {
    drafting: { entry: 'draft', on: { answered: 'validating', stop: 'stopped' } },
    validating: {
      entry: 'check',
      on: {
        accepted: 'done',
        rejected: [{ guard: 'canRepair', target: 'repairing' }, { target: 'gaveUp' }],
        declined: 'gaveUp',
        stop: 'stopped',
      },
    },
    repairing: { entry: ['countRepair', 'repair'], on: { answered: 'validating', stop: 'stopped' } },
    done: { type: 'final' },
    gaveUp: { type: 'final' },
    stopped: { type: 'final' },
  },
});
