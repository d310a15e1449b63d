import type { Clock } from '../../common/clock.js';
import { formatDuration } from '../../common/text.js';

/** A request that has waited for so long is worth a line: an answer may take minutes. */
const WORTH_SAYING_MS = 800;

interface Wait {
  readonly of: string;
  readonly clock: Clock;
  /** Milliseconds, of the clock. */
  readonly since: number;
  readonly timer: unknown;
}

/** The requests of a command to language models that have brought no text yet, the oldest first. */
export class ModelWaits {
  readonly #waits = new Set<Wait>();
  /** The models of which a line has said that the command waits for them. */
  readonly #announced = new Set<string>();
  #print: ((line: string) => void) | undefined;

  /**
   * Call when a model is asked, and the returned function when it has begun to answer, or has failed.
   *
   * @param of the model, such as `openai/gpt-4o-mini`, or the server that asks it
   */
  begin(of: string, clock: Clock): () => void {
    const wants = this.#print !== undefined && !this.#announced.has(of);
    const timer = wants ? clock.setTimeout(() => this.#announce(of), WORTH_SAYING_MS) : undefined;
    const wait = { of, clock, since: clock.monotonicNow(), timer };
    this.#waits.add(wait);
    return () => {
      if (this.#waits.delete(wait) && timer !== undefined) clock.clearTimeout(timer);
    };
  }

  /** Prints from now on a line for each model that is waited for, once. Returns the function that ends it. */
  announce(print: (line: string) => void): () => void {
    this.#print = print;
    return () => {
      this.#print = undefined;
    };
  }

  /** `waiting for openai/gpt-4o-mini since 3 s`; undefined while there is nothing to say. */
  describe(): string | undefined {
    const [oldest] = this.#waits;
    if (oldest === undefined) return undefined;
    const ms = oldest.clock.monotonicNow() - oldest.since;
    if (ms < WORTH_SAYING_MS) return undefined;
    // Tenths of seconds would only make the line restless.
    const seconds = formatDuration(Math.max(1000, 1000 * Math.floor(ms / 1000))).replace('.0 s', ' s');
    const others = this.#waits.size === 1 ? '' : ` (${this.#waits.size} requests)`;
    return `waiting for ${oldest.of} since ${seconds}${others}`;
  }

  #announce(of: string): void {
    if (this.#announced.has(of)) return;
    this.#announced.add(of);
    this.#print?.(`waiting for ${of}`);
  }
}
