import type { TaskStatus } from '../../machines/types.js';
import type { AttemptRecord } from '../runs/tasks/task-record.js';

/** The meaning of a bar: an attempt with its end, a wait before or between attempts, or an output that was there. */
export type BarKind = 'done' | 'error' | 'active' | 'stopped' | 'waiting' | 'reused' | 'cached';

/** Times are in ms since 1970. */
export interface GanttBar {
  readonly kind: BarKind;
  readonly start: number;
  /** No earlier than `start`; now, for what is under way. */
  readonly end: number;
  /** From 1; null for a wait, a fan-out, and attempts that are not known one by one. */
  readonly attempt: number | null;
  /** Why the attempt failed. */
  readonly error: string | null;
}

/** The bars of one task or item, by time; none when it has not begun. */
export interface GanttRow<C extends TimedCall = TimedCall> {
  readonly call: C;
  readonly bars: readonly GanttBar[];
}

/** The rows in the order of the calls. */
export interface Gantt<C extends TimedCall = TimedCall> {
  /** When the first bar begins, and the last one ends; equal when there is none. */
  readonly start: number;
  readonly end: number;
  readonly rows: readonly GanttRow<C>[];
}

/** The fields of the record of a task or an item that say what it did when (D59). */
export interface TimedCall {
  readonly status: TaskStatus;
  readonly reused: boolean;
  readonly cached: boolean;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly attempts: readonly AttemptRecord[];
}

/** Lays out the attempts of tasks and items in time. @param now ends what is under way, in ms since 1970 */
export function createGantt<C extends TimedCall>(calls: readonly C[], now: number): Gantt<C> {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  const rows = calls.map((call) => {
    const bars = listBars(call, now);
    for (const bar of bars) {
      if (bar.start < start) start = bar.start;
      if (bar.end > end) end = bar.end;
    }
    return { call, bars };
  });
  return start > end ? { start: now, end: now, rows } : { start, end, rows };
}

function listBars(call: TimedCall, now: number): GanttBar[] {
  const begun = toMs(call.started_at);
  if (begun === undefined) return [];
  const isOver = call.finished_at !== null || call.status !== 'running';
  const end = Math.max(begun, toMs(call.finished_at) ?? now);
  if (call.reused || call.cached) {
    const kind = call.reused ? 'reused' : 'cached';
    return [{ kind, start: begun, end, attempt: null, error: null }];
  }
  const bars: GanttBar[] = [];
  let last = begun;
  for (const { attempt, started_at, finished_at, error } of call.attempts) {
    const from = toMs(started_at);
    if (from === undefined) continue;
    const start = Math.max(last, from);
    if (start > last) {
      // Only the last attempts are known one by one: those before them have failed.
      const kind = bars.length === 0 && attempt > 1 ? 'error' : 'waiting';
      bars.push({ kind, start: last, end: start, attempt: null, error: null });
    }
    last = Math.max(start, toMs(finished_at) ?? end);
    const kind = error === null ? kindOfAttempt(call.status, finished_at) : 'error';
    bars.push({ kind, start, end: last, attempt, error });
  }
  if (bars.length === 0) {
    return [
      { kind: kindOfAttempt(call.status, call.finished_at), start: begun, end, attempt: null, error: null },
    ];
  }
  if (!isOver && end > last) {
    bars.push({ kind: 'waiting', start: last, end, attempt: null, error: null });
  }
  return bars;
}

function kindOfAttempt(status: TaskStatus, finishedAt: string | null): BarKind {
  if (status === 'failed') return 'error';
  if (finishedAt !== null || status === 'succeeded') return 'done';
  return status === 'running' ? 'active' : 'stopped';
}

function toMs(iso: string | null): number | undefined {
  const ms = iso === null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}
