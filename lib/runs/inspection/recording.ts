import type { Json } from '../../common/json/json.js';
import { INSPECTION_LIMITS } from '../../common/limits.js';
import { CHUNK_LENGTH, JsonWriter } from '../../common/json/json-writer.js';
import { runToEnd, type Steps } from '../../common/scheduling/steps.js';
import { cutValue } from '../tasks/cut-value.js';
import type { FailedCall } from '../tasks/task-record.js';
import type { RunRecord } from '../record.js';
import type { InspectionOrigin } from './entry.js';

const VERSION = 1;

/** The first line of a recording: JSON lines, of which each further one is an InspectionEntry, and the last the end. */
export interface RecordingHead {
  /** Version of this format. */
  readonly wavetrain_recording: typeof VERSION;
  /** Version of the package that wrote it. */
  readonly version: string;
  /** ISO 8601, UTC. */
  readonly recorded_at: string;
  /** The record of the run when the recording began; long values are cut. */
  readonly run: RunRecord;
  /** The tasks and items that had failed by then, with their values. Older recordings have none. */
  readonly failed_calls?: readonly FailedCall[];
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
  /** The tasks and items that had failed by the end; absent when `run` is. */
  readonly failed_calls?: readonly FailedCall[];
}

/** The entries of a run, by number. */
export interface RecordedLog {
  readonly lastSeq: number;
  readAfter(
    seq: number,
    limit: number,
  ): { readonly events: readonly { readonly seq: number; readonly json: string }[] };
}

/** How many failed tasks and items are part of a recording, and how much of their values. */
const FAILED_CALLS = {
  most: INSPECTION_LIMITS.failedCalls,
  valueLength: INSPECTION_LIMITS.failedValueLength,
} as const;

/** Characters that the result of a run, its failures and the list of its files each take in a recording. */
const MAX_PART_LENGTH = 64 * 1024;

type HeadParts = Omit<RecordingHead, 'wavetrain_recording'>;

/** The head, in steps: a run may have tens of thousands of failures. */
function* createHead({ run, failed_calls: calls = [], ...others }: HeadParts): Steps<object> {
  const failed = calls.map((call) => shortenCall(call));
  return { wavetrain_recording: VERSION, ...others, failed_calls: failed, run: yield* shorten(run) };
}

function formatHead(head: HeadParts): string {
  return `${JSON.stringify(runToEnd(createHead(head)))}\n`;
}

function formatEnd({ run, failed_calls: calls, ...end }: Omit<RecordingEnd, 'end'>): string {
  const failed = calls && { failed_calls: calls.map((call) => shortenCall(call)) };
  return `${JSON.stringify({ end: true, ...end, ...(run && { run: runToEnd(shorten(run)) }), ...failed })}\n`;
}

/** Writes a recording of the entries that there are now, in chunks: what is added meanwhile is left out. */
function* writeChunks(head: object, log: RecordedLog): Generator<string, void, undefined> {
  const last = log.lastSeq;
  const writer = new JsonWriter(head);
  for (let chunk = writer.next(); chunk !== ''; chunk = writer.next()) yield chunk;
  let text = '\n';
  let entries = 0;
  for (let seq = 0; seq < last; ) {
    const { events } = log.readAfter(seq, ENTRIES_PER_READ);
    seq = events.at(-1)?.seq ?? last;
    for (const event of events) {
      if (event.seq > last) break;
      text += `${event.json}\n`;
      entries++;
      if (text.length < CHUNK_LENGTH) continue;
      seq = event.seq;
      break;
    }
    yield text;
    text = '';
  }
  yield text + formatEnd({ entries, dropped: last - entries });
}

/** An entry has some 500 characters, so that these are about one chunk. */
const ENTRIES_PER_READ = 100;

export const recordingFormat = { failedCalls: FAILED_CALLS, createHead, formatHead, formatEnd, writeChunks };

/** Leaves out the stack, which names files of the machine that ran the tool. The values of the call are cut already. */
function shortenCall({ error, attempts, ...call }: FailedCall): object {
  const cut = (value: unknown): Json => cutValue(value as Json, FAILED_CALLS.valueLength, '', []);
  const { stack: _, ...shown } = error ?? {};
  return { ...call, attempts: cut(attempts), error: error && cut(shown) };
}

/** A record may have hundreds of megabytes of outputs. */
function* shorten(run: RunRecord): Steps<unknown> {
  const cut = (value: unknown): Json => cutValue(value as Json, MAX_PART_LENGTH, '', []);
  const result = cut(run.result);
  yield;
  const failures = cut(run.failures);
  yield;
  return { ...run, result, failures, events: null, artifacts: cut(run.artifacts) };
}
