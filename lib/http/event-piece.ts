import type { EventLog } from '../runs/event-log.js';
import { eventFrame, gapFrame } from './event-frames.js';

/** A piece is as large as a reader that has stopped reading may cost, beside what its connection holds. */
const MOST_EVENTS = 256;
const MOST_CHARACTERS = 64 * 1024;

/** What is sent to a reader in one go. */
export interface EventPiece {
  /** Number of the event that its reader knew before. */
  readonly after: number;
  /** Number of the last event that its reader knows now. */
  readonly upTo: number;
  readonly bytes: Buffer;
}

/** The events that follow number `after`, and a gap before them where there is one; undefined when there are none. */
export function eventPiece(log: EventLog, after: number): EventPiece | undefined {
  const { events, gap } = log.after(after, MOST_EVENTS);
  if (events.length === 0 && !gap) return undefined;
  let text = gap ? gapFrame(after, events[0]?.seq ?? log.last + 1) : '';
  let upTo = log.last;
  for (const event of events) {
    text += eventFrame(event);
    upTo = event.seq;
    if (text.length >= MOST_CHARACTERS) break;
  }
  return { after, upTo, bytes: Buffer.from(text) };
}
