import { WavetrainError } from '../../common/errors.js';
import type { ExecutionOptions } from '../run-inputs.js';

/** ExecutionOptions checked and in milliseconds. */
export interface Options {
  readonly timeoutMs: number | undefined;
  readonly backoff: Backoff;
  /** `Infinity` is unlimited. */
  readonly fanOutConcurrency: number;
}

type Rule = { readonly expected: string; readonly holds: (value: number) => boolean };

const ABOVE_ZERO: Rule = { expected: 'a number of seconds above 0', holds: (value) => value > 0 };
const NOT_NEGATIVE: Rule = { expected: 'a number of seconds, 0 or more', holds: (value) => value >= 0 };
const FRACTION: Rule = { expected: 'a number from 0 to 1', holds: (value) => value >= 0 && value <= 1 };
const COUNT: Rule = {
  expected: 'a whole number above 0',
  holds: (value) => Number.isInteger(value) && value > 0,
};

const RULES: Readonly<Record<keyof ExecutionOptions, Rule & { readonly nullable?: true }>> = {
  per_task_timeout: { ...ABOVE_ZERO, nullable: true },
  retry_base_delay: NOT_NEGATIVE,
  max_retry_delay: NOT_NEGATIVE,
  backoff_jitter: FRACTION,
  fan_out_concurrency: { ...COUNT, nullable: true },
};

/**
 * Reads ExecutionOptions, with the defaults of the specification's Limits.
 *
 * @throws WavetrainError `invalid_options`, naming every option that is unknown or out of range
 */
export function readOptions(given: ExecutionOptions = {}): Options {
  const problems = Object.entries(given).flatMap(([name, value]) => problemOf(name, value));
  if (problems.length > 0) throw new WavetrainError('invalid_options', problems.join('; '));
  const seconds = (value: number): number => value * 1000;
  const timeout = given.per_task_timeout ?? undefined;
  return {
    timeoutMs: timeout === undefined ? undefined : seconds(timeout),
    backoff: {
      baseMs: seconds(given.retry_base_delay ?? 0.5),
      maxMs: seconds(given.max_retry_delay ?? 4),
      jitter: given.backoff_jitter ?? 0,
    },
    fanOutConcurrency: given.fan_out_concurrency ?? Number.POSITIVE_INFINITY,
  };
}

function problemOf(name: string, value: unknown): string[] {
  if (!Object.hasOwn(RULES, name)) {
    return [`there is no option "${name}"; the options are ${Object.keys(RULES).join(', ')}`];
  }
  const rule = RULES[name as keyof ExecutionOptions];
  if (value === undefined || (value === null && rule.nullable)) return [];
  if (typeof value === 'number' && Number.isFinite(value) && rule.holds(value)) return [];
  return [
    `${name} must be ${rule.expected}${rule.nullable ? ', or null' : ''}; it is ${JSON.stringify(value)}`,
  ];
}

/** When a failed attempt is repeated (D18). */
interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
  /** Fraction by which a delay varies, 0 to 1. */
  readonly jitter: number;
}

/** Beyond any ceiling, and still a number: infinity times a base of 0 is none. */
const MOST_DOUBLINGS = 1000;

/**
 * The delay before retry `retry` (from 1): doubling from the base, capped, varied by the jitter, capped again.
 *
 * @param random a number from 0 to 1, drawn by the caller
 */
export function retryDelayMs(retry: number, { baseMs, maxMs, jitter }: Backoff, random: number): number {
  const doubled = Math.min(maxMs, baseMs * 2 ** Math.min(retry - 1, MOST_DOUBLINGS));
  const factor = 1 + jitter * (2 * random - 1);
  return Math.min(maxMs, doubled * factor);
}
