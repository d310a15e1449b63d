import { formatCount, formatNumber, joinFirst } from '../../common/text.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { formatTask } from './display.js';

/** The most calls that the summary of a run names. */
const MAX_NAMED = 12;

/** The calls of a run that needed another attempt, read from its events. */
export class RetriedCalls {
  /** Attempts by the name of the call, in the order of the first retries. */
  readonly #attempts = new Map<string, number>();

  onEvent(event: LiveEvent): void {
    if (event.kind === 'retry') this.#attempts.set(formatTask(event), event.attempt + 1);
  }

  /** `3 calls needed another attempt: fetch[2] (2 attempts), fetch[7] (3), rows (2)`; undefined when there are none. */
  describe(): string | undefined {
    const calls = [...this.#attempts];
    if (calls.length === 0) return undefined;
    const names = calls.map(
      ([name, attempts], index) =>
        `${name} (${index === 0 ? formatCount(attempts, 'attempt') : formatNumber(attempts)})`,
    );
    return `${formatCount(calls.length, 'call')} needed another attempt: ${joinFirst(names, MAX_NAMED)}`;
  }
}
