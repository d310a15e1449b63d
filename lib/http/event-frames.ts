import type { RunStatus } from '../../machines/vocabulary.js';
import type { LiveEvent } from '../execution/event.js';

/** The words of a stream of Server-Sent Events (D30): each frame is text that ends with an empty line. */

/** How long a client waits before it comes again. */
const RETRY_MS = 1000;

/** Opens a stream. */
export const OPENING = `retry: ${RETRY_MS}\n\n`;

/** Says that both sides are still there. */
export const HEARTBEAT = ': \n\n';

/** Of every event that somebody reads; made once for all who do. */
const frames = new WeakMap<LiveEvent, string>();

/** An event, with its number as `id`: clients give it back as Last-Event-ID. */
export function eventFrame(event: LiveEvent): string {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
  frames.set(event, frame);
  return frame;
}

/** The events between number `after` and number `next` are kept no longer. */
export function gapFrame(after: number, next: number): string {
  return `event: gap\ndata: ${JSON.stringify({ after, next })}\n\n`;
}

/** The run has settled, and nothing more will come. */
export function endFrame(runId: string, status: RunStatus): string {
  return `event: end\ndata: ${JSON.stringify({ run_id: runId, status })}\n\n`;
}
