import { type ActorRefFrom, assign, sendTo, setup } from 'xstate';
import {
  beginHandlers,
  currentHandlers,
  dropHandlers,
  type HandlerLists,
  type HandlersContext,
  hasHandlers,
  nextHandlers,
  type TasksEnd,
} from './handlers.js';
import { type WaveSettled, waveLogic } from './wave.js';
import { withTable } from './xstate/flat-machine.js';

/**
 * The machine of a run: the states and transitions of the reference, and the sequence of its waves.
 *
 * One wave actor lives as long as the run, so that `draining` can wait for the wave that `running` began. `draining`
 * already has the status `cancelled`; it is not a final state, because XState stops the children of a machine that
 * enters one, and a wave that has started runs to completion (rule 12, D21). `aborting` waits in the same way for the wave
 * that a timeout has aborted (D81); its status is still `running`, because the wave is settled in a moment. `paused` has
 * the status `running`: no wave is at work, and the next one waits for `continue` or `step`.
 *
 * A run with handlers for its end comes to `handlingSuccess`, `handlingFailure` or `handlingCancel` first, which have the
 * status of that end already (D80). The same wave actor runs their waves. A run that is cancelled in the queue has done
 * nothing that its handlers could follow. The handlers of a plan are a run without tasks: `handle` begins it.
 */
export type RunEvent =
  | { readonly type: 'begin' }
  /** Begins the handlers of a plan that has come to its end. */
  | HandleEvent
  | { readonly type: 'cancel' }
  | { readonly type: 'force' }
  /** Goes on after a pause, to the next breakpoint. */
  | { readonly type: 'continue' }
  /** Runs one wave after a pause, and pauses again. */
  | { readonly type: 'step' }
  /** The time of the whole run is over (D81); while handlers run, that of their list (D80). */
  | { readonly type: 'timeout' }
  | WaveSettled;

export type HandleEvent = { readonly type: `handle.${TasksEnd}` };

/** Where a run pauses. */
export interface RunBreakpoints {
  /** Indexes of waves before which it pauses. */
  readonly beforeWaves: readonly number[];
  /** Pauses after a wave in which a task has failed, before the run fails. */
  readonly onFailure: boolean;
}

export interface RunMachineInput {
  readonly waves: RunContext['waves'];
  /** Undefined for a run that never pauses. */
  readonly breakpoints?: RunBreakpoints | undefined;
  /** Undefined for a run without handlers. */
  readonly handlers?: HandlerLists | undefined;
}

export interface RunContext extends HandlersContext {
  /** Task ids, wave by wave. */
  readonly waves: readonly (readonly string[])[];
  /** Number of settled waves, set when the run ends; until then the wave actor counts them. */
  readonly wavesSettled: number;
  /** Of these, the ones of which a task was not skipped (D20, D78). */
  readonly wavesExecuted: number;
  /** Ids of the tasks of the last wave that failed, in the order in which they settled. */
  readonly failed: readonly string[];
  readonly breakpoints?: RunBreakpoints;
  /** True when the run pauses after the current wave. */
  readonly stepping?: boolean;
  /** True when the time of the run was over. */
  readonly timedOut?: boolean;
}

type WaveOutcome = Pick<RunContext, 'wavesSettled' | 'wavesExecuted' | 'failed'>;

const NO_WAVE: WaveOutcome = { wavesSettled: 0, wavesExecuted: 0, failed: [] };

function toWaveOutcome(event: RunEvent): WaveOutcome {
  if (event.type !== 'wave.settled') return NO_WAVE;
  const { wavesSettled, wavesExecuted, failed } = event;
  return { wavesSettled, wavesExecuted, failed };
}

/** The outcome of the last wave, which the context has while no wave is at work. */
function outcomeOf(context: RunContext, event: RunEvent): WaveOutcome {
  return event.type === 'wave.settled' ? event : context;
}

function createContext({ waves, breakpoints, handlers }: RunMachineInput): RunContext {
  const context = breakpoints === undefined ? { waves, ...NO_WAVE } : { waves, ...NO_WAVE, breakpoints };
  return handlers === undefined ? context : { ...context, handlers };
}

/** The transitions to handlers after a state in which no wave is at work. */
const TO_FAILURE_HANDLERS = {
  guard: 'handlesFailure',
  target: 'handlingFailure',
  actions: ['prepareForFailure', 'beginHandlers'],
} as const;

const TO_CANCEL_HANDLERS = {
  guard: 'handlesCancel',
  target: 'handlingCancel',
  actions: ['prepareForCancel', 'beginHandlers'],
} as const;

/** A state in which handlers run, until the run comes to the state that their tasks have decided (D80). */
function handlingUntil<Target extends TasksEnd>(target: Target) {
  return {
    on: {
      'wave.settled': [
        { guard: 'hasMoreHandlers', actions: ['prepareNextHandlers', 'beginHandlers'] },
        { target },
      ],
      force: { actions: ['dropHandlers', 'abortWave'] },
      timeout: { actions: ['dropList', 'abortWave'] },
    },
  } as const;
}

