import { type ActorRefFrom, type AnyActorRef, createActor, type Snapshot } from 'xstate';
import { workOf } from './work-binding.js';
import {
  type ChildEnd,
  isChildEnd,
  type Logic,
  persistChildren,
  STOP,
  type Scope,
  settlementOf,
} from './logic.js';
import { taskLogic } from './task.js';
import type { Settlement } from './types.js';

/**
 * The wave at hand. The run machine hands it one wave after another: it starts all tasks of the wave, and says so
 * when the last of them has settled (rule 2). It decides nothing.
 *
 * Tasks are started in slices of one turn of the event loop, and a wave that settles in an overdue turn reports in
 * the next one, so that neither a wide wave nor a long chain of instant tasks holds the process.
 */
type WaveSnapshot = Snapshot<undefined> & {
  value: 'idle' | 'starting' | 'settling' | 'stopped';
  /** Waves that have settled (D20). */
  wavesExecuted: number;
  /** Task ids of the wave. */
  taskIds: readonly string[];
  /** How many of them were started. */
  started: number;
  /** How many of them have not settled. */
  unsettled: number;
  failed: string[];
  /** Tasks at work. */
  live: Map<string, ActorRefFrom<typeof taskLogic>>;
  /** How the tasks of this and earlier waves ended. */
  settled: Map<string, Settlement>;
  /** Whom the wave reports to. */
  run: AnyActorRef;
  toJSON(): unknown;
};

export type WaveEvent =
  | { readonly type: 'wave.begin'; readonly taskIds: readonly string[] }
  | { readonly type: 'wave.continue' }
  | { readonly type: 'wave.report' }
  | { readonly type: 'abort' }
  | { readonly type: typeof STOP }
  | ChildEnd;

/** What the wave tells the run. */
export interface WaveSettled {
  readonly type: 'wave.settled';
  /** This one counted. */
  readonly wavesExecuted: number;
  readonly failed: readonly string[];
}

const TASKS_BETWEEN_LOOKS_AT_THE_TIME = 16;

export const waveLogic: Logic<WaveSnapshot, WaveEvent, { readonly run: AnyActorRef }> = {
  getInitialSnapshot: (_, { run }) => ({
    status: 'active',
    output: undefined,
    error: undefined,
    value: 'idle',
    wavesExecuted: 0,
    taskIds: [],
    started: 0,
    unsettled: 0,
    failed: [],
    live: new Map(),
    settled: new Map(),
    run,
    toJSON: summary,
  }),

  transition(wave, event, scope) {
    if (isChildEnd(event)) {
      noteSettled(wave, event.actorId, settlementOf(event));
      if (wave.unsettled === 0) report(wave, scope);
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
        tellRun(wave);
        return wave;
      case 'abort':
        abort(wave, scope);
        return wave;
      case STOP:
        for (const task of wave.live.values()) scope.stopChild(task);
        return { ...wave, status: 'stopped', output: undefined, error: undefined, value: 'stopped' };
    }
  },

  getPersistedSnapshot(wave) {
    const { status, output, error, value, wavesExecuted, failed } = wave;
    const settled = [...wave.settled].map(([id, settlement]) => [id, settledTask(settlement)] as const);
    // `fromEntries` takes any id for a name, `__proto__` as well.
    const children = Object.fromEntries([...Object.entries(persistChildren(wave.live)), ...settled]);
    return { status, output, error, value, wavesExecuted, failed, children } as Snapshot<undefined>;
  },
};

type WaveScope = Scope<WaveSnapshot, WaveEvent>;

function begin(wave: WaveSnapshot, taskIds: readonly string[]): void {
  wave.value = 'starting';
  wave.taskIds = taskIds;
  wave.started = 0;
  wave.unsettled = taskIds.length;
  wave.failed = [];
}

function startTasks(wave: WaveSnapshot, { self }: WaveScope): void {
  const { pace } = workOf(self);
  while (wave.started < wave.taskIds.length) {
    startTask(wave, self, wave.taskIds[wave.started++] as string);
    const lookAtTheTime = wave.started % TASKS_BETWEEN_LOOKS_AT_THE_TIME === 0;
    if (lookAtTheTime && wave.started < wave.taskIds.length && pace.overdue()) {
      pace.later(() => self.send({ type: 'wave.continue' }));
      return;
    }
  }
  wave.value = 'settling';
}

function startTask(wave: WaveSnapshot, self: WaveScope['self'], id: string): void {
  const task = createActor(taskLogic, { parent: self, id, src: 'task' });
  wave.live.set(id, task);
  task.start();
}

/** Stops the tasks at work; those that have not started never will. */
function abort(wave: WaveSnapshot, scope: WaveScope): void {
  wave.unsettled -= wave.taskIds.length - wave.started;
  wave.taskIds = wave.taskIds.slice(0, wave.started);
  for (const task of wave.live.values()) task.send({ type: 'abort' });
  if (wave.unsettled === 0 && wave.value === 'starting') report(wave, scope);
}

function noteSettled(wave: WaveSnapshot, id: string, settlement: Settlement): void {
  wave.live.delete(id);
  wave.settled.set(id, settlement);
  wave.unsettled--;
  if (!settlement.ok) wave.failed.push(id);
}

function report(wave: WaveSnapshot, scope: WaveScope): void {
  const { pace } = workOf(scope.self);
  if (pace.overdue()) pace.later(() => scope.self.send({ type: 'wave.report' }));
  else tellRun(wave);
}

function tellRun(wave: WaveSnapshot): void {
  wave.value = 'idle';
  wave.wavesExecuted++;
  const { wavesExecuted, failed } = wave;
  wave.run.send({ type: 'wave.settled', wavesExecuted, failed } satisfies WaveSettled);
}

function settledTask(output: Settlement): { readonly snapshot: unknown; readonly src: string } {
  return { src: 'task', snapshot: { status: 'done', output, value: output.ok ? 'succeeded' : 'failed' } };
}

function summary(this: WaveSnapshot): unknown {
  const { status, value, wavesExecuted, taskIds, started, unsettled, failed } = this;
  return { status, value, wavesExecuted, tasks: taskIds.length, started, unsettled, failed };
}
