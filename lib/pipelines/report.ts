import { formatProblem, type Problem } from '../definition/problems/problem.js';
import type { CheckResult } from './pipeline.js';
import type { ValidationReportSchema } from '../common/wire/report.js';
import type { Shape } from '../common/wire/shape.js';

/** The report on a pipeline: the response of a validation endpoint, and what `validate --json` prints (D33, D41). */
export interface ValidationReport extends Shape<typeof ValidationReportSchema> {}

/** The report on a definition with such statistics. */
type Report<Stats> = Omit<ValidationReport, 'stats'> & { readonly stats: Stats | null };

export function createReport(check: CheckResult): ValidationReport {
  return buildReport('Pipeline', check.problems, check.ok ? check.pipeline.statistics : null);
}

/** @param stats null when the definition is not valid */
export function buildReport<Stats>(
  kind: string,
  problems: readonly Problem[],
  stats: Stats | null,
): Report<Stats> {
  const ok = stats !== null;
  return {
    ok,
    errors: ok ? null : formatErrors(problems),
    warnings: problems.filter(({ severity }) => severity === 'warning').map(formatProblem),
    problems,
    message: ok ? `${kind} is valid` : 'Validation failed',
    stats,
  };
}

/** Formats the errors among problems as sentences. */
export function formatErrors(problems: readonly Problem[]): string[] {
  return problems.filter(({ severity }) => severity === 'error').map(formatProblem);
}
