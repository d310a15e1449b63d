import type { LiveEvent } from '../execution/events/event.js';
import type { LocalExecutorOptions } from '../execution/local-executor.js';
import type { IdempotencyKey } from './idempotency.js';

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

/** How many runs may be there, and for how long (D25, D26). */
export interface AdmissionLimits {
  /** Runs at work at once. */
  readonly maxRunning: number;
  /** Runs that wait for their turn. */
  readonly maxQueued: number;
  /** What they may take in memory, all together, in bytes. Default: any amount. */
  readonly bytes?: number;
}

export interface RetentionLimits {
  /** How many settled runs are kept. */
  readonly keep: number;
  /** How long a settled run is kept, in milliseconds. */
  readonly ttlMs: number;
  /** What all settled runs together may take in memory, in bytes. Default: any amount. */
  readonly bytes?: number;
  /** How many events all settled runs together keep. */
  readonly events: number;
}

const UNLIMITED = Number.POSITIVE_INFINITY;

/** Whoever comes begins at once. */
export const ANY_NUMBER: AdmissionLimits = { maxRunning: UNLIMITED, maxQueued: 0 };

/** Every settled run is kept until it is forgotten. */
export const KEEP_ALL: RetentionLimits = { keep: UNLIMITED, ttlMs: UNLIMITED, events: UNLIMITED };
