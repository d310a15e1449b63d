import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from '../../common/clock.js';
import { inNextTurn } from '../../common/scheduling/turns.js';

/** The time at which every case begins: what a case computes of it is the same each time. */
const START_MS = Date.UTC(2026, 0, 1);

/** Turns of the event loop in which nothing used the clock, after which nothing is at work. */
const QUIET_TURNS = 3;

/** While a tool is at work, the time passes by itself: so often the clock looks at that of the machine. */
const TICK_MS = 5;

class Timer {
  isWaiting = true;
  readonly dueMs: number;
  readonly run: () => void;
  /** The call of a tool that waits for the timer; undefined for one of the run itself. */
  readonly call: CallAtWork | undefined;

  constructor(dueMs: number, run: () => void, call: CallAtWork | undefined) {
    this.dueMs = dueMs;
    this.run = run;
    this.call = call;
  }
}

/** A call of a tool that works by itself. It waits while it has set a timer, or a call within it is there. */
class CallAtWork {
  waitsFor = 0;
  readonly outer: CallAtWork | undefined;

  constructor(outer: CallAtWork | undefined) {
    this.outer = outer;
    if (outer !== undefined) outer.waitsFor++;
  }

  end(): void {
    if (this.outer !== undefined) this.outer.waitsFor--;
  }
}

/**
 * A clock that jumps to its next timer when nothing is at work, so that delays of retries, rounds and timeouts take no time.
 * While a tool computes, its time passes as that of the machine does: a tool must not time out because others wait.
 */
export class JumpClock implements Clock {
  readonly #calls = new AsyncLocalStorage<CallAtWork>();
  readonly #atWork = new Set<CallAtWork>();
  /** Sorted by time, then by creation. Cleared timers stay until their time. */
  readonly #timers: Timer[] = [];
  #elapsedMs = 0;
  /** Changes whenever somebody uses the clock. */
  #uses = 0;
  #isLooking = false;

  now(): number {
    this.#uses++;
    return START_MS + this.#elapsedMs;
  }

  monotonicNow(): number {
    this.#uses++;
    return this.#elapsedMs;
  }

  setTimeout(run: () => void, delayMs: number): unknown {
    const call = this.#calls.getStore();
    if (call !== undefined) call.waitsFor++;
    const timer = new Timer(this.#elapsedMs + Math.max(0, delayMs), run, call);
    const later = this.#timers.findLastIndex(({ dueMs }) => dueMs <= timer.dueMs) + 1;
    this.#timers.splice(later, 0, timer);
    this.#uses++;
    this.#look();
    return timer;
  }

  clearTimeout(timer: unknown): void {
    if (timer instanceof Timer) this.#settle(timer);
    this.#uses++;
  }

  /** Calls a tool that works by itself. */
  async work(call: () => unknown): Promise<unknown> {
    const atWork = new CallAtWork(this.#calls.getStore());
    this.#atWork.add(atWork);
    try {
      return await this.#calls.run(atWork, call);
    } finally {
      this.#atWork.delete(atWork);
      atWork.end();
      this.#uses++;
    }
  }

  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#lookAgain(this.#uses, 0);
  }

  #lookAgain(usesBefore: number, quietTurns: number): void {
    inNextTurn(() => {
      this.#dropCleared();
      if (this.#timers.length === 0) this.#isLooking = false;
      else if (this.#isBusy()) this.#tick();
      else if (this.#uses !== usesBefore) this.#lookAgain(this.#uses, 0);
      else if (quietTurns < QUIET_TURNS) this.#lookAgain(usesBefore, quietTurns + 1);
      else this.#jump();
    });
  }

  #isBusy(): boolean {
    return [...this.#atWork].some(({ waitsFor }) => waitsFor === 0);
  }

  #tick(): void {
    const before = systemClock.monotonicNow();
    systemClock.setTimeout(() => {
      this.#fireUntil(this.#elapsedMs + systemClock.monotonicNow() - before);
      this.#lookAgain(this.#uses, 0);
    }, TICK_MS);
  }

  #jump(): void {
    const [next] = this.#timers;
    if (next !== undefined) this.#fireUntil(next.dueMs);
    this.#lookAgain(this.#uses, 0);
  }

  /** While a timer runs, the time is its time. */
  #fireUntil(endMs: number): void {
    for (let next = this.#timers[0]; next !== undefined && next.dueMs <= endMs; next = this.#timers[0]) {
      this.#timers.shift();
      if (!this.#settle(next)) continue;
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      next.run();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, endMs);
  }

  #dropCleared(): void {
    while (this.#timers[0]?.isWaiting === false) this.#timers.shift();
  }

  /** Returns false when the timer has already fired or been cleared. */
  #settle(timer: Timer): boolean {
    if (!timer.isWaiting) return false;
    timer.isWaiting = false;
    if (timer.call !== undefined) timer.call.waitsFor--;
    return true;
  }
}
