import type { ExecutionOptions } from '../../execution/run-inputs.js';
import { type NumberRule, readNumber } from '../flags/numbers.js';
import type { RunFlags } from './flags.js';

const TIMEOUT: NumberRule = { least: 0, above: true, unit: 'seconds', example: '30' };
const DELAY: NumberRule = { least: 0, unit: 'seconds', example: '0.5' };
const PLAN_CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'sub-pipelines at once', example: '2' };
const JITTER: NumberRule = { least: 0, most: 1, unit: 'a fraction of the delay', example: '0.2' };
const CONCURRENCY: NumberRule = { least: 1, whole: true, unit: 'items at once', example: '8' };

/**
 * The ExecutionOptions that the flags give; what no flag names is left to the defaults.
 *
 * @throws BadUsage for the first flag that is no number or out of range.
 */
export function readRunOptions(flags: RunFlags): ExecutionOptions {
  const given = {
    per_task_timeout: readNumber('--timeout', flags.timeout, TIMEOUT),
    fan_out_concurrency: readNumber('--concurrency', flags.concurrency, CONCURRENCY),
    backoff_jitter: readNumber('--jitter', flags.jitter, JITTER),
    retry_base_delay: readNumber('--retry-base-delay', flags.retryBaseDelay, DELAY),
    max_retry_delay: readNumber('--max-retry-delay', flags.maxRetryDelay, DELAY),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** How many sub-pipelines of a plan may run together (D45). Throws BadUsage for what is no such number. */
export function readPlanConcurrency({ planConcurrency }: RunFlags): number | undefined {
  return readNumber('--plan-concurrency', planConcurrency, PLAN_CONCURRENCY);
}
