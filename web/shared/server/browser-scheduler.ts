import type { PageScheduler } from './page-scheduler.js';

/** Work of one frame; a frame has 16 ms, of which drawing takes its share. */
const BUDGET_MS = 6;

/** A hidden tab draws no frames, and yet takes entries in. */
const HIDDEN_MS = 250;

/** The time of a page in a browser. */
export class BrowserScheduler implements PageScheduler {
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

  watchHidden(onChange: (isHidden: boolean) => void): () => void {
    const listener = (): void => onChange(document.hidden);
    document.addEventListener('visibilitychange', listener);
    if (document.hidden) onChange(true);
    return () => document.removeEventListener('visibilitychange', listener);
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
