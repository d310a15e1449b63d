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
