import { EventStreamParser, type Frame } from './event-stream-parser.js';
import { isPassing, messageOf, type Server, ServerError } from './server.js';

/** How the connection to the entries of a run stands. */
export type FeedState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** The last entry is there, and no more will follow. */
  | { readonly kind: 'ended' }
  /** The connection broke; it is tried again after `seconds`. */
  | { readonly kind: 'lost'; readonly seconds: number }
  /** The page was hidden for long, and has closed the connection: it connects again when it is shown. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'missing' }
  /** The server knew the run before, and does not know it any more. */
  | { readonly kind: 'restarted' }
  | { readonly kind: 'key' }
  | { readonly kind: 'refused'; readonly message: string };

/** Receives what a feed reads. */
export interface FeedListener {
  /** The JSON text of an entry. */
  onEntry(text: string): void;
  onState(state: FeedState): void;
  /** The server has dropped entries between the numbers. */
  onGap(after: number, next: number): void;
  /** Resolves when the listener can take more entries. */
  keepUp(): Promise<void>;
}

/** Waits, and can be cut short. */
export interface Waiter {
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 10_000;

/**
 * Reads the entries of a stream, and connects again where it left off when the connection breaks. It ends with the last
 * entry, or when there is nothing to wait for, or when it is closed; run again, it goes on after the last entry.
 */
export class Feed {
  protected readonly server: Server;
  protected readonly path: string;
  readonly #listener: FeedListener;
  readonly #waiter: Waiter;
  #end = new AbortController();
  #retry = new AbortController();
  #lastId = 0;
  #wasConnected = false;

  constructor(server: Server, path: string, listener: FeedListener, waiter: Waiter) {
    this.server = server;
    this.path = path;
    this.#listener = listener;
    this.#waiter = waiter;
  }

  /** Runs until the last entry was read, the feed was closed, or there is nothing to wait for. */
  async run(): Promise<void> {
    let delay = FIRST_DELAY_MS;
    const { signal: end } = (this.#end = new AbortController());
    while (!end.aborted) {
      const before = this.#lastId;
      const state = await this.#readOnce(end);
      if (end.aborted) return;
      if (state.kind !== 'lost') return this.#listener.onState(state);
      if (this.#lastId > before) delay = FIRST_DELAY_MS;
      this.#retry = new AbortController();
      this.#listener.onState({ kind: 'lost', seconds: delay / 1000 });
      await this.#waiter.wait(delay, this.#retry.signal);
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    }
  }

  /** Tries again at once. */
  retry(): void {
    this.#retry.abort();
  }

  close(): void {
    this.#end.abort();
    this.#retry.abort();
  }

  async #readOnce(end: AbortSignal): Promise<FeedState> {
    this.onConnect();
    try {
      const headers: Record<string, string> = { Accept: 'text/event-stream' };
      if (this.#lastId > 0) headers['Last-Event-ID'] = String(this.#lastId);
      const response = await this.server.open(this.path, { headers }, end);
      if (response.status === 204) return { kind: 'ended' };
      this.#wasConnected = true;
      this.#listener.onState({ kind: 'live' });
      return (await this.#readFrames(response, end)) ? { kind: 'ended' } : { kind: 'lost', seconds: 0 };
    } catch (error) {
      return this.#toState(error);
    }
  }

  /** Returns whether the last frame was read. */
  async #readFrames(response: Response, end: AbortSignal): Promise<boolean> {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventStreamParser();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      // The next connection brings again what a closed one still brings.
      if (end.aborted) return false;
      for (const frame of parser.read(piece.value)) {
        if (frame.name === 'end') return this.afterPiece().then(() => true);
        this.#take(frame);
      }
      await this.afterPiece();
      await this.#listener.keepUp();
    }
    return false;
  }

  /** Called before each connection. */
  protected onConnect(): void {}

  /** Called after each piece of the stream. */
  protected afterPiece(): Promise<void> {
    return Promise.resolve();
  }

  /** Aborts when the feed is closed. */
  protected get closed(): AbortSignal {
    return this.#end.signal;
  }

  #take({ id, name, data }: Frame): void {
    if (name === 'gap') {
      const { after, next } = JSON.parse(data) as { after: number; next: number };
      this.#listener.onGap(after, next);
      return;
    }
    if (name !== 'message') return;
    this.#listener.onEntry(data);
    this.#lastId = Number(id) || this.#lastId;
  }

  #toState(error: unknown): FeedState {
    if (error instanceof SyntaxError) return refusalOf(error);
    const status = error instanceof ServerError ? error.status : 0;
    if (status === 401) return { kind: 'key' };
    if (status === 404) return { kind: this.#wasConnected ? 'restarted' : 'missing' };
    return status < 400 || isPassing(status) ? { kind: 'lost', seconds: 0 } : refusalOf(error);
  }
}

/** The state of a feed that ends with an error which trying again does not fix. */
export function refusalOf(error: unknown): FeedState {
  const message =
    error instanceof SyntaxError
      ? 'the server has sent an entry that is not JSON: is it of another version?'
      : messageOf(error);
  return { kind: 'refused', message };
}
