import type { EventLoopBudget } from '../../../machines/ports.js';
import type { CheckSteps } from '../../definition/check-steps.js';
import { readSource, type Source } from '../../definition/text/source.js';
import { eventLoopBudget, nextSlice } from '../event-loop-budget.js';

/** Parses a text for a tenant, perhaps in another process. Never rejects because of the text. */
export type ParseText = (text: string, tenantId: string) => Promise<Source>;

/** Continues the checks of different tenants in turns (D25). */
interface SharedBudget {
  forTenant(tenantId: string): EventLoopBudget;
}

/**
 * Checks definitions beside the runs of this process: in slices of the event-loop budget, so that no definition holds
 * the event loop, however long it is.
 */
export class DefinitionChecks {
  readonly #parseText: ParseText;
  readonly #budget: SharedBudget;

  /** @param parseText default: parses in this process */
  constructor(parseText: ParseText = parseHere, budget: SharedBudget = eventLoopBudget) {
    this.#parseText = parseText;
    this.#budget = budget;
  }

  /** Does the steps of a check for a tenant. Rejects with what they throw. */
  async run<T>(steps: CheckSteps<T>, tenantId: string): Promise<T> {
    const budget = this.#budget.forTenant(tenantId);
    let source: Source | undefined;
    for (;;) {
      if (budget.exhausted()) await nextSlice(budget);
      const step = steps.next(source);
      if (step.done === true) return step.value;
      source = step.value === undefined ? undefined : await this.#parseText(step.value, tenantId);
    }
  }
}

async function parseHere(text: string): Promise<Source> {
  return readSource(text);
}
