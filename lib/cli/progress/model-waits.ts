import type { Clock } from '../../common/clock.js';
import { MODEL_LIMITS } from '../../common/limits.js';
import { formatDuration } from '../../common/text.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { toSingleLine } from '../render/text.js';
import { formatTask } from './event-line.js';

/** Time in which the event that ends a wait has come, when both are of the past. */
const REPLAY_MS = 100;

interface Wait {
  readonly of: string;
  readonly clock: Clock;
  /** Milliseconds, of the clock. */
  readonly since: number;
}

/** The requests of a command to language models that have brought no text yet, the oldest first. */
export class ModelWaits {
  readonly #waits = new Set<Wait>();
  /** The waits of the calls of a run, by the name of the call. */
  readonly #ofCalls = new Map<string, Wait>();
  /** The models of which a line has said that the command waits for them. */
  readonly #announced = new Set<string>();
  #print: ((line: string) => void) | undefined;

  /**
   * Call when a model is asked, and the returned function when it has begun to answer, or has failed.
   *
   * @param of the model, such as `openai/gpt-4o-mini`, or the server that asks it
   */
  begin(of: string, clock: Clock): () => void {
    const timer = clock.setTimeout(() => this.#announce(of), MODEL_LIMITS.waitNoticeMs);
    const wait = { of, clock, since: clock.monotonicNow() };
    this.#waits.add(wait);
    return () => {
      if (this.#waits.delete(wait)) clock.clearTimeout(timer);
    };
  }

  /** Reads from the events of a run which calls wait for which models. */
  onEvent(event: LiveEvent, clock: Clock): void {
    if (!('task_id' in event)) return;
    const model = event.kind === 'log' ? event.waits_for : undefined;
    // A call that does anything else waits no longer; a message alone says nothing of that.
    if (event.kind === 'log' && model === undefined) return;
    const call = formatTask(event);
    this.#end(call);
    if (model === undefined) return;
    const wait = { of: model, clock, since: clock.monotonicNow() - MODEL_LIMITS.waitNoticeMs };
    this.#ofCalls.set(call, wait);
    this.#waits.add(wait);
    // The events of a run that is watched later come at once: most of its waits have ended.
    const announce = (): void => {
      if (this.#waits.has(wait)) this.#announce(model);
    };
    clock.setTimeout(announce, REPLAY_MS);
  }

  #end(call: string): void {
    const wait = this.#ofCalls.get(call);
    if (wait === undefined) return;
    this.#ofCalls.delete(call);
    this.#waits.delete(wait);
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
    if (ms < MODEL_LIMITS.waitNoticeMs) return undefined;
    // Tenths of seconds would only make the line restless.
    const seconds = formatDuration(Math.max(1000, 1000 * Math.floor(ms / 1000))).replace('.0 s', ' s');
    const others = this.#waits.size === 1 ? '' : ` (${this.#waits.size} requests)`;
    return `waiting for ${toSingleLine(oldest.of)} since ${seconds}${others}`;
  }

  #announce(of: string): void {
    if (this.#print === undefined || this.#announced.has(of)) return;
    this.#announced.add(of);
    this.#print(`waiting for ${toSingleLine(of)}`);
  }
}
