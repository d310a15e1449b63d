import { type Problem, sentence } from '../definition/problem.js';
import type { Statistics } from './waves.js';
import type { Check } from './check.js';

/** The body of a validation endpoint, and what `validate --json` prints (D33, D41). */
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

/** That of a pipeline. */
export type ValidationReport = Report<Statistics>;

export function reportOf(check: Check): ValidationReport {
  return reportWith('Pipeline', check.problems, check.ok ? check.pipeline.statistics : null);
}

/** @param stats null when it is not valid */
export function reportWith<Stats>(
  name: string,
  problems: readonly Problem[],
  stats: Stats | null,
): Report<Stats> {
  const ok = stats !== null;
  return {
    ok,
    errors: ok ? null : errorsOf(problems),
    warnings: warningsOf(problems),
    problems,
    message: ok ? `${name} is valid` : 'Validation failed',
    stats,
  };
}

/** The errors among problems, as sentences. */
export function errorsOf(problems: readonly Problem[]): string[] {
  return problems.filter(({ severity }) => severity === 'error').map(sentence);
}

/** The warnings among problems, as sentences. */
function warningsOf(problems: readonly Problem[]): string[] {
  return problems.filter(({ severity }) => severity === 'warning').map(sentence);
}
