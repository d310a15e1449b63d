import { performance } from 'node:perf_hooks';
import type { Clock } from '../clock.js';

/** How long the work of one kind of all tenants together may hold the event loop in one turn of it. */
const SLICE_MS = 4;

/** The time by which slices end, and of which tenants have their shares. */
export const sliceClock: Pick<Clock, 'monotonicNow'> = { monotonicNow: () => performance.now() };

/**
 * The time for which work of one kind may hold the event loop in one turn of it: runs and requests together, or data
 * from the servers that tools and models ask.
 */
export class EventLoopSlice {
  readonly #sliceMs: number;
  readonly #clock: Pick<Clock, 'monotonicNow'>;
  #startMs = 0;
  #isStarted = false;
  #end: NodeJS.Immediate | undefined;

  constructor(sliceMs = SLICE_MS, clock = sliceClock) {
    this.#sliceMs = sliceMs;
    this.#clock = clock;
  }

  /** True when the time of this turn is used up. */
  get isOver(): boolean {
    if (!this.#isStarted) this.start();
    return this.#clock.monotonicNow() - this.#startMs > this.#sliceMs;
  }

  start(): void {
    this.#isStarted = true;
    this.#startMs = this.#clock.monotonicNow();
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
