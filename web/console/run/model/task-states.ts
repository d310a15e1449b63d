import type { LiveEvent, SubPipelineEvent, TaskEvent } from '../../../../lib/execution/events/event.js';
import type { Graph } from '../../../../lib/pipelines/drawing/graph.js';
import type { TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { formatSelection } from './addresses.js';

type TaskStatus = TaskRecord['status'];

/** One attempt of a task. Times are in milliseconds since 1970. */
export interface AttemptTime {
  readonly attempt: number;
  readonly start: number;
  /** Null while the attempt is under way. */
  end: number | null;
  /** Why the attempt failed; null when it did not. */
  error: string | null;
}

/** How many items of a fan-out there are, and how they stand. */
export interface ItemProgress {
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Items of which a condition did not hold. */
  readonly skipped: number;
}

/**
 * The state of a task as the page knows it: from the definition, from the record of the task, and from events since
 * then.
 */
export interface TaskState {
  /** The name of the task in the run, as messages have it. */
  readonly key: string;
  readonly subPipeline: string | undefined;
  readonly taskId: string;
  readonly tool: string;
  /** From 0. */
  readonly wave: number;
  readonly isFanOut: boolean;
  status: TaskStatus;
  startedAt: number | null;
  finishedAt: number | null;
  /** The oldest first; of a fan-out its items have them. */
  attempts: AttemptTime[];
  /** When the last attempt has begun or will begin, after a retry or in the next round; null before the first, and at the end. */
  retryAt: number | null;
  /** The rounds that have begun, as far as is known; null for a task that has none (D83). */
  rounds: number | null;
  items: ItemProgress | null;
  error: string | null;
  /** Why it called nothing; null for any other. */
  skipReason: string | null;
  isReused: boolean;
  isCached: boolean;
}

/** A pipeline of the run whose tasks are shown: its only one, a sub-pipeline of its plan, or the handlers of its plan. */
export interface RunPart {
  readonly subPipeline: string | undefined;
  readonly graph: Graph;
}

/** Two states of a task are compared by how far it has come: what is known does not go back. */
const RANK: Readonly<Record<TaskStatus, number>> = {
  pending: 0,
  running: 1,
  skipped: 2,
  succeeded: 2,
  failed: 2,
};

/** The items of a fan-out that have settled. */
interface SettledItems {
  succeeded: number;
  failed: number;
  skipped: number;
}

const COUNTED_AS = { finish: 'succeeded', fail: 'failed', skip: 'skipped' } as const;

/** All tasks of a run, kept up to date event by event. */
export class TaskStates {
  readonly #tasks = new Map<string, TaskState>();
  /** Items of whose end an event was read, by task; events may come before the definition. */
  readonly #counted = new Map<string, SettledItems>();

  /** In the order of the sub-pipelines and waves. */
  all(): IterableIterator<TaskState> {
    return this.#tasks.values();
  }

  get(key: string): TaskState | undefined {
    return this.#tasks.get(key);
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** Adds the tasks of a definition, which have not begun as far as is known. */
  addPart({ subPipeline, graph }: RunPart): void {
    for (const [wave, tasks] of graph.waves.entries()) {
      for (const { id, tool, fan_out } of tasks) {
        const key = formatSelection({ taskId: id, subPipeline });
        if (!this.#tasks.has(key))
          this.#tasks.set(key, createState(key, id, subPipeline, tool, wave, fan_out));
      }
    }
  }

  /** Takes what the server knows of a task. */
  addRecord(record: TaskRecord): void {
    const { task_id, sub_pipeline, tool, wave, status, items, attempts, error, rounds = 0 } = record;
    const key = formatSelection({ taskId: task_id, subPipeline: sub_pipeline });
    const task = this.#tasks.get(key) ?? createState(key, task_id, sub_pipeline, tool, wave, items !== null);
    this.#tasks.set(key, task);
    if (RANK[status] < RANK[task.status]) return;
    task.status = status;
    task.startedAt = toMs(record.started_at) ?? task.startedAt;
    task.finishedAt = toMs(record.finished_at);
    task.error = error?.message ?? null;
    task.skipReason = record.skip_reason ?? null;
    task.isReused = record.reused;
    task.isCached = record.cached;
    if (attempts.length > 0) task.attempts = attempts.flatMap(toAttempt);
    if (rounds > (task.rounds ?? 0)) {
      task.rounds = rounds;
      task.retryAt = null;
    }
    if (status !== 'running') task.retryAt = null;
    // In a fan-out that has not succeeded, items that it has not reached are among the skipped ones.
    const skipped = items !== null && status === 'succeeded' ? items.skipped : 0;
    if (items !== null) setItems(task, items.total, { ...items, skipped });
  }

  /**
   * Takes an event in. Events of nested runs belong to the task that runs them, and change nothing of it. Of events
   * before the definition is known, items are counted; the records that are read after it say the rest.
   */
  addEvent(event: LiveEvent): void {
    if (event.kind === 'sub_pipeline' && event.status === 'skipped') return this.#skipPart(event);
    if (!('task_id' in event) || event.within !== undefined) return;
    const key = formatSelection({ taskId: event.task_id, subPipeline: event.sub_pipeline });
    if (event.kind === 'item') this.#countedOf(key)[COUNTED_AS[event.phase]]++;
    const task = this.#tasks.get(key);
    if (task === undefined) return;
    const time = Date.parse(event.time);
    switch (event.kind) {
      case 'start':
        return this.#start(task, event.items, time);
      case 'retry':
        if (event.item === undefined) retry(task, event, time);
        return;
      case 'round':
        return endRound(task, event, time);
      case 'item':
        return setItems(task, task.items?.total ?? 0, this.#countedOf(key));
      case 'finish':
      case 'fail':
        return settle(task, event, time);
      case 'skip':
        task.status = 'skipped';
        task.finishedAt = time;
        task.skipReason = event.reason ?? '';
        return;
      default:
        return;
    }
  }

  /** The tasks of a skipped sub-pipeline have no events of their own. */
  #skipPart({ sub_pipeline: part, reason = '', time }: SubPipelineEvent): void {
    for (const task of this.#tasks.values()) {
      if (task.subPipeline !== part) continue;
      task.status = 'skipped';
      task.skipReason = `its sub-pipeline was: ${reason}`;
      task.finishedAt = Date.parse(time);
    }
  }

  #countedOf(key: string): SettledItems {
    const counted = this.#counted.get(key) ?? { succeeded: 0, failed: 0, skipped: 0 };
    this.#counted.set(key, counted);
    return counted;
  }

  #start(task: TaskState, items: number | undefined, time: number): void {
    if (RANK[task.status] >= RANK.running) return;
    task.status = 'running';
    task.startedAt = time;
    if (items !== undefined) setItems(task, items, this.#countedOf(task.key));
    else if (!task.isFanOut) task.attempts = [{ attempt: 1, start: time, end: null, error: null }];
  }
}

/** True when the next attempt of a task is still to begin. @param now milliseconds since 1970 */
export function waitsForRetry({ retryAt }: TaskState, now: number): boolean {
  return retryAt !== null && retryAt > now;
}

/** The round that is at work, or was last; undefined for a task that has none. @param now milliseconds since 1970 */
export function roundOf({ rounds, retryAt }: TaskState, now: number): number | undefined {
  if (rounds === null) return undefined;
  return retryAt !== null && retryAt <= now ? rounds + 1 : rounds;
}

/** The record of a task may be newer than the events that are read, or older: what has settled stays settled. */
function setItems(task: TaskState, total: number, settled: Readonly<SettledItems>): void {
  const { succeeded = 0, failed = 0, skipped = 0 } = task.items ?? {};
  task.items = {
    total,
    succeeded: Math.max(succeeded, settled.succeeded),
    failed: Math.max(failed, settled.failed),
    skipped: Math.max(skipped, settled.skipped),
  };
}

function createState(
  key: string,
  taskId: string,
  subPipeline: string | undefined,
  tool: string,
  wave: number,
  isFanOut: boolean,
): TaskState {
  return {
    key,
    subPipeline,
    taskId,
    tool,
    wave,
    isFanOut,
    status: 'pending',
    startedAt: null,
    finishedAt: null,
    attempts: [],
    retryAt: null,
    rounds: null,
    items: null,
    error: null,
    skipReason: null,
    isReused: false,
    isCached: false,
  };
}

function retry(task: TaskState, event: Extract<LiveEvent, { kind: 'retry' }>, time: number): void {
  if (task.status !== 'running') return;
  const { attempt, error, delay_ms } = event;
  const running = task.attempts.find((known) => known.attempt === attempt);
  if (running === undefined || running.end !== null) return;
  running.end = time;
  running.error = error;
  task.retryAt = time + delay_ms;
  task.attempts.push({ attempt: attempt + 1, start: task.retryAt, end: null, error: null });
}

function endRound(task: TaskState, event: Extract<LiveEvent, { kind: 'round' }>, time: number): void {
  const { round, attempt, delay_ms } = event;
  if (round < (task.rounds ?? 0)) return;
  task.rounds = round;
  if (task.status !== 'running' || delay_ms === undefined) return;
  const running = task.attempts.find((known) => known.attempt === attempt);
  if (running === undefined || running.end !== null) return;
  running.end = time;
  task.retryAt = time + delay_ms;
  task.attempts.push({ attempt: attempt + 1, start: task.retryAt, end: null, error: null });
}

function settle(task: TaskState, event: TaskEvent, time: number): void {
  if (RANK[task.status] > RANK.running) return;
  task.status = event.kind === 'finish' ? 'succeeded' : 'failed';
  task.startedAt ??= time - (event.duration_ms ?? 0);
  task.finishedAt = time;
  task.retryAt = null;
  task.error = event.error ?? null;
  task.isReused = event.reused === true;
  task.isCached = event.cached === true;
  const last = task.attempts.at(-1);
  if (last === undefined || last.end !== null) return;
  // An attempt that was still to begin does not begin any more.
  if (last.start > time) task.attempts.pop();
  else {
    last.end = time;
    last.error = task.error;
  }
}

function toAttempt({
  attempt,
  started_at,
  finished_at,
  error,
}: TaskRecord['attempts'][number]): AttemptTime[] {
  const start = toMs(started_at);
  return start === null ? [] : [{ attempt, start, end: toMs(finished_at), error }];
}

function toMs(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}
