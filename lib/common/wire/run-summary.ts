import type { RunSummarySchema } from './run.js';
import type { Shape } from './shape.js';

/** A record without the fields that may be large, as listed: the end of a run, once it has settled. */
export interface RunSummary extends Shape<typeof RunSummarySchema> {}
