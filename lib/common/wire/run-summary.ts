import type { RunSummarySchema } from './run.js';
import type { Shape } from './shape.js';

/** A record without the fields that may be large, as listed: the end of a run, once it has settled. */
export interface RunSummary extends Shape<typeof RunSummarySchema> {}

/** The path of the page of a run, on each server. */
export function pathOfRun(runId: string): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

/** Returns the address of the page of a run. @param base without a slash at its end; undefined: the page has no address */
export function urlOfRun(base: string | undefined, runId: string): string | null {
  return base === undefined ? null : base + pathOfRun(runId);
}
