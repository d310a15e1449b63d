import type { ServerResponse } from 'node:http';
import type { Clock } from '../../common/clock.js';
import { type EventChannel, type EventReader, HEARTBEAT, OPENING } from './channel.js';

/** Proxies and clients take a connection without a word for a dead one. */
export const HEARTBEAT_MS = 15_000;

/**
 * One reader of events (D30): a position in the log, and a connection. It takes what follows when the connection can
 * take it, so one that is not read costs what the connection holds and one piece more.
 */
export class EventStream implements EventReader {
  readonly #channel: EventChannel;
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #ready: (stream: EventReader) => void;
  /** Number of the last event that was written. */
  #after: number;
  /** The connection takes no more for now. */
  #isFull = false;
  #isOver = false;
  #heartbeat: unknown;

  /** @param ready is called when the connection takes more again */
  constructor(
    channel: EventChannel,
    after: number,
    response: ServerResponse,
    clock: Clock,
    ready: (stream: EventReader) => void,
  ) {
    this.#channel = channel;
    this.#after = after;
    this.#response = response;
    this.#clock = clock;
    this.#ready = ready;
  }

  begin(): void {
    this.#write(OPENING);
    this.#beatLater();
    this.pump();
  }

  /** Writes what is new, as far as the connection takes it. */
  pump(): void {
    while (!this.#isFull && !this.#isOver) {
      const piece = this.#channel.pieceAfter(this.#after);
      if (piece === undefined) {
        if (this.#channel.isClosed) this.#end();
        return;
      }
      this.#after = piece.upTo;
      this.#write(piece.bytes);
    }
  }

  /** The reader has gone, or has everything. */
  stop(): void {
    this.#isOver = true;
    this.#clock.clearTimeout(this.#heartbeat);
  }

  #write(text: string | Buffer): void {
    const { socket } = this.#response;
    // Now, and not at the end of the turn, so that who counts the time counts this too.
    socket?.cork();
    this.#isFull = !this.#response.write(text);
    socket?.uncork();
    if (!this.#isFull) return;
    this.#response.once('drain', () => {
      this.#isFull = false;
      this.#ready(this);
    });
  }

  #end(): void {
    this.stop();
    this.#response.end(this.#channel.end);
  }

  #beatLater(): void {
    this.#heartbeat = this.#clock.setTimeout(() => {
      if (!this.#isFull) this.#write(HEARTBEAT);
      this.#beatLater();
    }, HEARTBEAT_MS);
  }
}
