import { createParser, type EventSourceParser } from 'eventsource-parser';
import { get, type IncomingMessage } from 'node:http';
import type { LiveEvent } from '../../../lib/execution/events/event.js';

export interface EventReaderOptions {
  readonly headers?: Record<string, string>;
  /** The connection breaks off after so many bytes of the stream. */
  readonly bytes?: number;
  /** Called whenever something has come. */
  readonly heard?: () => void;
}

/** A frame with a name of its own. */
export interface NamedFrame {
  readonly event: string;
  readonly data: unknown;
  readonly id: string | undefined;
}

/** Somebody who reads a stream of events, by a parser that is not ours. */
export class EventReader {
  readonly events: LiveEvent[] = [];
  readonly ids: string[] = [];
  readonly named: NamedFrame[] = [];
  comments = 0;
  retryMs: number | undefined;
  /** Fulfilled once the head of the answer has come; rejects when none does. */
  readonly head: Promise<IncomingMessage>;
  /** Fulfilled when nothing more comes, whatever the reason: true when the stream ended as it should. */
  readonly closed: Promise<boolean>;
  #left: number;
  readonly #heard: () => void;
  readonly #parser: EventSourceParser;
  readonly #leave: () => void;
  #waiting: (() => void)[] = [];

  constructor(url: string, options: EventReaderOptions = {}) {
    const { headers = {}, bytes = Number.POSITIVE_INFINITY, heard = () => {} } = options;
    this.#left = bytes;
    this.#heard = heard;
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

  /** Breaks the connection off. */
  disconnect(): void {
    this.#leave();
  }

  /** Waits for something that what is read brings about. */
  async waitUntil(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #read(response: IncomingMessage): Promise<boolean> {
    const decoder = new TextDecoder();
    response.on('data', (chunk: Buffer) => {
      const taken = chunk.subarray(0, this.#left);
      this.#left -= taken.length;
      this.#parser.feed(decoder.decode(taken, { stream: true }));
      this.#heard();
      for (const resolve of this.#waiting.splice(0)) resolve();
      if (this.#left === 0) this.disconnect();
    });
    return new Promise((resolve) => {
      response.once('error', () => {});
      response.once('close', () => resolve(response.complete));
    });
  }
}
