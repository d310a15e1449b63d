import type { Json } from '../../common/json.js';
import { cutValue } from '../tasks/cut-value.js';
import type { RunRecord } from '../record.js';
import type { InspectionOrigin } from './entry.js';

/** The first line of a recording: JSON lines, of which each further one is an InspectionEntry, and the last the end. */
export interface RecordingHead {
  /** Version of this format. */
  readonly wavetrain_recording: 1;
  /** Version of the package that wrote it. */
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly recorded_at: string;
  /** The record of the run when the recording began; long values are cut. */
  readonly run: RunRecord;
  /** The charts of the machines, as that version draws them. */
  readonly statecharts: readonly Json[];
  readonly origin: InspectionOrigin;
}

/** The last line of a recording. */
export interface RecordingEnd {
  readonly end: true;
  /** Number of entries before this line. */
  readonly entries: number;
  /** Number of entries that were not recorded, or not kept. */
  readonly dropped: number;
  /** The record of the run at the end, if it had changed since the recording began. */
  readonly run?: RunRecord;
}

/** Characters that the result of a run, and its failures, take in a recording. */
const MAX_PART_LENGTH = 200_000;

function formatHead(head: Omit<RecordingHead, 'wavetrain_recording'>): string {
  const { run, ...others } = head;
  return `${JSON.stringify({ wavetrain_recording: 1, ...others, run: shorten(run) })}\n`;
}

function formatEnd({ run, ...end }: Omit<RecordingEnd, 'end'>): string {
  return `${JSON.stringify({ end: true, ...end, ...(run && { run: shorten(run) }) })}\n`;
}

/** Writes the lines of a recording that are no entries. */
export const recordingFormat = { formatHead, formatEnd };

/** A record may have hundreds of megabytes of outputs. */
function shorten(run: RunRecord): unknown {
  const cut = (value: unknown): Json => cutValue(value as Json, MAX_PART_LENGTH, '', []);
  return {
    ...run,
    result: cut(run.result),
    failures: cut(run.failures),
    events: null,
    artifacts: cut(run.artifacts),
  };
}
