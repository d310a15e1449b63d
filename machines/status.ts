import type { SnapshotFrom } from 'xstate';
import type { runMachine } from './run.js';
import type { RunStatus } from './types.js';

/** From a snapshot of a run's machine to the words of a record; the only place that makes a status (law L3). */

export type RunSnapshot = SnapshotFrom<typeof runMachine>;

/** What runs of pipelines and of plans have in common. */
type Snapshot = Pick<RunSnapshot, 'status' | 'value'>;

const STATUS: Readonly<Record<RunSnapshot['value'], RunStatus>> = {
  queued: 'queued',
  running: 'running',
  draining: 'cancelled',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** What a run is when it has just been accepted (States and transitions). */
export const STATUS_AT_SUBMISSION: RunStatus = 'queued';

/** A cancelled run reads `cancelled` at once, while its wave still drains (D21). A fault of ours reads `failed`. */
export function statusOf(snapshot: Snapshot): RunStatus {
  if (snapshot.status === 'error') return 'failed';
  return STATUS[snapshot.value];
}

/** Nothing of the run is at work any more. */
export function isSettled(snapshot: Snapshot): boolean {
  return snapshot.status !== 'active';
}

/** Waves that have settled so far (D20). */
export function wavesExecutedIn(snapshot: RunSnapshot): number {
  return snapshot.children.wave?.getSnapshot().wavesExecuted ?? snapshot.context.wavesExecuted;
}
