import type { LiveEvent, TaskEvent } from '../../execution/events/event.js';

/** A task at work. */
export interface RunningTask {
  readonly id: string;
  readonly since: number;
  /** Number of items; undefined for a task that calls its tool once. */
  readonly items: number | undefined;
  itemsFinished: number;
  itemsFailed: number;
  /** The task that was started last in the runs within it. */
  inside: string | undefined;
  /** The last retry; over once its delay has passed. */
  retry: { readonly attempt: number; readonly until: number; readonly error: string } | undefined;
}

export interface SettledTask {
  readonly id: string;
  readonly durationMs: number;
  readonly items: number | undefined;
  /** Its output comes from an earlier run (D35). */
  readonly reused: boolean;
  /** Undefined when it succeeded. */
  readonly error: string | undefined;
}

export interface WaveProgress {
  readonly index: number;
  readonly since: number;
  readonly tasks: number;
  settled: number;
  failed: number;
  reused: number;
  /** Set when it has settled. */
  durationMs: number | undefined;
}

/** Lists that are only shown keep no more than fits on the largest screen. */
const MOST_KEPT = 100;

/**
 * What is known about a run from its events: enough to draw it. Taking in an event costs the same whatever the
 * size of the run.
 */
export class Progress {
  /** Undefined when nobody knows how many there are. */
  readonly waves: number | undefined;
  settledWaves = 0;
  /** Every task that has succeeded was taken over from an earlier run; undefined before one has. */
  allReused: boolean | undefined;
  /** Of all task ids, so that columns do not jump; of a run elsewhere those that were heard of. */
  longestId: number;
  /** The tasks at work, in the order in which they started. */
  readonly running = new Map<string, RunningTask>();
  /** Waves that have settled: the last ones. */
  readonly past: WaveProgress[] = [];
  /** Tasks of the present wave that have settled: those that failed, and the last ones that succeeded. */
  readonly failures: SettledTask[] = [];
  readonly recent: SettledTask[] = [];
  present: WaveProgress | undefined;

  constructor(waves?: readonly (readonly string[])[]) {
    this.waves = waves?.length;
    this.longestId = (waves ?? []).reduce(
      (most, wave) => wave.reduce((longest, id) => Math.max(longest, id.length), most),
      0,
    );
  }

  /** @param now milliseconds, of the clock that also draws */
  take(event: LiveEvent, now: number): void {
    if ('within' in event && event.within !== undefined) {
      if (event.kind === 'start') this.#startInside(event.within, event.task_id);
      return;
    }
    switch (event.kind) {
      case 'wave':
        if (event.phase === 'start') this.#startWave(event.wave, event.tasks, now);
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
      case 'retry':
        this.#retry(event, now);
        break;
      case 'run':
      case 'sub_pipeline':
      case 'log':
        break;
    }
  }

  #startWave(index: number, tasks: number, now: number): void {
    this.present = { index, tasks, since: now, settled: 0, failed: 0, reused: 0, durationMs: undefined };
    this.failures.length = 0;
    this.recent.length = 0;
  }

  #finishWave(now: number): void {
    if (this.present === undefined) return;
    this.settledWaves += 1;
    this.present.durationMs = now - this.present.since;
    keep(this.past, this.present);
    this.present = undefined;
  }

  #start({ task_id, items }: TaskEvent, now: number): void {
    this.longestId = Math.max(this.longestId, task_id.length);
    const nothing = { itemsFinished: 0, itemsFailed: 0, inside: undefined, retry: undefined };
    this.running.set(task_id, { id: task_id, since: now, items, ...nothing });
  }

  /** A task within a task is none of this run's, but says what that one is about. */
  #startInside([outermost = '', ...others]: readonly string[], taskId: string): void {
    const task = this.running.get(outermost.replace(/\[\d+\]$/, ''));
    if (task !== undefined) task.inside = [...others, taskId].join('/');
  }

  #settle(event: TaskEvent, now: number): void {
    const task = this.running.get(event.task_id);
    this.running.delete(event.task_id);
    const error = event.kind === 'fail' ? (event.error ?? '') : undefined;
    const durationMs = event.duration_ms ?? now - (task?.since ?? now);
    const reused = event.reused === true;
    const settled = { id: event.task_id, durationMs, items: event.items ?? task?.items, reused, error };
    if (this.present !== undefined) this.present.settled += 1;
    if (error === undefined) {
      this.#countReused(reused);
      keep(this.recent, settled);
    } else {
      if (this.present !== undefined) this.present.failed += 1;
      if (this.failures.length < MOST_KEPT) this.failures.push(settled);
    }
  }

  #countReused(reused: boolean): void {
    this.allReused = reused && (this.allReused ?? true);
    if (reused && this.present !== undefined) this.present.reused += 1;
  }

  #countItem(taskId: string, failed: boolean): void {
    const task = this.running.get(taskId);
    if (task === undefined) return;
    if (failed) task.itemsFailed += 1;
    else task.itemsFinished += 1;
  }

  #retry(event: Extract<LiveEvent, { kind: 'retry' }>, now: number): void {
    const task = this.running.get(event.task_id);
    if (task === undefined) return;
    task.retry = { attempt: event.attempt + 1, until: now + event.delay_ms, error: event.error };
  }
}

/** Adds to a list of the last ones, at a cost that does not grow. */
export function keep<T>(list: T[], element: T): void {
  list.push(element);
  if (list.length > 2 * MOST_KEPT) list.splice(0, MOST_KEPT);
}
