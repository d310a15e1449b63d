import { signal } from '@preact/signals';
import type { RunRecord } from '../../../lib/runs/record.js';
import { EntryQueue } from './entry-queue.js';
import type { Feed, FeedListener, FeedState } from './feed.js';
import type { Frames } from './frame-loop.js';
import { messageOf, type Server, ServerError } from './server.js';

/** The record is read again at most this often. */
const RECORD_PAUSE_MS = 400;

/** A browser has six connections to a server over HTTP/1.1: a page that was hidden for so long gives its one back. */
const HIDDEN_MS = 30_000;

/** The states in which a feed has a connection, or tries to have one. */
const STREAMING: ReadonlySet<FeedState['kind']> = new Set(['connecting', 'live', 'lost']);

/** Statuses that the feed meets too: the server does not answer, wants a key, or does not know the run. */
const FEED_SAYS: ReadonlySet<number> = new Set([0, 401, 404]);

/** What can be done with a run. */
type RunAction = 'continue' | 'step' | 'cancel';

/** A run that a page follows: its record, its entries as they come, and how the connection to the server stands. */
export abstract class RunConnection {
  readonly server: Server;
  readonly runId: string;
  readonly record = signal<RunRecord | undefined>(undefined);
  readonly feed = signal<FeedState>({ kind: 'connecting' });
  /** What went wrong last; empty for nothing. */
  readonly problem = signal('');
  protected readonly frames: Frames;
  readonly #queue: EntryQueue;
  #feed: Feed | undefined;
  #unwatch: (() => void) | undefined;
  /** Aborts when the page is shown, or closed. */
  #shown = new AbortController();
  #isRecordStale = false;
  #readsRecord = false;

  constructor(server: Server, runId: string, frames: Frames) {
    this.server = server;
    this.runId = runId;
    this.frames = frames;
    this.#queue = new EntryQueue(frames, (entries) => {
      if (this.takeIn(entries)) this.refreshRecord();
    });
  }

  /** Creates the feed of the page: the events of the run, or what its actors did. */
  protected abstract openFeed(listener: FeedListener): Feed;

  /** Takes entries in, as JSON. Returns whether they change the record of the run. */
  protected abstract takeIn(entries: Iterable<string>): boolean;

  /** The server has dropped entries between the numbers. */
  protected abstract missed(after: number, next: number): void;

  /** Path of the API for this run. */
  path(rest = ''): string {
    return `/pipelines/runs/${encodeURIComponent(this.runId)}${rest}`;
  }

  /** Reads the run until it has settled or the connection is closed. */
  start(): void {
    this.#feed ??= this.openFeed({
      onEntry: (text) => this.#queue.add(text),
      onState: (state) => this.changeState(state),
      onGap: (after, next) => this.missed(after, next),
      keepUp: () => this.#queue.keepUp(),
    });
    this.report(this.#feed.run());
    this.refreshRecord();
    this.#unwatch = this.frames.watchHidden((isHidden) => {
      this.#shown.abort();
      if (isHidden) this.report(this.#closeWhenHidden());
      else if (this.feed.value.kind === 'hidden' && this.#feed) this.report(this.#feed.run());
    });
  }

  /** Tries again what needed a key, or has failed. */
  restart(): void {
    this.close();
    this.feed.value = { kind: 'connecting' };
    this.start();
  }

  /** Connects again at once. */
  retry(): void {
    this.#feed?.retry();
  }

  close(): void {
    this.#unwatch?.();
    this.#shown.abort();
    this.#feed?.close();
  }

  /** Closes the stream of a page that stays hidden. */
  async #closeWhenHidden(): Promise<void> {
    const shown = (this.#shown = new AbortController());
    await this.frames.wait(HIDDEN_MS, shown.signal);
    if (shown.signal.aborted || !STREAMING.has(this.feed.value.kind)) return;
    this.#feed?.close();
    this.changeState({ kind: 'hidden' });
  }

  /** Sends an action to the run. @throws ServerError */
  async act(action: RunAction, body?: object): Promise<void> {
    this.record.value = await this.server.post<RunRecord>(this.path(`/${action}`), body);
  }

  /** Reads the record again, soon. */
  refreshRecord(): void {
    this.#isRecordStale = true;
    if (this.#readsRecord) return;
    this.#readsRecord = true;
    this.report(this.#readRecord());
  }

  protected changeState(state: FeedState): void {
    this.feed.value = state;
    if (state.kind === 'ended' || state.kind === 'live') this.refreshRecord();
  }

  /** Shows the error of a promise that nobody waits for. */
  protected report(promise: Promise<unknown>): void {
    this.frames.report(promise, (error) => (this.problem.value = messageOf(error)));
  }

  /** Reads a path of the run. Returns undefined where the feed says that the run or the server is gone, or a key is needed. */
  protected async read<T>(rest = ''): Promise<T | undefined> {
    try {
      return await this.server.getJson<T>(this.path(rest));
    } catch (error) {
      if (error instanceof ServerError && FEED_SAYS.has(error.status)) return undefined;
      throw error;
    }
  }

  async #readRecord(): Promise<void> {
    try {
      while (this.#isRecordStale) {
        this.#isRecordStale = false;
        this.record.value = (await this.read<RunRecord>()) ?? this.record.value;
        await this.frames.wait(RECORD_PAUSE_MS);
      }
    } finally {
      this.#readsRecord = false;
    }
  }
}
