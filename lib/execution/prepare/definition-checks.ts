import { readSource, type Source } from '../../definition/text/source.js';
import type { CheckSteps } from '../../definition/check-steps.js';
import { eventLoopBudget } from '../event-loop-budget.js';

/** Parses a text for a tenant, perhaps in another process. Never rejects because of the text. */
export type ParseText = (text: string, tenantId: string) => Promise<Source>;

/** Decides when a check pauses, and continues those of different tenants in turns (D25). */
interface SliceBudget {
  exhausted(): boolean;
  defer(next: () => void, tenantId: string): void;
}

/**
 * Checks definitions beside the runs of this process: in slices of the event-loop budget, so that no definition holds
 * the event loop, however long it is.
 */
export class DefinitionChecks {
  readonly #parseText: ParseText;
  readonly #budget: SliceBudget;

  /** @param parseText default: parses in this process */
  constructor(parseText: ParseText = parseHere, budget: SliceBudget = eventLoopBudget) {
    this.#parseText = parseText;
    this.#budget = budget;
  }

  /** Does the steps of a check for a tenant. Rejects with what they throw. */
  async run<T>(steps: CheckSteps<T>, tenantId: string): Promise<T> {
    let source: Source | undefined;
    for (;;) {
      if (this.#budget.exhausted()) await this.#pause(tenantId);
      const step = steps.next(source);
      if (step.done === true) return step.value;
      source = step.value === undefined ? undefined : await this.#parseText(step.value, tenantId);
    }
  }

  #pause(tenantId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#budget.defer(resolve, tenantId);
    });
  }
}

async function parseHere(text: string): Promise<Source> {
  return readSource(text);
}
