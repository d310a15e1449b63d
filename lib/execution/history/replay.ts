import type { EventLoopBudget } from '../../../machines/ports.js';
import { eventLoopBudget, nextSlice } from '../run/event-loop-budget.js';
import type { Clock } from '../../common/clock.js';
import type { Fact } from './fact.js';
import { enclosingPlaces, outermostNested } from './nested-places.js';

/** Nobody has waited for the next fact for so long: the run comes to another state than it had. */
const DIVERGENCE_MS = 10_000;

/** The limit after the first divergence, and for settled runs: they call no tools, and the server waits for them. */
const SHORT_DIVERGENCE_MS = 500;

/** Waits for the facts of one call, one task or the run. */
interface Expectation {
  /** Receives the next fact of the call, the task or the run. */
  onFact(fact: Fact): void;
  /** Called when no fact is left: what has no outcome happens now. */
  onEnd(): void;
}

interface ReplayOptions {
  readonly tenantId: string;
  readonly hasSettled: boolean;
  readonly clock: Clock;
  /** Receives the time of each fact before it is handed over. */
  onFact(at: number): void;
  /** Called when the last fact was handed over, before anything goes on. */
  onLastFact(): void;
  /** Called when nobody waits for a fact. @param nested the only pipeline, inside an attempt, that loses what it had done */
  onDivergence(fact: Fact, nested: string | undefined): void;
}

/** Rebuilds a run: hands each fact to the expectation of its key, in order, so that the machines come to the same state. */
export class Replay {
  #facts: Fact[];
  readonly #options: ReplayOptions;
  readonly #budget: EventLoopBudget;
  #timer: unknown;
  readonly #expectations = new Map<string, Expectation>();
  readonly #dropped = new Set<string>();
  #next = 0;
  #isOver = false;
  #isScheduled = false;
  #isStopped = false;
  #hasDiverged = false;
  #hasEnded = false;
  #resolveOver: () => void = () => {};
  /** Resolves when no fact is left, and everything that had no outcome has been started. */
  readonly over: Promise<void>;

  constructor(facts: readonly Fact[], options: ReplayOptions) {
    this.#facts = [...facts];
    this.#options = options;
    this.#budget = eventLoopBudget.forTenant(options.tenantId);
    // A run may wait for its slot before it is rebuilt.
    if (this.#facts.length === 0) this.#schedule();
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** True when everything goes on that had no outcome. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** True when no fact is left: what happens now has not happened before. */
  get isAtEnd(): boolean {
    return this.#next >= this.#facts.length;
  }

  /** @param key of the facts, as one of the functions below makes it */
  expect(key: string, expectation: Expectation): void {
    this.#expectations.set(key, expectation);
    this.#schedule();
  }

  /** Hands over no more facts, and lets nothing go on. */
  stop(): void {
    this.#isStopped = true;
    this.#isOver = true;
    this.#options.clock.clearTimeout(this.#timer);
    this.#expectations.clear();
    this.#hasEnded = true;
    this.#resolveOver();
  }

  /** Goes on after the next fact of this key: nobody needs it, but what follows must not come before. */
  pass(key: string): void {
    this.expect(key, { onFact: () => this.settle(key), onEnd: () => undefined });
  }

  /** Passes over all facts of a place, and of the places in it: nobody will wait for them. */
  drop(place: string): void {
    this.#dropped.add(place);
    this.#schedule();
  }

  #isDropped(fact: Fact): boolean {
    if (this.#dropped.size === 0 || !('place' in fact)) return false;
    for (const place of enclosingPlaces(fact.place)) if (this.#dropped.has(place)) return true;
    return false;
  }

  /** Call when the last fact of this key has come. */
  settle(key: string): void {
    this.#expectations.delete(key);
  }

  /** Hands facts over, but not at once: the caller, which expects some, is in the middle of a transition. */
  #schedule(): void {
    if (this.#isScheduled || this.#isStopped) return;
    this.#isScheduled = true;
    queueMicrotask(() => void this.#handOver());
  }

  async #handOver(): Promise<void> {
    while (!this.#isStopped) {
      const fact = this.#facts[this.#next];
      if (fact === undefined) break;
      if (this.#isDropped(fact)) {
        this.#next++;
        continue;
      }
      const expectation = this.#expectations.get(toKey(fact));
      if (expectation === undefined) return this.#waitForNext(fact);
      this.#options.clock.clearTimeout(this.#timer);
      this.#next++;
      this.#options.onFact(fact.at);
      expectation.onFact(fact);
      if (this.#budget.exhausted()) await nextSlice(this.#budget);
    }
    if (!this.#isStopped) await this.#end();
  }

  /** Waits for an expectation: it may come in a later turn of the event loop, or when a tool has called a pipeline. */
  #waitForNext(fact: Fact): void {
    this.#isScheduled = false;
    const at = this.#next;
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = this.#options.clock.setTimeout(
      () => {
        if (this.#next === at && !this.#isScheduled) this.#goOnWithout(fact);
      },
      this.#options.hasSettled || this.#hasDiverged ? SHORT_DIVERGENCE_MS : DIVERGENCE_MS,
    );
  }

  #goOnWithout(fact: Fact): void {
    this.#hasDiverged = true;
    const nested = 'place' in fact ? outermostNested(fact.place) : undefined;
    this.#options.onDivergence(fact, nested);
    if (nested === undefined) {
      // A request to the run as a whole, such as its cancellation, is promised.
      this.#facts = this.#facts.slice(this.#next + 1).filter((other) => !('place' in other));
      this.#next = 0;
    } else this.#dropped.add(nested);
    this.#schedule();
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    this.#options.onLastFact();
    this.#facts.length = 0;
    this.#next = 0;
    for (const [key, expectation] of this.#expectations) {
      this.#expectations.delete(key);
      expectation.onEnd();
      if (this.#budget.exhausted()) await nextSlice(this.#budget);
    }
    this.#hasEnded = true;
    this.#resolveOver();
  }
}

/** Returns the key under which a call, a task or the run expects the fact. */
export function toKey(fact: Fact): string {
  switch (fact.kind) {
    case 'succeeded':
    case 'failed':
    case 'skipped':
    case 'retry':
    case 'round':
    case 'due':
    case 'called':
      return callKey(fact.place, fact.task, fact.item);
    case 'published':
      return taskKey(fact.place, fact.task);
    case 'begun':
      return begunKey(fact.place);
    case 'decided':
      return decidedKey(fact.place);
    case 'timeout':
      return timeoutKey(fact.place);
    case 'nested':
      return nestedKey(fact.place);
    case 'continued':
      return sliceKey(fact.place, fact.count);
    case 'cancel':
    case 'resume':
      return RUN_KEY;
    default:
      // Facts of other kinds are not replayed.
      return fact.kind;
  }
}

export const RUN_KEY = 'run';

export function callKey(place: string, task: string, item: number): string {
  return `call ${place} ${task} ${item}`;
}

export function taskKey(place: string, task: string): string {
  return `task ${place} ${task}`;
}

export function begunKey(place: string): string {
  return `begun ${place}`;
}

export function decidedKey(place: string): string {
  return `decided ${place}`;
}

export function timeoutKey(place: string): string {
  return `timeout ${place}`;
}

export function nestedKey(place: string): string {
  return `nested ${place}`;
}

export function sliceKey(place: string, count: number): string {
  return `slice ${place} ${count}`;
}
