import type { Waiter } from './feed.js';

/** The time of the page: when it draws, how long it may work, and whether it is hidden. */
export interface PageScheduler extends Waiter {
  /** Calls back before the next frame, once however often it was requested. */
  request(callback: () => void): void;
  /** Returns whether the work of this frame may go on. */
  budget(): () => boolean;
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls back when the page is hidden or shown, and now if it is hidden. Returns a function that ends the calls. */
  watchHidden(onChange: (isHidden: boolean) => void): () => void;
  /** Hands the error of a promise that nobody waits for to `onError`. */
  report(promise: Promise<unknown>, onError: (error: unknown) => void): void;
}
