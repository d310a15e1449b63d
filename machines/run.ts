import {
  type ActorRefFrom,
  assign,
  createActor,
  type ExecutableActionObject,
  sendTo,
  setup,
  type SnapshotFrom,
} from 'xstate';
import { type WaveSettled, waveLogic } from './wave.js';

/**
 * The machine of a run: the states and transitions of the reference, and the sequence of its waves.
 *
 * One wave actor lives as long as the run, so that `draining` can wait for the wave that `running` began. `draining`
 * already has the status `cancelled`; it is not a final state, because XState stops the children of a machine that
 * enters one, and a wave that has started runs to completion (rule 12, D21).
 */
export type RunEvent =
  | { readonly type: 'begin' }
  | { readonly type: 'cancel' }
  | { readonly type: 'force' }
  | WaveSettled;

export interface RunContext {
  /** Task ids, wave by wave. */
  readonly waves: readonly (readonly string[])[];
  /** Number of settled waves, set when the run ends (D20); until then the wave actor counts them. */
  readonly wavesExecuted: number;
  /** Ids of the tasks of the last wave that failed, in the order in which they settled. */
  readonly failed: readonly string[];
}

type WaveOutcome = Pick<RunContext, 'wavesExecuted' | 'failed'>;

const NO_WAVE: WaveOutcome = { wavesExecuted: 0, failed: [] };

function toWaveOutcome(event: RunEvent): WaveOutcome {
  if (event.type !== 'wave.settled') return NO_WAVE;
  return { wavesExecuted: event.wavesExecuted, failed: event.failed };
}

const machine = setup({
  types: {
    context: {} as RunContext,
    events: {} as RunEvent,
    input: {} as { readonly waves: RunContext['waves'] },
  },
  actors: { wave: waveLogic },
  guards: {
    hasFailedTask: ({ event }) => toWaveOutcome(event).failed.length > 0,
    isLastWave: ({ context, event }) => toWaveOutcome(event).wavesExecuted >= context.waves.length,
  },
  actions: {
    beginWave: sendTo('wave', ({ context, event }) => ({
      type: 'wave.begin' as const,
      taskIds: context.waves[toWaveOutcome(event).wavesExecuted] ?? [],
    })),
    storeWaveOutcome: assign(({ event }) => toWaveOutcome(event)),
    abortWave: sendTo('wave', { type: 'abort' as const }),
  },
}).createMachine({
  id: 'run',
  context: ({ input }) => ({ waves: input.waves, ...NO_WAVE }),
  invoke: { id: 'wave', src: 'wave' },
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
            guard: 'hasFailedTask',
            target: 'failed',
            actions: 'storeWaveOutcome',
          },
          { guard: 'isLastWave', target: 'succeeded', actions: 'storeWaveOutcome' },
          { actions: 'beginWave' },
        ],
        cancel: 'draining',
        force: { target: 'draining', actions: 'abortWave' },
      },
    },
    draining: {
      on: {
        'wave.settled': {
          target: 'cancelled',
          actions: 'storeWaveOutcome',
        },
        force: { actions: 'abortWave' },
      },
    },
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

type RunMachine = typeof machine;

const NOT_EXECUTED = {} as ExecutableActionObject['info'];

/** XState's snapshot of the initial state, without the waves and the wave actor that each run has of its own. */
const INITIAL_SNAPSHOT: SnapshotFrom<RunMachine> = createActor(machine, {
  input: { waves: [] },
}).getSnapshot();

/**
 * Replaces `getInitialSnapshot` by a shortcut: entering `queued` and invoking the wave is the same in every run, and
 * takes XState longer than the rest of a short run. An inspector sees no difference.
 */
export const runMachine: RunMachine = Object.assign(machine, {
  getInitialSnapshot: ((scope, input) => {
    const { waves } = input as { readonly waves: RunContext['waves'] };
    const options = { parent: scope.self, id: 'wave', src: 'wave', syncSnapshot: false };
    const wave = createActor(waveLogic, options);
    const params = { id: 'wave', systemId: undefined, actorRef: wave, src: 'wave', input: undefined };
    // Shows the action to an inspector. XState starts the children of the first state itself, so it executes nothing.
    scope.actionExecutor({ type: 'xstate.spawnChild', params, exec: undefined, info: NOT_EXECUTED });
    return { ...INITIAL_SNAPSHOT, context: { waves, ...NO_WAVE }, children: { wave } };
  }) as RunMachine['getInitialSnapshot'],
});

export type RunActor = ActorRefFrom<typeof runMachine>;
