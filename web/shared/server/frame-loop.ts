import type { Waiter } from './feed.js';

/** The time of the page: when it draws, and how long it may work. */
export interface Frames extends Waiter {
  /** Calls back before the next frame, once however often it was requested. */
  request(callback: () => void): void;
  /** Returns whether the work of this frame may go on. */
  budget(): () => boolean;
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Hands the error of a promise that nobody waits for to `onError`. */
  report(promise: Promise<unknown>, onError: (error: unknown) => void): void;
}

/** Work of one frame; a frame has 16 ms, of which drawing takes its share. */
const BUDGET_MS = 6;

/** A hidden tab draws no frames, and yet takes entries in. */
const HIDDEN_MS = 250;

/** The frames of the browser. */
export class BrowserFrames implements Frames {
  #callback: (() => void) | undefined;

  request(callback: () => void): void {
    const isRequested = this.#callback !== undefined;
    this.#callback = callback;
    if (isRequested) return;
    window.requestAnimationFrame(() => this.#run());
    window.setTimeout(() => this.#run(), HIDDEN_MS);
  }

  budget(): () => boolean {
    const end = performance.now() + BUDGET_MS;
    let calls = 0;
    // Asking for the time costs as much as taking in a small entry.
    return () => ++calls % 8 !== 0 || performance.now() < end;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = window.setTimeout(resolve, milliseconds);
      signal?.addEventListener('abort', () => {
        window.clearTimeout(timer);
        resolve();
      });
    });
  }

  report(promise: Promise<unknown>, onError: (error: unknown) => void): void {
    promise.catch(onError);
  }

  #run(): void {
    const callback = this.#callback;
    this.#callback = undefined;
    callback?.();
  }
}
