import { assign, sendTo, setup } from 'xstate';
import { type WaveSettled, waveLogic } from './wave.js';

/**
 * The run: the specification's table of states and transitions, and the stepping through waves.
 *
 * One wave actor lives beside the states for as long as the run does, so that `draining` can wait for the wave that
 * `running` began. `draining` already reads `cancelled` from outside; it is no final state, because XState stops
 * the children of a machine that enters one, and a wave that has started runs to completion (rule 12, D21).
 */
export type RunEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'cancel' }
  | { readonly type: 'force' }
  | WaveSettled;

export interface RunContext {
  /** Task ids, wave by wave. */
  readonly waves: readonly (readonly string[])[];
  /** Waves that have settled; the index of the wave at hand (D20). */
  readonly wavesExecuted: number;
  /** Tasks that failed, in the order they settled. */
  readonly failed: readonly string[];
}

export const runMachine = setup({
  types: {
    context: {} as RunContext,
    events: {} as RunEvent,
    input: {} as { readonly waves: RunContext['waves'] },
  },
  actors: { wave: waveLogic },
  guards: {
    aTaskFailed: ({ event }) => failedIn(event).length > 0,
    wasTheLastWave: ({ context }) => context.wavesExecuted + 1 >= context.waves.length,
  },
  actions: {
    beginWave: sendTo('wave', ({ context }) => ({
      type: 'wave.begin' as const,
      taskIds: context.waves[context.wavesExecuted] ?? [],
    })),
    countWave: assign({ wavesExecuted: ({ context }) => context.wavesExecuted + 1 }),
    keepFailed: assign({ failed: ({ event }) => failedIn(event) }),
    abortWave: sendTo('wave', { type: 'abort' as const }),
  },
}).createMachine({
  id: 'run',
  context: ({ input }) => ({ waves: input.waves, wavesExecuted: 0, failed: [] }),
  invoke: { id: 'wave', src: 'wave', input: ({ self }) => ({ run: self }) },
  initial: 'queued',
  states: {
    queued: {
      on: {
        begin: { target: 'running', actions: 'beginWave' },
        cancel: 'cancelled',
        force: 'cancelled',
      },
    },
    running: {
      on: {
        'wave.settled': [
          {
            guard: 'aTaskFailed',
            target: 'failed',
            actions: ['countWave', 'keepFailed'],
          },
          { guard: 'wasTheLastWave', target: 'succeeded', actions: 'countWave' },
          { actions: ['countWave', 'beginWave'] },
        ],
        cancel: 'draining',
        force: { target: 'draining', actions: 'abortWave' },
      },
    },
    draining: {
      on: {
        'wave.settled': {
          target: 'cancelled',
          actions: ['countWave', 'keepFailed'],
        },
        force: { actions: 'abortWave' },
      },
    },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

function failedIn(event: RunEvent): readonly string[] {
  return event.type === 'wave.settled' ? event.failed : [];
}
