import type { Frames } from '../../../web/shared/server/frame-loop.js';

/** Frames that the spec draws, and waits that it ends. */
export class ManualFrames implements Frames {
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
