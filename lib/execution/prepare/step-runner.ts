import type { EventLoopBudget } from '../../../machines/ports.js';
import { measureSteps, type Place } from '../../common/scheduling/event-loop-overruns.js';
import type { Limit } from '../../common/memory/shared-limit.js';
import { ConcurrencyLimiter, type Release } from '../../common/scheduling/concurrency-limiter.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import { runWithPauses, type Steps } from '../../common/scheduling/steps.js';
import { isParsedAtOnce } from '../../definition/text/limits.js';
import { type CheckSteps, readSource, type Source } from '../../definition/text/source.js';
import { eventLoopBudget, nextSlice, nextSliceWhenOver } from '../run/event-loop-budget.js';

/** Parses a text for a tenant, perhaps in another process. Never rejects because of the text. */
export type ParseText = (text: string, tenantId: string) => Promise<Source>;

/** Shares the event loop between tenants (D25). */
interface SharedBudget {
  forTenant(tenantId: string): EventLoopBudget;
}

/** A check that has paused so often takes much memory, besides that of the definition. */
const LONG_CHECK_PAUSES = 3;

/** Long checks of all tenants at once, each of which may take some 50 MB; and those of each tenant in any case. */
const LONG_CHECKS: Limit = { total: 2, guaranteed: 1 };

/** Does long work, such as checks and copies, beside the runs: in slices of the event-loop budget, so that none holds the loop. */
export class StepRunner {
  readonly #parseText: ParseText;
  readonly #budget: SharedBudget;
  readonly #longChecks = new ConcurrencyLimiter(LONG_CHECKS);

  /** @param parseText default: parses in this process */
  constructor(parseText: ParseText = parseHere, budget: SharedBudget = eventLoopBudget) {
    this.#parseText = parseText;
    this.#budget = budget;
  }

  /** Does all steps for a tenant. Rejects with what they throw. @param place of its overruns in the metrics */
  async run<T>(steps: Steps<T>, tenantId: string, place: Place = 'values'): Promise<T> {
    await nextSliceWhenOver(this.#budget.forTenant(tenantId));
    return runInSlices(steps, tenantId, place);
  }

  /** Does a check in steps: few long ones at once, those of tenants in turns (D25), because each takes much memory. */
  async check<T>(steps: CheckSteps<T>, tenantId: string): Promise<T> {
    const budget = this.#budget.forTenant(tenantId);
    let pauses = 0;
    let release: Release | undefined;
    const beginLongCheck = async (): Promise<void> => {
      release = await this.#longChecks.acquire({ tenant_id: tenantId });
      await nextSlice(budget);
    };
    const pause = (): Promise<void> | undefined => {
      if (!budget.exhausted()) return undefined;
      return ++pauses === LONG_CHECK_PAUSES ? beginLongCheck() : nextSlice(budget);
    };
    const parse = async (text: string): Promise<Source> => {
      if (!isParsedAtOnce(text) && pauses < LONG_CHECK_PAUSES) {
        pauses = LONG_CHECK_PAUSES;
        await beginLongCheck();
      }
      return this.#parseText(text, tenantId);
    };
    try {
      await pause();
      return await runWithPauses(measureSteps(steps, 'definitions'), pause, parse);
    } finally {
      release?.();
    }
  }
}

async function parseHere(text: string): Promise<Source> {
  return readSource(text);
}
