import { type Duration, durationToMs, UNIT_MS } from '../../common/duration.js';
import { isObject } from '../../common/json/json.js';
import { MAX_RUN_TIMEOUT_DAYS } from '../../common/limits.js';
import type { Findings } from '../problems/diagnostic.js';

/** How long a run may take as a whole (D81). */
export interface TimeLimit {
  readonly ms: number;
  /** The duration as the definition writes it, for the error of the run: `1h30m`, `90 s`. */
  readonly text: string;
}

/** Reads `timeout` of a checked pipeline or plan; undefined when it has none. */
export function readTimeLimit(timeout: Duration | undefined): TimeLimit | undefined {
  const ms = timeout === undefined ? undefined : durationToMs(timeout);
  if (ms === undefined) return undefined;
  return { ms, text: typeof timeout === 'number' ? `${timeout} s` : String(timeout) };
}

/** Checks the time limits of a pipeline or plan beyond what its schema says, which bounds only numbers. */
export function* checkTimeLimits(definition: unknown): Findings {
  for (const field of ['timeout', 'handler_timeout']) {
    const timeout = isObject(definition) ? definition[field] : undefined;
    const problem = typeof timeout === 'string' ? findProblem(timeout) : undefined;
    if (problem !== undefined)
      yield { code: 'invalid_value', path: [field], message: `"${field}" must ${problem}` };
  }
}

function findProblem(timeout: string): string | undefined {
  const ms = durationToMs(timeout);
  if (ms === undefined) return undefined;
  if (ms === 0) return 'be > 0';
  return ms > MAX_RUN_TIMEOUT_DAYS * UNIT_MS.d ? `be <= ${MAX_RUN_TIMEOUT_DAYS}d` : undefined;
}