const machine = setup({
  types: { context: {} as RunContext, events: {} as RunEvent, input: {} as RunMachineInput },
  actors: { wave: waveLogic },
  guards: {
    hasFailedTask: ({ context, event }) => outcomeOf(context, event).failed.length > 0,
    pausesOnFailure: ({ context, event }) =>
      context.breakpoints?.onFailure === true && toWaveOutcome(event).failed.length > 0,
    pausesBeforeWave: ({ context, event }) =>
      context.stepping === true ||
      context.breakpoints?.beforeWaves.includes(toWaveOutcome(event).wavesSettled) === true,
    isLastWave: ({ context, event }) => toWaveOutcome(event).wavesSettled >= context.waves.length,
    handlesSuccess: ({ context, event }) =>
      toWaveOutcome(event).wavesSettled >= context.waves.length && hasHandlers(context, 'succeeded'),
    handlesFailure: ({ context, event }) =>
      outcomeOf(context, event).failed.length > 0 && hasHandlers(context, 'failed'),
    handlesTimeout: ({ context }) => hasHandlers(context, 'failed'),
    handlesCancel: ({ context }) => hasHandlers(context, 'cancelled'),
    hasMoreHandlers: ({ context, event }) =>
      currentHandlers(nextHandlers(context, toWaveOutcome(event).failed)).length > 0,
  },
  actions: {
    beginWave: sendTo('wave', ({ context, event }) => ({
      type: 'wave.begin' as const,
      taskIds: context.waves[outcomeOf(context, event).wavesSettled] ?? [],
    })),
    storeWaveOutcome: assign(({ event }) => toWaveOutcome(event)),
    abortWave: sendTo('wave', { type: 'abort' as const }),
    runToBreakpoint: assign({ stepping: false }),
    runOneWave: assign({ stepping: true }),
    storeTimeout: assign({ timedOut: true }),
    prepareForSuccess: assign(({ context }) => beginHandlers(context, 'succeeded')),
    prepareForFailure: assign(({ context }) => beginHandlers(context, 'failed')),
    prepareForCancel: assign(({ context }) => beginHandlers(context, 'cancelled')),
    prepareNextHandlers: assign(({ context, event }) => nextHandlers(context, toWaveOutcome(event).failed)),
    beginHandlers: sendTo('wave', ({ context }) => ({
      type: 'wave.begin' as const,
      taskIds: currentHandlers(context),
    })),
    dropList: assign(({ context }) => dropHandlers(context, 'list')),
    dropHandlers: assign(({ context }) => dropHandlers(context, 'all')),
  },
}).createMachine({
  id: 'run',
  context: ({ input }) => createContext(input),
  invoke: { id: 'wave', src: 'wave' },
  initial: 'queued',
  states: {
    queued: {
      on: {
        begin: [
          { guard: 'pausesBeforeWave', target: 'paused' },
          { target: 'running', actions: 'beginWave' },
        ],
        'handle.succeeded': { target: 'handlingSuccess', actions: ['prepareForSuccess', 'beginHandlers'] },
        'handle.failed': { target: 'handlingFailure', actions: ['prepareForFailure', 'beginHandlers'] },
        'handle.cancelled': { target: 'handlingCancel', actions: ['prepareForCancel', 'beginHandlers'] },
        cancel: 'cancelled',
        force: 'cancelled',
      },
    },
    running: {
      on: {
        'wave.settled': [
          { guard: 'pausesOnFailure', target: 'paused', actions: 'storeWaveOutcome' },
          {
            guard: 'handlesFailure',
            target: 'handlingFailure',
            actions: ['storeWaveOutcome', 'prepareForFailure', 'beginHandlers'],
          },
          { guard: 'hasFailedTask', target: 'failed', actions: 'storeWaveOutcome' },
          {
            guard: 'handlesSuccess',
            target: 'handlingSuccess',
            actions: ['storeWaveOutcome', 'prepareForSuccess', 'beginHandlers'],
          },
          { guard: 'isLastWave', target: 'succeeded', actions: 'storeWaveOutcome' },
          { guard: 'pausesBeforeWave', target: 'paused', actions: 'storeWaveOutcome' },
          { actions: 'beginWave' },
        ],
        cancel: 'draining',
        force: { target: 'draining', actions: 'abortWave' },
        timeout: { target: 'aborting', actions: ['storeTimeout', 'abortWave'] },
      },
    },
    paused: {
      on: {
        continue: [
          TO_FAILURE_HANDLERS,
          { guard: 'hasFailedTask', target: 'failed' },
          { target: 'running', actions: ['runToBreakpoint', 'beginWave'] },
        ],
        step: [
          TO_FAILURE_HANDLERS,
          { guard: 'hasFailedTask', target: 'failed' },
          { target: 'running', actions: ['runOneWave', 'beginWave'] },
        ],
        cancel: [TO_CANCEL_HANDLERS, { target: 'cancelled' }],
        force: [TO_CANCEL_HANDLERS, { target: 'cancelled' }],
      },
    },
    draining: {
      on: {
        'wave.settled': [
          {
            guard: 'handlesCancel',
            target: 'handlingCancel',
            actions: ['storeWaveOutcome', 'prepareForCancel', 'beginHandlers'],
          },
          { target: 'cancelled', actions: 'storeWaveOutcome' },
        ],
        force: { actions: 'abortWave' },
        timeout: { actions: 'abortWave' },
      },
    },
    aborting: {
      on: {
        'wave.settled': [
          {
            guard: 'handlesTimeout',
            target: 'handlingFailure',
            actions: ['storeWaveOutcome', 'prepareForFailure', 'beginHandlers'],
          },
          { target: 'failed', actions: 'storeWaveOutcome' },
        ],
      },
    },
    handlingSuccess: handlingUntil('succeeded'),
    handlingFailure: handlingUntil('failed'),
    handlingCancel: handlingUntil('cancelled'),
    succeeded: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

/** Each of its transitions takes as long as the rest of a wave of one task, so a table does them. */
export const runMachine = withTable(machine);

export type RunActor = ActorRefFrom<typeof runMachine>;
