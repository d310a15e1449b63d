import { durationToMs, UNIT_MS } from '../../common/duration.js';
import { KEEP_LIMITS } from '../../common/limits.js';
import { isObject } from '../../common/json/json.js';
import type { Findings } from '../problems/diagnostic.js';
import type { KeepDefinition } from '../schema/definition-fields.js';

/** How long a store keeps settled runs of a definition, and how many of them at most (D74). */
export interface Keep {
  /** Milliseconds after the end of a run; undefined when the server decides. */
  readonly ageMs: number | undefined;
  /** Undefined when the server decides. */
  readonly runs: number | undefined;
}

/** Reads `keep` of a checked definition; undefined when it has none. */
export function readKeep(keep: KeepDefinition | undefined): Keep | undefined {
  if (keep === undefined) return undefined;
  if (typeof keep !== 'object') return { ageMs: toWholeMs(durationToMs(keep)), runs: undefined };
  const { days, runs } = keep;
  return { ageMs: toWholeMs(days === undefined ? undefined : days * UNIT_MS.d), runs };
}

function toWholeMs(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.ceil(ms);
}

/** Checks `keep` beyond what its schema says. */
export function* checkKeep(definition: unknown): Findings {
  const keep = isObject(definition) ? definition['keep'] : undefined;
  const problem = isObject(keep) ? findProblemOfMap(keep) : findProblemOfText(keep);
  if (problem !== undefined)
    yield { code: 'invalid_value', path: ['keep'], message: `"keep" must ${problem}` };
}

function findProblemOfMap(keep: object): string | undefined {
  return Object.keys(keep).length === 0 ? 'not be empty' : undefined;
}

function findProblemOfText(keep: unknown): string | undefined {
  const ms = typeof keep === 'string' ? durationToMs(keep) : undefined;
  if (ms === undefined) return undefined;
  if (ms === 0) return 'be > 0';
  return ms > KEEP_LIMITS.days * UNIT_MS.d ? `be <= ${KEEP_LIMITS.days}d` : undefined;
}
