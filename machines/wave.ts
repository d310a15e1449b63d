import { type ActorRefFrom, type ActorScope, type Snapshot } from 'xstate';
import {
  type ChildEnd,
  isChildEnd,
  type Logic,
  type LogicChart,
  persistChildren,
  sendToParent,
  STOP,
  toTaskResult,
} from './logic.js';
import { runPorts } from './ports.js';
import { createTask, type taskLogic } from './task.js';
import { type TaskResult, toEndState } from './types.js';

/**
 * The current wave of a run. The run machine sends it one wave after another; it starts all tasks of the wave, and
 * reports when the last of them has settled (rule 2). It decides nothing.
 *
 * It starts tasks in event-loop slices, and reports in the next tick when the slice is used up, so that neither a wide
 * wave nor a long chain of instant tasks blocks the event loop.
 */
type WaveSnapshot = Snapshot<undefined> & {
  value: 'idle' | 'starting' | 'settling' | 'stopped';
  /** Waves that have settled, also those of which all tasks were skipped. */
  wavesSettled: number;
  /** Waves of which a task was not skipped (D20, D78). */
  wavesExecuted: number;
  /** Task ids of the current wave. */
  taskIds: readonly string[];
  /** How many of them have started. */
  started: number;
  /** How many of them have not settled. */
  unsettled: number;
  /** How many of them were skipped. */
  skipped: number;
  /** Tasks that fail the run, of the current wave. */
  failed: string[];
  /** The tasks that are still to be aborted; set once the wave is: no task starts any more, and its report need not wait. */
  aborting: Iterator<ActorRefFrom<typeof taskLogic>> | undefined;
  /** Actors of the tasks at work, by task id. */
  live: Map<string, ActorRefFrom<typeof taskLogic>>;
  /** Ids of the tasks that have settled, of this and earlier waves. */
  settled: string[];
  /** Results of those that have not succeeded, by task id. */
  otherResults: Map<string, TaskResult>;
  toJSON(): unknown;
};

export type WaveMachineEvent =
  | { readonly type: 'wave.begin'; readonly taskIds: readonly string[] }
  | { readonly type: 'wave.continue' }
  | { readonly type: 'wave.report' }
  | { readonly type: 'abort' }
  | { readonly type: 'abort.continue' }
  | { readonly type: typeof STOP }
  | ChildEnd;

export const waveChart: LogicChart<WaveSnapshot['value'], WaveMachineEvent['type']> = {
  initial: 'idle',
  states: {
    idle: {
      'wave.begin': { settling: 'all tasks have started', starting: 'the slice is used up' },
      abort: 'idle',
      'xstate.stop': 'stopped',
    },
    starting: {
      'wave.continue': { settling: 'all tasks have started', starting: 'the slice is used up' },
      'xstate.done.actor.*': { starting: 'tasks are left', idle: 'it is aborted, no task is left' },
      abort: { starting: 'tasks are at work', idle: 'none is' },
      'xstate.stop': 'stopped',
    },
    settling: {
      'xstate.done.actor.*': { settling: 'tasks are left, or the slice is used up', idle: 'no task is left' },
      'wave.report': 'idle',
      abort: { settling: 'tasks are at work', idle: 'none is' },
      'abort.continue': 'settling',
      'xstate.stop': 'stopped',
    },
    stopped: 'final',
  },
};

/** Reports to the run that the wave has settled. */
export interface WaveSettled {
  readonly type: 'wave.settled';
  /** Waves that have settled, with this one. */
  readonly wavesSettled: number;
  /** Of these, the ones of which a task was not skipped (D78). */
  readonly wavesExecuted: number;
  readonly failed: readonly string[];
}

