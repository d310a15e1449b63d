import type { RunTrigger, StartedBy } from '../common/wire/started-by.js';
import type { LiveEvent } from '../execution/events/event.js';
import type { LocalExecutorOptions } from '../execution/executor-options.js';
import type { AdmissionLimits } from './queue/admission.js';
import type { IdempotencyKey, IdempotencyLimits, Reservation } from './idempotency.js';
import type { OpenInspection } from './inspection/inspection.js';
import type { RunRecord } from './record.js';
import type { EvictionReason, RetentionLimits } from './retention.js';
import type { ArchiveLimits, PrunedRun } from './store/run-archive.js';
import type { RunStore } from './store/run-store.js';
import type { RunEventListener, RunIdentity, SettledRunListener } from './run-entry.js';

/** A run that was accepted, and who has asked for it. */
export interface RequestedSubmission extends Pick<RunIdentity, 'run_id' | 'tenant_id' | 'pipeline_id'> {
  readonly started_by: StartedBy;
  readonly rerun_of: string | null;
  /** The IP address that the request came from; undefined without a request. */
  readonly address: string | undefined;
}

/** Receives every accepted run, in the turn of the event loop in which the store receives it. Must not throw. */
export interface SubmissionObserver {
  readonly onSubmitted: (run: RequestedSubmission) => void;
  /** Receives the names of the secrets that the run reads: all of its definition, and later those of nested runs. */
  readonly onSecrets: (run: RequestedSubmission, names: readonly string[]) => void;
}

/** How a registry keeps runs. */
export interface RegistryOptions extends LocalExecutorOptions {
  /** Keeps runs for another process (D68). Default: none; they end with this one. */
  readonly store?: RunStore | undefined;
  /**
   * Names the version and the catalog that check definitions: a run of the store that the same ones have checked is not
   * checked again. Default: every run of the store is.
   */
  readonly checkedBy?: (() => string) | undefined;
  /** Default: any number of runs at once. */
  readonly admission?: AdmissionLimits;
  /**
   * Which settled runs are in memory. Default: every one, until it is forgotten. With a store that has an archive, the others
   * are read from there.
   */
  readonly retention?: RetentionLimits;
  /** Which settled runs the archive of the store keeps (D74). Default: every one, until it is removed. */
  readonly archiveLimits?: ArchiveLimits;
  /** Receives the runs that were deleted because of these limits. */
  readonly onPruned?: (runs: readonly PrunedRun[]) => void;
  /** Receives why a settled run has left the memory; without a store, the run is gone. */
  readonly onEvicted?: (reason: EvictionReason) => void;
  /** How long, and how many, idempotency keys outlive their runs. Default: a day, 100,000 keys. */
  readonly idempotency?: IdempotencyLimits;
  /** Events kept per run, for event streams and long polling. Default 0: none. */
  readonly eventBuffer?: number;
  /** Receives every event of every run. An error that it throws is a warning, and ends no run. */
  readonly onEvent?: RunEventListener;
  readonly submissions?: SubmissionObserver | undefined;
  /** Receives every run when nothing of it is at work any more. */
  readonly onSettled?: SettledRunListener | undefined;
  /**
   * Milliseconds after which a run that waits at a breakpoint is cancelled (D42): it holds a place among the running ones,
   * and its memory. Default: never.
   */
  readonly pauseTimeoutMs?: number | undefined;
}

/** How one run is submitted. No option changes what the run does, and an option that is left out costs it nothing. */
export interface SubmissionOptions {
  /** Receives every event of the run, from the first on. */
  readonly onEvent?: ((event: LiveEvent) => void) | undefined;
  /** A key that was used before gives the run of the first submission (D36). */
  readonly idempotency?: IdempotencyKey | undefined;
  /**
   * Records what its actors do from the first event on (D35), and receives the entries before the run can start. The
   * receiver closes them when it needs no more of them; they are kept with the run.
   */
  readonly onInspection?: ((inspection: OpenInspection, record: RunRecord) => void) | undefined;
  /** Receives what `settled` returns before the run can start, so that the run cannot be evicted before. */
  readonly onAccepted?: ((settled: Promise<RunRecord>) => void) | undefined;
  /** The schedule or webhook that starts the run, for its record (D28). None for a request, a person or a rerun. */
  readonly trigger?: RunTrigger | undefined;
  /** The caller, or the part of Wavetrain, that starts the run, for its record (D75). Default: the library. */
  readonly startedBy?: StartedBy | undefined;
  /** The IP address that the request came from, for the audit (D95). None without a request. */
  readonly address?: string | undefined;
  /** The definition is one of a folder, as it is there: its `max_running` holds (D81). */
  readonly isOfFolder?: boolean | undefined;
  /** Of `submitOnce`, which passes it to the submission. */
  readonly reservation?: Reservation | undefined;
}
