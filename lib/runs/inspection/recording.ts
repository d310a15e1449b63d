import type { Json } from '../../common/json.js';
import { CHUNK_LENGTH, JsonWriter } from '../../common/json-writer.js';
import { runToEnd, type Steps } from '../../common/steps.js';
import { cutValue } from '../tasks/cut-value.js';
import type { RunRecord } from '../record.js';
import type { InspectionOrigin } from './entry.js';
import type { InspectionLog } from './inspection-log.js';

/** Version of this format. */
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

/** Characters that the result of a run, its failures and the list of its files each take in a recording. */
const MAX_PART_LENGTH = 64 * 1024;

type HeadParts = Omit<RecordingHead, 'wavetrain_recording'>;

/** The head, in steps: a run may have tens of thousands of failures. */
function* createHead({ run, ...others }: HeadParts): Steps<object> {
  return { wavetrain_recording: VERSION, ...others, run: yield* shorten(run) };
}

function formatHead(head: HeadParts): string {
  return `${JSON.stringify(runToEnd(createHead(head)))}\n`;
}

function formatEnd({ run, ...end }: Omit<RecordingEnd, 'end'>): string {
  return `${JSON.stringify({ end: true, ...end, ...(run && { run: runToEnd(shorten(run)) }) })}\n`;
}

/**
 * Writes a recording of the entries that there are now, in chunks: what is added meanwhile is left out.
 *
 * @param head as of `createHead`
 */
function* writeChunks(head: object, log: InspectionLog): Generator<string, void, undefined> {
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

/** Writes recordings, whole or in parts. */
export const recordingFormat = { createHead, formatHead, formatEnd, writeChunks };

/** A record may have hundreds of megabytes of outputs. */
function* shorten(run: RunRecord): Steps<unknown> {
  const cut = (value: unknown): Json => cutValue(value as Json, MAX_PART_LENGTH, '', []);
  const result = cut(run.result);
  yield;
  const failures = cut(run.failures);
  yield;
  return { ...run, result, failures, events: null, artifacts: cut(run.artifacts) };
}
