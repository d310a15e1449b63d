import { performance } from 'node:perf_hooks';

/** How long the work of one kind of all tenants together may hold the event loop in one turn of it. */
const SLICE_MS = 4;

/**
 * The time for which work of one kind may hold the event loop in one turn of it: runs and requests together, or data
 * from the servers that tools and models ask.
 */
export class EventLoopSlice {
  readonly #sliceMs: number;
  #startMs = 0;
  #isStarted = false;
  #end: NodeJS.Immediate | undefined;

  constructor(sliceMs = SLICE_MS) {
    this.#sliceMs = sliceMs;
  }

  /** True when the time of this turn is used up. */
  get isOver(): boolean {
    if (!this.#isStarted) this.start();
    return performance.now() - this.#startMs > this.#sliceMs;
  }

  start(): void {
    this.#isStarted = true;
    this.#startMs = performance.now();
    // The end of an earlier slice must not end this one.
    clearImmediate(this.#end);
    this.#end = setImmediate(() => {
      this.#isStarted = false;
    });
  }
}

/** Resolves when no microtask is left: all that follows from what was resolved before is done, but for what waits for something else. */
export function microtasksToSettle(): Promise<void> {
  return new Promise((resolve) => {
    // Node.js calls the functions of this queue when no microtask is left, unless they were added outside of one.
    queueMicrotask(() => process.nextTick(resolve));
  });
}
