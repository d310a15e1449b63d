import { createParser, type EventSourceParser } from 'eventsource-parser';
import { get, type IncomingMessage } from 'node:http';
import type { LiveEvent } from '../../../lib/execution/events/event.js';

export interface EventReaderOptions {
  readonly headers?: Record<string, string>;
  /** Disconnects after so many bytes of the stream. */
  readonly bytes?: number;
  /** Called after each chunk. */
  readonly onChunk?: () => void;
}

/** A frame with an event name. */
export interface NamedFrame {
  readonly event: string;
  readonly data: unknown;
  readonly id: string | undefined;
}

/** A client that reads a stream of events, with a third-party parser. */
export class EventReader {
  readonly events: LiveEvent[] = [];
  readonly ids: string[] = [];
  readonly named: NamedFrame[] = [];
  comments = 0;
  retryMs: number | undefined;
  /** Resolves with the head of the response; rejects when there is none. */
  readonly head: Promise<IncomingMessage>;
  /** Resolves when the stream is over: true when it ended properly, false when it broke. */
  readonly closed: Promise<boolean>;
  #left: number;
  readonly #onChunk: () => void;
  readonly #parser: EventSourceParser;
  readonly #leave: () => void;
  #waiting: (() => void)[] = [];

  constructor(url: string, options: EventReaderOptions = {}) {
    const { headers = {}, bytes = Number.POSITIVE_INFINITY, onChunk = () => {} } = options;
    this.#left = bytes;
    this.#onChunk = onChunk;
    this.#parser = createParser({
      onEvent: ({ event, id, data }) => {
        if (event !== undefined) this.named.push({ event, data: JSON.parse(data), id });
        else {
          this.events.push(JSON.parse(data) as LiveEvent);
          this.ids.push(id ?? 'none');
        }
      },
      onComment: () => {
        this.comments++;
      },
      onRetry: (ms) => {
        this.retryMs = ms;
      },
    });
    const request = get(url, { headers, agent: false });
    this.#leave = () => request.destroy();
    this.head = new Promise((resolve, reject) => {
      request.once('response', resolve);
      request.once('error', reject);
    });
    this.closed = this.head.then(
      (response) => this.#read(response),
      () => false,
    );
  }

  get seqs(): number[] {
    return this.events.map(({ seq }) => seq);
  }

  /** Closes the connection. */
  disconnect(): void {
    this.#leave();
  }

  /** Waits for a condition on what was read. */
  async waitUntil(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #read(response: IncomingMessage): Promise<boolean> {
    const decoder = new TextDecoder();
    response.on('data', (chunk: Buffer) => {
      const taken = chunk.subarray(0, this.#left);
      this.#left -= taken.length;
      this.#parser.feed(decoder.decode(taken, { stream: true }));
      this.#onChunk();
      for (const resolve of this.#waiting.splice(0)) resolve();
      if (this.#left === 0) this.disconnect();
    });
    return new Promise((resolve) => {
      response.once('error', () => {});
      response.once('close', () => resolve(response.complete));
    });
  }
}
