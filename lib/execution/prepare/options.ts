import { DURATION_FORMS, durationToMs } from '../../common/duration.js';
import { describeKind, type Json, subtractJsonLength } from '../../common/json/json.js';
import { ellipsize } from '../../common/text.js';
import { WavetrainError } from '../../common/errors.js';
import { type Backoff, readBackoff } from '../invocation/retry-delay.js';
import type { ExecutionOptions } from './run-inputs.js';

/** Checked ExecutionOptions, in milliseconds. */
export interface Options {
  readonly timeoutMs: number | undefined;
  readonly backoff: Backoff;
  /** `Infinity` when unlimited. */
  readonly fanOutConcurrency: number;
  /** Tasks with `cache` may use the outputs of equal invocations (D65). */
  readonly usesCache: boolean;
}

interface OptionRule {
  readonly expected: string;
  readonly isValid: (value: number) => boolean;
  readonly nullable?: true;
  /** The value may be a text, such as `5m` (D82). */
  readonly isDuration?: true;
}

type NumberOption = Exclude<keyof ExecutionOptions, 'cache'>;

const DELAY: OptionRule = {
  expected: 'a number of seconds, 0 or more, or a text such as 5m',
  isValid: (value) => value >= 0,
  isDuration: true,
};

const RULES: Readonly<Record<NumberOption, OptionRule>> = {
  per_task_timeout: {
    expected: 'a number of seconds above 0, a text such as 5m, or null',
    isValid: (value) => value > 0,
    nullable: true,
    isDuration: true,
  },
  retry_base_delay: DELAY,
  max_retry_delay: DELAY,
  backoff_jitter: { expected: 'a number from 0 to 1', isValid: (value) => value >= 0 && value <= 1 },
  fan_out_concurrency: {
    expected: 'a whole number above 0, or null',
    isValid: (value) => Number.isInteger(value) && value > 0,
    nullable: true,
  },
};

/** Reads ExecutionOptions, with the defaults of the reference (Limits). @throws WavetrainError `invalid_options`, naming each */
export function readOptions(options?: ExecutionOptions): Options {
  return options === undefined ? DEFAULT_OPTIONS : checkOptions(options);
}

function checkOptions(options: ExecutionOptions): Options {
  const problems = Object.entries(options).flatMap(([name, value]) => checkOption(name, value));
  if (problems.length > 0) throw new WavetrainError('invalid_options', problems.join('; '));
  const timeout = options.per_task_timeout ?? undefined;
  return {
    timeoutMs: timeout === undefined ? undefined : durationToMs(timeout),
    backoff: readBackoff(options),
    fanOutConcurrency: options.fan_out_concurrency ?? Number.POSITIVE_INFINITY,
    usesCache: options.cache ?? true,
  };
}

const DEFAULT_OPTIONS = checkOptions({});

function checkOption(name: string, value: unknown): string[] {
  if (name === 'cache') {
    const isValid = value === undefined || typeof value === 'boolean';
    return isValid ? [] : [`cache must be true or false; it is ${showShort(value)}`];
  }
  if (!Object.hasOwn(RULES, name)) {
    return [
      `there is no option "${ellipsize(name, MAX_SHOWN)}"; the options are ${Object.keys(RULES).join(', ')}, cache`,
    ];
  }
  const rule = RULES[name as NumberOption];
  if (value === undefined || (value === null && rule.nullable)) return [];
  const number = rule.isDuration && typeof value === 'string' ? durationToMs(value) : value;
  if (typeof number === 'number' && Number.isFinite(number) && rule.isValid(number)) return [];
  if (number === undefined) return [`${name}: ${showShort(value)} is no duration: ${DURATION_FORMS}`];
  return [`${name} must be ${rule.expected}; it is ${showShort(value)}`];
}

/** Characters of an unknown name or a wrong value that a message has. */
const MAX_SHOWN = 100;

/** A list or an object is measured first: one that shares its parts may have gigabytes. */
function showShort(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(ellipsize(value, MAX_SHOWN));
  const isShort = subtractJsonLength(MAX_SHOWN, value as Json) >= 0;
  return isShort ? JSON.stringify(value) : describeKind(value);
}
