import type { HandlerListName } from '../../definition/schema/fields.js';
import type { LiveEvent, TaskEvent, WaveEvent } from '../../execution/events/event.js';

export interface RunningTask {
  readonly id: string;
  readonly startedAt: number;
  /** Number of items; undefined for a task that is no fan-out. */
  readonly items: number | undefined;
  itemsFinished: number;
  itemsFailed: number;
  /** The last task started by a pipeline that this task runs, as a path: `inner/task`. */
  nestedTask: string | undefined;
  /** The latest retry; `until` is when its attempt begins. */
  retry: { readonly attempt: number; readonly until: number; readonly error: string } | undefined;
  /** The latest round of a task with `repeat` that another one follows; `until` is when that begins (D83). */
  round: RoundProgress | undefined;
}

interface RoundProgress {
  /** Of the round that has ended, from 1. */
  readonly number: number;
  readonly atMost: number;
  readonly until: number;
  readonly reason: string;
}

export interface SettledTask {
  readonly id: string;
  readonly durationMs: number;
  readonly items: number | undefined;
  /** Items that failed and were collected (D67). */
  readonly failedItems: number;
  /** True when the output comes from an earlier run (D35). */
  readonly reused: boolean;
  /** Undefined when the task succeeded. */
  readonly error: string | undefined;
}

export interface WaveProgress {
  readonly index: number;
  /** The list of handlers to which it belongs; undefined for tasks. */
  readonly handler: HandlerListName | undefined;
  readonly startedAt: number;
  readonly tasks: number;
  settled: number;
  failed: number;
  reused: number;
  /** Undefined until the wave has settled. */
  durationMs: number | undefined;
}

/** More than fits on the tallest screen. */
const KEPT_FOR_DISPLAY = 100;

/** Keeps the progress of a pipeline run, read from its events. Each event costs the same, however large the run. */
export class PipelineProgress {
  /** Undefined for a sub-pipeline of a run on a server, which does not return its definition. */
  readonly waveCount: number | undefined;
  settledWaveCount = 0;
  /** True when every succeeded task reuses an earlier output (D35); undefined before the first one has succeeded. */
  allReused: boolean | undefined;
  /** Covers all task ids if the waves are known, so that columns do not move; otherwise those that have started. */
  longestIdLength: number;
  /** In the order in which the tasks started. */
  readonly runningTasks = new Map<string, RunningTask>();
  readonly lastSettledWaves: WaveProgress[] = [];
  currentWave: WaveProgress | undefined;
  /** Failed tasks of the current wave. */
  readonly failures: SettledTask[] = [];
  /** The last tasks of the current wave that succeeded. */
  readonly lastSucceeded: SettledTask[] = [];

  constructor(waves?: readonly (readonly string[])[]) {
    this.waveCount = waves?.length;
    this.longestIdLength = (waves ?? []).reduce(
      (most, wave) => wave.reduce((longest, id) => Math.max(longest, id.length), most),
      0,
    );
  }

  /** @param now milliseconds, of the clock that the display uses */
  onEvent(event: LiveEvent, now: number): void {
    if ('within' in event && event.within !== undefined) {
      if (event.kind === 'start') this.#startNested(event.within, event.task_id);
      return;
    }
    switch (event.kind) {
      case 'wave':
        if (event.phase === 'start') this.#startWave(event, now);
        else this.#finishWave(now);
        break;
      case 'start':
        this.#start(event, now);
        break;
      case 'finish':
      case 'fail':
        this.#settle(event, now);
        break;
      case 'item':
        this.#countItem(event.task_id, event.phase === 'fail');
        break;
      case 'skip':
        if (this.currentWave !== undefined) this.currentWave.settled += 1;
        break;
      case 'retry':
        this.#retry(event, now);
        break;
      case 'round':
        this.#round(event, now);
        break;
      case 'run':
      case 'sub_pipeline':
      case 'log':
      case 'text':
      case 'usage':
        break;
    }
  }

  #startWave({ wave: index, handler, tasks }: WaveEvent, now: number): void {
    this.currentWave = {
      index,
      handler,
      tasks,
      startedAt: now,
      settled: 0,
      failed: 0,
      reused: 0,
      durationMs: undefined,
    };
    this.failures.length = 0;
    this.lastSucceeded.length = 0;
  }

  #finishWave(now: number): void {
    if (this.currentWave === undefined) return;
    if (this.currentWave.handler === undefined) this.settledWaveCount += 1;
    this.currentWave.durationMs = now - this.currentWave.startedAt;
    pushRecent(this.lastSettledWaves, this.currentWave);
    this.currentWave = undefined;
  }

  #start({ task_id, items }: TaskEvent, now: number): void {
    this.longestIdLength = Math.max(this.longestIdLength, task_id.length);
    this.runningTasks.set(task_id, {
      id: task_id,
      startedAt: now,
      items,
      itemsFinished: 0,
      itemsFailed: 0,
      nestedTask: undefined,
      retry: undefined,
      round: undefined,
    });
  }

  /** Tasks of nested runs are not counted; the task that runs them shows the latest. */
  #startNested([outermost = '', ...others]: readonly string[], taskId: string): void {
    const task = this.runningTasks.get(outermost.replace(/\[\d+\]$/, ''));
    if (task !== undefined) task.nestedTask = [...others, taskId].join('/');
  }

  #settle(event: TaskEvent, now: number): void {
    const task = this.runningTasks.get(event.task_id);
    this.runningTasks.delete(event.task_id);
    const error = event.kind === 'fail' ? (event.error ?? '') : undefined;
    const durationMs = event.duration_ms ?? now - (task?.startedAt ?? now);
    const reused = event.reused === true;
    const settled = {
      id: event.task_id,
      durationMs,
      items: event.items ?? task?.items,
      failedItems: event.failed_items ?? 0,
      reused,
      error,
    };
    if (this.currentWave !== undefined) this.currentWave.settled += 1;
    if (error === undefined) {
      this.#countReused(reused);
      pushRecent(this.lastSucceeded, settled);
    } else {
      if (this.currentWave !== undefined) this.currentWave.failed += 1;
      if (this.failures.length < KEPT_FOR_DISPLAY) this.failures.push(settled);
    }
  }

  #countReused(reused: boolean): void {
    this.allReused = reused && (this.allReused ?? true);
    if (reused && this.currentWave !== undefined) this.currentWave.reused += 1;
  }

  #countItem(taskId: string, failed: boolean): void {
    const task = this.runningTasks.get(taskId);
    if (task === undefined) return;
    if (failed) task.itemsFailed += 1;
    else task.itemsFinished += 1;
  }

  #retry(event: Extract<LiveEvent, { kind: 'retry' }>, now: number): void {
    const task = this.runningTasks.get(event.task_id);
    if (task === undefined) return;
    task.retry = { attempt: event.attempt + 1, until: now + event.delay_ms, error: event.error };
  }

  #round(event: Extract<LiveEvent, { kind: 'round' }>, now: number): void {
    const task = this.runningTasks.get(event.task_id);
    if (task === undefined) return;
    const { round: number, at_most: atMost, reason = '', delay_ms: delayMs = 0 } = event;
    task.retry = undefined;
    task.round = { number, atMost, until: now + delayMs, reason };
  }
}

/** Appends to a list of the last elements, dropping old ones in blocks so that the cost per element is constant. */
export function pushRecent<T>(list: T[], element: T): void {
  list.push(element);
  if (list.length > 2 * KEPT_FOR_DISPLAY) list.splice(0, KEPT_FOR_DISPLAY);
}
