import type { Problem } from '../definition/problem.js';
import { errorsOf, warningsOf } from '../pipelines/report.js';
import type { PlanCheck } from './check.js';
import type { PlanStatistics } from './statistics.js';

/** The body of the validation endpoint of plans, and what `validate --json` prints of one (D33, D41). */
export interface PlanReport {
  readonly ok: boolean;
  /** The errors as sentences; null when there are none. */
  readonly errors: readonly string[] | null;
  readonly warnings: readonly string[];
  /** Errors and warnings as data (D8). */
  readonly problems: readonly Problem[];
  readonly message: string;
  /** Null when the plan is not valid. */
  readonly stats: PlanStatistics | null;
}

export function planReportOf(check: PlanCheck): PlanReport {
  const { problems } = check;
  return {
    ok: check.ok,
    errors: check.ok ? null : errorsOf(problems),
    warnings: warningsOf(problems),
    problems,
    message: check.ok ? 'Plan is valid' : 'Validation failed',
    stats: check.ok ? check.statistics : null,
  };
}
