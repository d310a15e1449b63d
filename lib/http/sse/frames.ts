import type { RunStatus } from '../../../machines/types.js';
import { KEY_REVOKED } from '../auth/revocation.js';

/** Milliseconds that a client waits before it reconnects. */
const RETRY_MS = 1000;

export const STREAM_TYPE = 'text/event-stream';

/** Keep proxies from storing or buffering the stream. */
export const STREAM_HEADERS = {
  'Content-Type': `${STREAM_TYPE}; charset=utf-8`,
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Opens a stream of Server-Sent Events (D30). Every frame is text that ends with an empty line. */
export const OPENING_FRAME = `retry: ${RETRY_MS}\n\n`;

/** A comment, which keeps the connection alive. */
export const HEARTBEAT_FRAME = ': \n\n';

/** The last frame: the run has settled, and no more events follow. */
export function formatEndFrame(runId: string, status: RunStatus): string {
  return formatNamedFrame('end', { run_id: runId, status });
}

/** The last frame when the key of the reader was revoked: the run goes on. */
export const REVOKED_FRAME = formatNamedFrame('revoked', { code: 'unauthorized', message: KEY_REVOKED });

/** A frame that is no event of a run. */
export function formatNamedFrame(name: string, data: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Numbered events, in order: those of a run, or what its actors do. */
export interface NumberedLog {
  /** Number of the newest event; 0 before the first. */
  readonly lastSeq: number;
  /** No further event will follow. */
  readonly isClosed: boolean;
  /** The events after number `seq`, at most `limit` of them, and whether events before them were dropped. */
  readAfter(seq: number, limit: number): { readonly events: readonly StreamedItem[]; readonly gap: boolean };
  /** Calls the subscriber after every event and when the log closes. Returns the unsubscribe function. */
  subscribe(subscriber: () => void): () => void;
}

/** An event, or its JSON where that is what is kept. */
interface StreamedItem {
  readonly seq: number;
  readonly json?: string;
}

/** Limits on a chunk, which stays in memory while its reader has stopped reading. */
const MAX_CHUNK_EVENTS = 256;
const MAX_CHUNK_CHARACTERS = 64 * 1024;

/** Frames that are written to a reader at once. */
export interface EventChunk {
  /** Number of the last event before the chunk. */
  readonly after: number;
  /** Number of the last event in the chunk. */
  readonly last: number;
  readonly bytes: Buffer;
}

/** Formats the events after number `after`, preceded by a gap if some were dropped; undefined when there are none. */
export function readChunk(log: NumberedLog, after: number): EventChunk | undefined {
  const { events, gap } = log.readAfter(after, MAX_CHUNK_EVENTS);
  if (events.length === 0 && !gap) return undefined;
  let text = gap ? formatGapFrame(after, events[0]?.seq ?? log.lastSeq + 1) : '';
  let last = log.lastSeq;
  for (const event of events) {
    text += formatEventFrame(event);
    last = event.seq;
    if (text.length >= MAX_CHUNK_CHARACTERS) break;
  }
  return { after, last, bytes: Buffer.from(text) };
}

/** The events between the numbers `after` and `next` have been dropped. */
function formatGapFrame(after: number, next: number): string {
  return formatNamedFrame('gap', { after, next });
}

/** The number of the event is its `id`, which clients send back as Last-Event-ID. */
function formatEventFrame(event: StreamedItem): string {
  return `id: ${event.seq}\ndata: ${event.json ?? JSON.stringify(event)}\n\n`;
}
