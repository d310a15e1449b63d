import type { PageScheduler } from './page-scheduler.js';

/** Entries that wait to be taken in before the feed waits for the page. */
const MOST_WAITING = 5000;

/**
 * Entries of a feed on their way into the page. They are taken in once a frame and never for long, so that the page stays
 * quick however many come; while too many wait, the feed reads no more.
 */
export class EntryQueue {
  readonly #scheduler: PageScheduler;
  readonly #takeIn: (entries: Iterable<string>) => void;
  readonly #onError: (error: unknown) => void;
  #waiting: string[] = [];
  #onRoom: (() => void) | undefined;

  /**
   * @param takeIn gets those of the waiting entries, as JSON, for which a frame has time
   * @param onError gets what `takeIn` throws; the entry that it has taken last is not offered again
   */
  constructor(
    scheduler: PageScheduler,
    takeIn: (entries: Iterable<string>) => void,
    onError: (error: unknown) => void,
  ) {
    this.#scheduler = scheduler;
    this.#takeIn = takeIn;
    this.#onError = onError;
  }

  add(text: string): void {
    this.#waiting.push(text);
    this.#scheduler.request(this.#run);
  }

  /** Resolves when there is room for more. */
  keepUp(): Promise<void> {
    if (this.#waiting.length < MOST_WAITING) return Promise.resolve();
    return new Promise((resolve) => (this.#onRoom = resolve));
  }

  readonly #run = (): void => {
    const waiting = this.#waiting;
    const mayGoOn = this.#scheduler.budget();
    let taken = 0;
    const entries = (function* () {
      while (taken < waiting.length && mayGoOn()) yield waiting[taken++] ?? '';
    })();
    try {
      this.#takeIn(entries);
    } catch (error) {
      this.#onError(error);
    }
    this.#waiting = waiting.slice(taken);
    if (this.#waiting.length > 0) this.#scheduler.request(this.#run);
    else this.#onRoom?.();
  };
}
