import type { SnapshotFrom } from 'xstate';
import type { runMachine } from './run.js';
import type { RunStatus, SubPipelineStatus, TaskStatus } from './types.js';

export type RunSnapshot = SnapshotFrom<typeof runMachine>;

/** The part of a snapshot that the machines of pipelines and of plans share. */
export type StatusSnapshot = Pick<RunSnapshot, 'status' | 'value'>;

const STATUS_BY_STATE: Readonly<Record<RunSnapshot['value'], RunStatus>> = {
  queued: 'queued',
  running: 'running',
  paused: 'running',
  draining: 'cancelled',
  aborting: 'running',
  handlingSuccess: 'succeeded',
  handlingFailure: 'failed',
  handlingCancel: 'cancelled',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** The status of a run that was just accepted (States and transitions). */
export const INITIAL_STATUS: RunStatus = 'queued';

/** The only place that creates a status (law L3). A run that drains is `cancelled` (D21); one whose actor crashed, `failed`. */
export function toRunStatus(snapshot: StatusSnapshot): RunStatus {
  if (snapshot.status === 'error') return 'failed';
  return STATUS_BY_STATE[snapshot.value];
}

/** The status of a run that has begun in another process, and is not rebuilt yet (D68). */
export function toBegunStatus(isCancelled: boolean): RunStatus {
  return isCancelled ? 'cancelled' : 'running';
}

/** The status of a sub-pipeline that has no run, because its condition did not hold (D77). */
export const SKIPPED_STATUS: SubPipelineStatus = 'skipped';

/**
 * The status of a sub-pipeline; null before it begins, and when the plan has ended before.
 *
 * @param run the status of its run; undefined when it has none
 */
export function toSubPipelineStatus(
  run: RunStatus | undefined,
  isSkipped: boolean,
): SubPipelineStatus | null {
  return isSkipped ? SKIPPED_STATUS : (run ?? null);
}

/** The known state of a task, or of an item of a fan-out. */
interface TaskState {
  readonly hasBegun: boolean;
  readonly hasSucceeded: boolean;
  readonly hasFailed: boolean;
  /** Its condition did not hold (D78). */
  readonly isSkipped: boolean;
  /** Whatever has not begun will not begin any more. */
  readonly isOver: boolean;
}

/** The status of a task, or of an item of a fan-out (D59). */
export function toTaskStatus({
  hasBegun,
  hasSucceeded,
  hasFailed,
  isSkipped,
  isOver,
}: TaskState): TaskStatus {
  if (isSkipped) return 'skipped';
  if (hasFailed) return 'failed';
  if (hasSucceeded) return 'succeeded';
  if (hasBegun) return 'running';
  return isOver ? 'skipped' : 'pending';
}

/** Returns true while a run waits at a breakpoint. */
export function isPaused(snapshot: StatusSnapshot): boolean {
  return snapshot.value === 'paused';
}

/** Returns true when the time of the whole run was over before it ended (D81). */
export function isTimedOut({ context }: { readonly context: { readonly timedOut?: boolean } }): boolean {
  return context.timedOut === true;
}

/** Returns true when nothing of the run is at work any more. */
export function isSettled(snapshot: StatusSnapshot): boolean {
  return snapshot.status !== 'active';
}

/** Returns true while handlers run: the status does not change any more, and the run is not settled (D80). */
export function isHandling({ value }: StatusSnapshot): boolean {
  return value.startsWith('handling');
}

/** Counts the waves of tasks that have settled so far, but those of which all tasks were skipped (D20, D78). */
export function countWavesExecuted(snapshot: RunSnapshot): number {
  // The wave actor counts those of handlers, too.
  if (snapshot.context.handlersLeft !== undefined) return snapshot.context.wavesExecuted;
  return snapshot.children.wave?.getSnapshot().wavesExecuted ?? snapshot.context.wavesExecuted;
}
