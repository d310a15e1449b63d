import { formatProblem, type Problem } from '../definition/problems/problem.js';
import type { CheckResult } from './pipeline.js';
import type { Statistics } from './statistics.js';

/** The response of a validation endpoint, and what `validate --json` prints (D33, D41). */
export interface Report<Stats> {
  readonly ok: boolean;
  /** The errors as sentences; null when there are none. */
  readonly errors: readonly string[] | null;
  readonly warnings: readonly string[];
  /** Errors and warnings as data (D8). */
  readonly problems: readonly Problem[];
  readonly message: string;
  /** Null when the definition is not valid. */
  readonly stats: Stats | null;
}

/** The report on a pipeline. */
export type ValidationReport = Report<Statistics>;

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
