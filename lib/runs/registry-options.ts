import type { LiveEvent } from '../execution/events/event.js';
import type { LocalExecutorOptions } from '../execution/local-executor.js';
import type { IdempotencyKey } from './idempotency.js';
import type { AdmissionLimits, RetentionLimits } from './limits.js';

/** Whose run an event belongs to. */
export interface RunFacts {
  readonly run_id: string;
  readonly tenant_id: string;
  readonly pipeline_id: string;
}

export interface RegistryOptions extends LocalExecutorOptions {
  /** Default: any number at once. */
  readonly admission?: AdmissionLimits;
  /** Default: every settled run is kept until it is forgotten. */
  readonly retention?: RetentionLimits;
  /** Events kept of each run, for streams and long polling. Default 0: none. */
  readonly eventBuffer?: number;
  /** Hears every event of every run. */
  readonly onEvent?: (event: LiveEvent, run: RunFacts) => void;
}

export interface Submission {
  /** Hears every event of the run, from the first on. */
  readonly onEvent?: ((event: LiveEvent) => void) | undefined;
  readonly idempotency?: IdempotencyKey | undefined;
}
