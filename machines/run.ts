import { type ActorRefFrom, assign, createActor, sendTo, setup, type SnapshotFrom } from 'xstate';
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
  /** Waves that had settled when the run ended (D20); until then the wave actor counts. */
  readonly wavesExecuted: number;
  /** Tasks of the last wave that failed, in the order they settled. */
  readonly failed: readonly string[];
}

type Outcome = Pick<RunContext, 'wavesExecuted' | 'failed'>;

const NOTHING_YET: Outcome = { wavesExecuted: 0, failed: [] };

function outcomeIn(event: RunEvent): Outcome {
  if (event.type !== 'wave.settled') return NOTHING_YET;
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
    aTaskFailed: ({ event }) => outcomeIn(event).failed.length > 0,
    wasTheLastWave: ({ context, event }) => outcomeIn(event).wavesExecuted >= context.waves.length,
  },
  actions: {
    beginWave: sendTo('wave', ({ context, event }) => ({
      type: 'wave.begin' as const,
      taskIds: context.waves[outcomeIn(event).wavesExecuted] ?? [],
    })),
    keepOutcome: assign(({ event }) => outcomeIn(event)),
    abortWave: sendTo('wave', { type: 'abort' as const }),
  },
}).createMachine({
  id: 'run',
  context: ({ input }) => ({ waves: input.waves, ...NOTHING_YET }),
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
            actions: 'keepOutcome',
          },
          { guard: 'wasTheLastWave', target: 'succeeded', actions: 'keepOutcome' },
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
          actions: 'keepOutcome',
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

/** What XState makes of the first state, but for the waves and the actor that each run has of its own. */
const FIRST: SnapshotFrom<RunMachine> = createActor(machine, { input: { waves: [] } }).getSnapshot();

/**
 * The machine, entered by a shortcut: to enter `queued` and to invoke the wave is the same in every run, and takes
 * XState longer than all the rest of a short one.
 */
export const runMachine: RunMachine = Object.assign(machine, {
  getInitialSnapshot: ((scope, input) => {
    const { waves } = input as { readonly waves: RunContext['waves'] };
    const wave = createActor(waveLogic, {
      parent: scope.self,
      id: 'wave',
      src: 'wave',
      input: { run: scope.self },
    });
    return { ...FIRST, context: { waves, ...NOTHING_YET }, children: { wave } };
  }) as RunMachine['getInitialSnapshot'],
});

export type RunActor = ActorRefFrom<typeof runMachine>;