export const waveLogic: Logic<WaveSnapshot, WaveMachineEvent, undefined> = {
  getInitialSnapshot: () => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'idle',
    wavesSettled: 0,
    wavesExecuted: 0,
    taskIds: [],
    started: 0,
    unsettled: 0,
    skipped: 0,
    failed: [],
    aborting: undefined,
    live: new Map(),
    settled: [],
    otherResults: new Map(),
    toJSON: summarize,
  }),

  transition(wave, event, scope) {
    if (isChildEnd(event)) {
      recordResult(wave, event.actorId, toTaskResult(event));
      if (wave.unsettled === 0) scheduleReport(wave, scope);
      return wave;
    }
    switch (event.type) {
      case 'wave.begin':
        begin(wave, event.taskIds);
        startTasks(wave, scope);
        return wave;
      case 'wave.continue':
        startTasks(wave, scope);
        return wave;
      case 'wave.report':
        reportToRun(wave, scope.self);
        return wave;
      case 'abort':
        abort(wave, scope);
        return wave;
      case 'abort.continue':
        abortTasks(wave, scope);
        return wave;
      case STOP:
        for (const task of wave.live.values()) scope.stopChild(task);
        return { ...wave, status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot(wave) {
    const { status, output, error, value, wavesExecuted, failed } = wave;
    const settled = wave.settled.map((id) => {
      const other = wave.otherResults.get(id);
      return [id, other === undefined ? SUCCEEDED : toEnded(other)] as const;
    });
    // `fromEntries` accepts any id as a name, even `__proto__`.
    const children = Object.fromEntries([...Object.entries(persistChildren(wave.live)), ...settled]);
    return { status, output, error, value, wavesExecuted, failed, children } as Snapshot<undefined>;
  },
};

/** Most tasks end like this, and all of these share it: there may be thousands. */
const SUCCEEDED = {
  src: 'task',
  snapshot: { status: 'done', output: { ok: true }, value: 'succeeded' },
} as const;

function toEnded(result: TaskResult): unknown {
  return { src: 'task', snapshot: { status: 'done', output: result, value: toEndState(result) } };
}

/** Tasks that are aborted before other runs continue. */
const ABORTS_PER_TURN = 64;

type WaveScope = ActorScope<WaveSnapshot, WaveMachineEvent>;

function begin(wave: WaveSnapshot, taskIds: readonly string[]): void {
  wave.value = 'starting';
  wave.taskIds = taskIds;
  wave.started = 0;
  wave.unsettled = taskIds.length;
  wave.skipped = 0;
  wave.failed = [];
  // Handlers run after a wave that was aborted (D80).
  wave.aborting = undefined;
}

function startTasks(wave: WaveSnapshot, { self }: WaveScope): void {
  // An earlier wave may have been aborted before its next slice.
  if (wave.value !== 'starting') return;
  const { eventLoopBudget } = runPorts.find(self);
  while (wave.started < wave.taskIds.length) {
    startTask(wave, self, wave.taskIds[wave.started++] as string);
    if (wave.started < wave.taskIds.length && eventLoopBudget.exhausted()) {
      eventLoopBudget.defer(() => self.send({ type: 'wave.continue' }));
      return;
    }
  }
  wave.value = 'settling';
}

function startTask(wave: WaveSnapshot, self: WaveScope['self'], id: string): void {
  const task = createTask(self, id);
  wave.live.set(id, task);
  task.start();
}

function recordResult(wave: WaveSnapshot, id: string, result: TaskResult): void {
  wave.live.delete(id);
  wave.settled.push(id);
  wave.unsettled--;
  if (result.ok && !result.skipped) return;
  wave.otherResults.set(id, result);
  if (result.ok) wave.skipped++;
  else if (!result.tolerated) wave.failed.push(id);
}

/** Tasks that have not started never will. */
function abort(wave: WaveSnapshot, scope: WaveScope): void {
  if (wave.aborting !== undefined) return;
  wave.unsettled -= wave.taskIds.length - wave.started;
  wave.taskIds = wave.taskIds.slice(0, wave.started);
  wave.aborting = wave.live.values();
  abortTasks(wave, scope);
}

/** Aborts tasks at work: some at once, the others in turns, because they may be thousands. */
function abortTasks(wave: WaveSnapshot, { self }: WaveScope): void {
  const { eventLoopBudget } = runPorts.find(self);
  for (
    let count = 1, task = wave.aborting?.next();
    task?.done === false;
    count++, task = wave.aborting?.next()
  ) {
    task.value.send({ type: 'abort' });
    if (count === ABORTS_PER_TURN || eventLoopBudget.exhausted()) {
      eventLoopBudget.defer(() => self.send({ type: 'abort.continue' }));
      return;
    }
  }
  if (wave.unsettled === 0) reportToRun(wave, self);
}

function scheduleReport(wave: WaveSnapshot, { self }: WaveScope): void {
  const { eventLoopBudget } = runPorts.find(self);
  if (wave.aborting !== undefined || !eventLoopBudget.exhausted()) reportToRun(wave, self);
  else eventLoopBudget.defer(() => self.send({ type: 'wave.report' }));
}

/** Does nothing when the wave was reported already, because it was aborted meanwhile; handlers may be at work then. */
function reportToRun(wave: WaveSnapshot, self: WaveScope['self']): void {
  if (wave.value === 'idle' || wave.unsettled > 0) return;
  wave.value = 'idle';
  wave.wavesSettled++;
  const isSkipped = wave.skipped > 0 && wave.skipped === wave.taskIds.length;
  if (!isSkipped) wave.wavesExecuted++;
  const { wavesSettled, wavesExecuted, failed } = wave;
  const settled: WaveSettled = { type: 'wave.settled', wavesSettled, wavesExecuted, failed };
  sendToParent(self, settled);
}

function summarize(this: WaveSnapshot): unknown {
  const { status, value, wavesExecuted, taskIds, started, unsettled, failed } = this;
  return { status, value, wavesExecuted, tasks: taskIds.length, started, unsettled, failed };
}
