import { type Duration, durationToMs } from '../../common/duration.js';
import { assertDefined } from '../../definition/assert.js';
import type { Task } from '../../pipelines/pipeline.js';
import type { ExecutionOptions } from '../prepare/run-inputs.js';

/** The delay between attempts (D18): it doubles from `baseMs` with every retry up to `maxMs`, and varies by `jitter`. */
export interface Backoff {
  /** Delay before the first retry. */
  readonly baseMs: number;
  /** Maximum delay. */
  readonly maxMs: number;
  /** Fraction by which a delay varies, 0 to 1. */
  readonly jitter: number;
}

/** The defaults of the reference (Limits). */
const DEFAULT_BASE_SECONDS = 0.5;
const DEFAULT_MAX_SECONDS = 4;

/** Keeps the power finite: infinity times a base of 0 would be NaN. */
const MAX_DOUBLINGS = 1000;

/** The longest delay of a timer, about 24 days. An infinite one would not be a number in the event of the retry. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/** How long a retry may wait because a server asked for it, unless `maxMs` is longer. */
const LONGEST_ASKED_DELAY_MS = 60_000;

/** Reads the backoff from options that were checked. */
export function readBackoff(options: ExecutionOptions): Backoff {
  return {
    baseMs: readCheckedMs(options.retry_base_delay ?? DEFAULT_BASE_SECONDS),
    maxMs: readCheckedMs(options.max_retry_delay ?? DEFAULT_MAX_SECONDS),
    jitter: options.backoff_jitter ?? 0,
  };
}

function readCheckedMs(duration: Duration): number {
  return assertDefined(durationToMs(duration), 'a duration that was checked');
}

/** The backoff of a task, or of its run (D66). The run's maximum does not cut a first delay that only the task names. */
export function taskBackoff(
  { retryDelayMs: ownBaseMs, maxRetryDelayMs: ownMaxMs }: Pick<Task, 'retryDelayMs' | 'maxRetryDelayMs'>,
  run: Backoff,
): Backoff {
  if (ownBaseMs === undefined && ownMaxMs === undefined) return run;
  const maxMs = ownMaxMs ?? Math.max(run.maxMs, ownBaseMs ?? 0);
  return { baseMs: ownBaseMs ?? run.baseMs, maxMs, jitter: run.jitter };
}

/**
 * Calculates the delay before a retry. The cap applies before and after the jitter, so that no delay exceeds `maxMs`. A
 * server that asked for more time, `askedMs`, gets it (D62), up to a minute or `maxMs`.
 * @param retry number of the retry, from 1 @param random a number from 0 to 1
 */
export function retryDelayMs(
  retry: number,
  { baseMs, maxMs, jitter }: Backoff,
  random: number,
  askedMs = 0,
): number {
  const doublings = Math.min(retry - 1, MAX_DOUBLINGS);
  const capMs = Math.min(maxMs, LONGEST_DELAY_MS);
  const delayMs = Math.min(capMs, baseMs * 2 ** doublings);
  const factor = 1 + jitter * (2 * random - 1);
  return Math.max(
    Math.min(capMs, delayMs * factor),
    Math.min(askedMs, Math.max(capMs, LONGEST_ASKED_DELAY_MS)),
  );
}
