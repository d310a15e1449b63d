import { formatCount, formatNumber } from '../../common/text.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { formatTask } from './event-line.js';

/** The most calls that the summary of a run names. */
const MAX_NAMED = 12;

/** The most calls whose attempts are remembered: further ones are only counted. */
const MAX_REMEMBERED = 10_000;

/** The calls of a run that needed another attempt, read from its events. */
export class RetriedCalls {
  /** Attempts by the name of the call, in the order of the first retries. */
  readonly #attempts = new Map<string, number>();
  #forgotten = 0;

  onEvent(event: LiveEvent): void {
    if (event.kind !== 'retry') return;
    const name = formatTask(event);
    if (this.#attempts.size < MAX_REMEMBERED || this.#attempts.has(name)) {
      this.#attempts.set(name, event.attempt + 1);
    } else if (event.attempt === 1) {
      this.#forgotten++;
    }
  }

  /** `3 calls needed another attempt: fetch[2] (2 attempts), fetch[7] (3), rows (2)`; undefined when there are none. */
  describe(): string | undefined {
    const count = this.#attempts.size + this.#forgotten;
    if (count === 0) return undefined;
    const named = [...this.#attempts].slice(0, MAX_NAMED).map(formatAttempts);
    const others = count - named.length;
    const more = others === 0 ? '' : ` and ${formatNumber(others)} more`;
    return `${formatCount(count, 'call')} needed another attempt: ${named.join(', ')}${more}`;
  }
}

/** `fetch[2] (2 attempts)`; the following ones only have the number. */
function formatAttempts([name, attempts]: readonly [string, number], index: number): string {
  return `${name} (${index === 0 ? formatCount(attempts, 'attempt') : formatNumber(attempts)})`;
}
