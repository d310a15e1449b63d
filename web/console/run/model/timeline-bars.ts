import { shownStatus } from './shown-status.js';
import type { TaskState } from './task-states.js';

/** A part of the time of a task. Times are in milliseconds since 1970. */
export interface Bar {
  /** `wait`: between two attempts or rounds. `reused`: no tool was called. */
  readonly kind: 'running' | 'done' | 'failed' | 'wait' | 'reused' | 'stopped';
  readonly start: number;
  readonly end: number;
}

/** The time that a chart shows: from `start`, for `length` milliseconds. */
export interface TimeScale {
  readonly start: number;
  readonly length: number;
}

/** Lists the bars of a task: its attempts, or the rounds that it repeats, and the waits between them, or for a fan-out one bar. */
export function barsOf(task: TaskState, now: number): Bar[] {
  const { attempts, startedAt, finishedAt, isReused, isCached } = task;
  const ended = KINDS[shownStatus(task.status, task.error, task.skipReason)];
  if (attempts.length === 0 || isReused || isCached) {
    if (startedAt === null) return [];
    const kind = isReused || isCached ? 'reused' : ended;
    return [{ kind, start: startedAt, end: finishedAt ?? now }];
  }
  const bars: Bar[] = [];
  let last: number | undefined;
  for (const [index, { start, end, error }] of attempts.entries()) {
    if (last !== undefined && start > last)
      bars.push({ kind: 'wait', start: last, end: Math.min(start, Math.max(now, last)) });
    if (start > now) break;
    const until = end ?? finishedAt ?? now;
    const isOpen = end === null && finishedAt === null;
    const isAborted = shownStatus('failed', error) === 'aborted';
    const isRound = error === null && end !== null && index < attempts.length - 1;
    const kind = isRound ? 'done' : error === null || isAborted ? ended : 'failed';
    bars.push({ kind: isOpen ? 'running' : kind, start, end: until });
    last = until;
  }
  return bars;
}

/** Of an attempt that did not fail by itself, or of a fan-out. */
const KINDS: Readonly<Record<ReturnType<typeof shownStatus>, Bar['kind']>> = {
  pending: 'stopped',
  running: 'running',
  succeeded: 'done',
  failed: 'failed',
  skipped: 'stopped',
  'not run': 'stopped',
  aborted: 'stopped',
};

const FACTORS = [1, 2, 5, 10];

/** Offsets from the start at which a chart has a line: about six of them, at round numbers of milliseconds. */
export function listTimeTicks({ length }: TimeScale): number[] {
  const wanted = length / 6;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, wanted)));
  const step = (FACTORS.find((factor) => factor * power >= wanted) ?? 10) * power;
  const ticks: number[] = [];
  for (let at = 0; at < length; at += step) ticks.push(at);
  return ticks;
}
