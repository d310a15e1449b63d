import { signal } from '@preact/signals';
import type { RunRecord } from '../../../lib/runs/record.js';
import { EntryQueue } from './entry-queue.js';
import { type Feed, type FeedListener, type FeedState, refusalOf } from './feed.js';
import type { PageScheduler } from './page-scheduler.js';
import { isPassing, messageOf, type Server, ServerError } from './server.js';

/** The record is read again at most this often. */
const RECORD_PAUSE_MS = 400;

/** A browser has six connections to a server over HTTP/1.1: a page that was hidden for so long gives its one back. */
const HIDDEN_MS = 30_000;

/** The states in which a feed has a connection, or tries to have one. */
const STREAMING: ReadonlySet<FeedState['kind']> = new Set(['connecting', 'live', 'lost']);

/** Statuses that the feed meets too: the server wants a key, or does not know the run. */
const FEED_SAYS: ReadonlySet<number> = new Set([401, 404]);

/** A read that has failed is tried again after a pause, which doubles. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;

/** A request to change a run. */
type RunAction = 'continue' | 'step' | 'cancel';

/** A run that a page follows: its record, its entries as they come, and how the connection to the server stands. */
export abstract class RunConnection {
  readonly server: Server;
  readonly runId: string;
  readonly record = signal<RunRecord | undefined>(undefined);
  readonly feed = signal<FeedState>({ kind: 'connecting' });
  /** The last trouble that goes on; empty for none. */
  readonly problem = signal('');
  /** The troubles that go on, by the path that is read; the empty path stands for everything else. */
  readonly #problems = new Map<string, string>();
  protected readonly scheduler: PageScheduler;
  readonly #queue: EntryQueue;
  #feed: Feed | undefined;
  #unwatch: (() => void) | undefined;
  #end = new AbortController();
  /** Aborts when the page is shown, or closed. */
  #shown = new AbortController();
  #isRecordStale = false;
  #readsRecord = false;

  constructor(server: Server, runId: string, scheduler: PageScheduler) {
    this.server = server;
    this.runId = runId;
    this.scheduler = scheduler;
    this.#queue = new EntryQueue(
      scheduler,
      (entries) => {
        if (this.takeIn(entries)) this.refreshRecord();
      },
      (error) => {
        this.#feed?.close();
        this.changeState(refusalOf(error));
      },
    );
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
    this.#end = new AbortController();
    this.#problems.clear();
    this.problem.value = '';
    this.#feed ??= this.openFeed({
      onEntry: (text) => this.#queue.add(text),
      onState: (state) => this.changeState(state),
      onGap: (after, next) => this.missed(after, next),
      keepUp: () => this.#queue.keepUp(),
    });
    this.report(this.#feed.run());
    this.refreshRecord();
    this.#unwatch = this.scheduler.watchHidden((isHidden) => {
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
    this.#end.abort();
    this.#unwatch?.();
    this.#shown.abort();
    this.#feed?.close();
  }

  /** Closes the stream of a page that stays hidden. */
  async #closeWhenHidden(): Promise<void> {
    const shown = (this.#shown = new AbortController());
    await this.scheduler.wait(HIDDEN_MS, shown.signal);
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

  /** Aborts when the connection is closed. */
  protected get closed(): AbortSignal {
    return this.#end.signal;
  }

  /** Shows the error of a promise that nobody waits for. */
  protected report(promise: Promise<unknown>): void {
    this.scheduler.report(promise, (error) => this.#tell('', messageOf(error)));
  }

  /**
   * Reads a path of the server, again and again while the server is in trouble. Returns undefined when the connection is
   * closed, and when the server refuses; the page then says why.
   */
  protected async read<T>(path: string): Promise<T | undefined> {
    const { closed } = this;
    for (let pause = FIRST_PAUSE_MS; !closed.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      try {
        const value = await this.server.getJson<T>(path, {}, closed);
        this.#tell(path, '');
        return value;
      } catch (error) {
        if (closed.aborted) return undefined;
        if (!(error instanceof ServerError)) throw error;
        const { status, message } = error;
        // The feed says that the server does not answer, while there is a feed.
        const isTold = FEED_SAYS.has(status) || (status === 0 && STREAMING.has(this.feed.value.kind));
        this.#tell(path, isTold ? '' : message);
        if (!isPassing(status)) return undefined;
      }
      await this.scheduler.wait(pause, closed);
    }
    return undefined;
  }

  #tell(source: string, problem: string): void {
    this.#problems.delete(source);
    if (problem !== '') this.#problems.set(source, problem);
    this.problem.value = [...this.#problems.values()].at(-1) ?? '';
  }

  async #readRecord(): Promise<void> {
    try {
      while (this.#isRecordStale) {
        this.#isRecordStale = false;
        this.record.value = (await this.read<RunRecord>(this.path())) ?? this.record.value;
        await this.scheduler.wait(RECORD_PAUSE_MS);
      }
    } finally {
      this.#readsRecord = false;
    }
  }
}
