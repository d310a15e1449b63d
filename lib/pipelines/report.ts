import type { Problem } from '../definition/problem.js';
import type { Statistics } from '../waves/statistics.js';
import type { Check } from './check.js';

/** The body of the validation endpoint, and what `validate --json` prints (D33). */
export interface ValidationReport {
  readonly ok: boolean;
  /** The errors as sentences; null when there are none. */
  readonly errors: readonly string[] | null;
  readonly warnings: readonly string[];
  /** Errors and warnings as data (D8). */
  readonly problems: readonly Problem[];
  readonly message: string;
  /** Null when the definition is not valid. */
  readonly stats: Statistics | null;
}

export function reportOf(check: Check): ValidationReport {
  const { problems } = check;
  return {
    ok: check.ok,
    errors: check.ok ? null : errorsOf(problems),
    warnings: warningsOf(problems),
    problems,
    message: check.ok ? 'Pipeline is valid' : 'Validation failed',
    stats: check.ok ? check.pipeline.statistics : null,
  };
}

/** The errors among problems, as sentences. */
export function errorsOf(problems: readonly Problem[]): string[] {
  return problems.filter(({ severity }) => severity === 'error').map(sentence);
}

/** The warnings among problems, as sentences. */
export function warningsOf(problems: readonly Problem[]): string[] {
  return problems.filter(({ severity }) => severity === 'warning').map(sentence);
}

/** A problem in one line: where, what, and what to do. */
export function sentence({ message, file, line, column, path, hint }: Problem): string {
  const position = line === undefined ? path : `line ${line}, column ${column ?? 1}`;
  const place = [file ?? '', position].filter((part) => part !== '').join(', ');
  return `${place === '' ? '' : `${place}: `}${message}${hint === undefined ? '' : ` (${hint})`}`;
}
