import { formatCount, formatNumber } from '../text.js';
import type { RunSummarySchema } from './run.js';
import type { Shape } from './shape.js';
import type { WaitingForSchema } from './task.js';

/** A record without the fields that may be large, as listed: the end of a run, once it has settled. */
export interface RunSummary extends Shape<typeof RunSummarySchema> {}

/** The wait of a run, a task or an item: computed when it is read, from the queue or the pool in which it waits. */
export interface WaitingFor extends Shape<typeof WaitingForSchema> {}

/** A text that changes with what is waited for, for the version of a record. */
export function versionOfWait({ reason, since, running = [], ...wait }: WaitingFor): string {
  return [reason, since, wait.pool, wait.until, wait.sub_pipeline, wait.task_id, wait.calls, ...running].join(
    '.',
  );
}

const QUEUE_REASONS = {
  server: 'a slot: all slots of the server are taken (SERVICE_MAX_RUNNING)',
  tenant: 'a slot: the tenant has its share of them (SERVICE_TENANT_SHARE)',
  breakpoints: 'a slot for runs with breakpoints, which have half of them at most',
  restart: 'the runs of the process before, which are still being read',
} as const;

/** `a place in pool "erp"`, as the end of a sentence that begins with what waits. */
export function describeWait(wait: WaitingFor): string {
  if (wait.reason === 'pool') return describePoolWait(wait);
  if (wait.reason === 'repeat') return describeRoundWait(wait);
  return wait.reason === 'max_running' ? describeGroupWait(wait) : QUEUE_REASONS[wait.reason];
}

function describePoolWait({ pool, sub_pipeline: part, task_id: id, calls = 1 }: WaitingFor): string {
  const task = id === undefined ? '' : ` (task ${part === undefined ? '' : `${part}/`}${id})`;
  return calls === 1
    ? `a place in pool "${pool}"${task}`
    : `places in pool "${pool}": ${formatCount(calls, 'call')}${task}`;
}

function describeRoundWait({ until = '', sub_pipeline: part, task_id: id }: WaitingFor): string {
  const task = id === undefined ? '' : ` of task ${part === undefined ? '' : `${part}/`}${id}`;
  return `the next round${task}, at ${until}`;
}

function describeGroupWait({ limit = 1, key, running = [] }: WaitingFor): string {
  const ofKey = key === undefined ? '' : ` of "${key}"`;
  const others = running.length === 0 ? '' : `: ${running.join(', ')}`;
  return `its turn (max_running: ${formatNumber(limit)}${ofKey})${others}`;
}

/** The path of the page of a run, on each server. */
export function pathOfRun(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

/** Returns the address of the page of a run. @param base without a slash at its end; undefined: the page has no address */
export function urlOfRun(base: string | undefined, runId: string): string | null {
  return base === undefined ? null : base + pathOfRun(runId);
}
