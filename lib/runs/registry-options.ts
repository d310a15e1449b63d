import type { LiveEvent } from '../execution/events/event.js';
import type { LocalExecutorOptions } from '../execution/local-executor.js';
import type { IdempotencyKey } from './idempotency.js';

export interface RegistryOptions extends LocalExecutorOptions {
  /** Default: any number of runs at once. */
  readonly admission?: AdmissionLimits;
  /** Default: keeps every settled run until it is forgotten. */
  readonly retention?: RetentionLimits;
  /** Events kept per run, for event streams and long polling. Default 0: none. */
  readonly eventBuffer?: number;
  /** Receives every event of every run. */
  readonly onEvent?: (event: LiveEvent, run: RunIdentity) => void;
}

/** The run that an event belongs to. */
export interface RunIdentity {
  readonly run_id: string;
  readonly tenant_id: string;
  readonly pipeline_id: string;
}

export interface SubmissionOptions {
  /** Receives every event of the run, from the first on. */
  readonly onEvent?: ((event: LiveEvent) => void) | undefined;
  readonly idempotency?: IdempotencyKey | undefined;
}

/** Limits on queued and running runs (D25). */
export interface AdmissionLimits {
  readonly maxRunning: number;
  readonly maxQueued: number;
  /** Memory of all queued and running runs together. Default: unlimited. */
  readonly maxBytes?: number;
}

/** Limits on settled runs (D26). */
export interface RetentionLimits {
  readonly maxRuns: number;
  /** How long a settled run is kept, in milliseconds. */
  readonly ttlMs: number;
  /** Memory of all settled runs together. Default: unlimited. */
  readonly maxBytes?: number;
  /** Events of all settled runs together. */
  readonly maxEvents: number;
}

const UNLIMITED = Number.POSITIVE_INFINITY;

/** Starts every run at once. */
export const UNLIMITED_ADMISSION: AdmissionLimits = { maxRunning: UNLIMITED, maxQueued: 0 };

/** Keeps every settled run until it is forgotten. */
export const UNLIMITED_RETENTION: RetentionLimits = {
  maxRuns: UNLIMITED,
  ttlMs: UNLIMITED,
  maxEvents: UNLIMITED,
};
