import type { PageScheduler } from '../../../web/shared/server/page-scheduler.js';

/** The time of a page whose frames the spec draws, and whose waits it ends. */
export class ManualScheduler implements PageScheduler {
  /** Entries for which a frame has time. */
  perFrame = 2;
  readonly waits: { readonly milliseconds: number; readonly end: () => void }[] = [];
  #callback: (() => void) | undefined;
  #isHidden = false;
  #onHidden: ((isHidden: boolean) => void) | undefined;

  request(callback: () => void): void {
    this.#callback = callback;
  }

  draw(): void {
    const callback = this.#callback;
    this.#callback = undefined;
    callback?.();
  }

  budget(): () => boolean {
    let left = this.perFrame;
    return () => left-- > 0;
  }

  wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.waits.push({ milliseconds, end: resolve });
      signal?.addEventListener('abort', () => resolve());
    });
  }

  watchHidden(onChange: (isHidden: boolean) => void): () => void {
    this.#onHidden = onChange;
    if (this.#isHidden) onChange(true);
    return () => (this.#onHidden = undefined);
  }

  hide(isHidden: boolean): void {
    this.#isHidden = isHidden;
    this.#onHidden?.(isHidden);
  }

  report(promise: Promise<unknown>, onError: (error: unknown) => void): void {
    promise.catch(onError);
  }
}
