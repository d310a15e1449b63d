import type { RunStatus } from '../../machines/types.js';
import type { Clock } from '../common/clock.js';
import { WavetrainError } from '../common/errors.js';
import { LinkedMap } from '../common/memory/linked-map.js';
import { findLargest, type Limit, SharedLimit } from '../common/memory/shared-limit.js';
import type { AcceptedRun } from './record.js';

/** The run of a submission with an idempotency key (D36). */
export interface OnceAcceptedRun extends AcceptedRun {
  /** True when an earlier submission with the same key has created the run. */
  readonly isReplayed: boolean;
  /** False when the run is no longer kept; `status` is then the last one that it had. */
  readonly isKept: boolean;
}

/** Identifies a repeated submission (D36). */
export interface IdempotencyKey {
  /** Chosen by the caller. */
  readonly key: string;
  /** Of the request: the same key with another fingerprint is a conflict. */
  readonly fingerprint: string;
}

/** Limits on the keys of runs that are no longer kept (D36). */
export interface IdempotencyLimits {
  /** How long a key outlives its run, in milliseconds. */
  readonly ttlMs: number;
  /** Number of keys, each of about 500 bytes. */
  readonly keys: Limit;
}

const DEFAULT_LIMITS: IdempotencyLimits = { ttlMs: 86_400_000, keys: { total: 100_000 } };

export interface ForgottenKey extends IdempotencyKey {
  readonly tenantId: string;
  readonly runId: string;
  readonly lastStatus: RunStatus;
  /** Milliseconds since 1970, UTC. */
  readonly expiresAt: number;
}

/** Keeps the keys of forgotten runs for another process (D68). */
export interface KeyStore {
  addKey(key: ForgottenKey): void;
  removeKey(tenantId: string, key: string): void;
}

/** A key, taken from the moment at which its submission arrives. */
export class Reservation {
  readonly tenantId: string;
  readonly mapKey: string;
  readonly key: IdempotencyKey;
  /** Resolves with the run id; rejects with the error of the submission. */
  submission = NOT_SUBMITTED;
  runId: string | undefined;
  /** The status in which the run was forgotten; undefined while it is kept. */
  lastStatus: RunStatus | undefined;
  expiresAt = Number.POSITIVE_INFINITY;

  constructor(tenantId: string, key: IdempotencyKey) {
    this.tenantId = tenantId;
    this.mapKey = toMapKey(tenantId, key.key);
    this.key = key;
  }
}

const NOT_SUBMITTED: Promise<string> = new Promise(() => undefined);

/** Creates a run, assigns it to the reservation, and resolves with its id. */
type Submit = (reservation: Reservation) => Promise<string>;

export interface SubmittedRun {
  readonly runId: string;
  /** True when an earlier submission has created the run. */
  readonly isReplayed: boolean;
  /** The status in which the run was forgotten; undefined while it is kept. */
  readonly lastStatus: RunStatus | undefined;
}

/**
 * Makes submissions with the same key create one run (D36). A key belongs to its run for as long as the run is kept,
 * and for a time after that, so that it does not matter who else needs the memory of settled runs.
 */
export class IdempotencyStore {
  readonly #reservations = new Map<string, Reservation>();
  readonly #byRun = new Map<string, Reservation>();
  /** The keys of forgotten runs by tenant, in the order in which the runs were forgotten. */
  readonly #forgotten = new Map<string, LinkedMap<string, Reservation>>();
  readonly #limit: SharedLimit;
  readonly #ttlMs: number;
  readonly #clock: Clock;
  readonly #store: KeyStore | undefined;

  /** @param store default: keys end with the process */
  constructor(clock: Clock, { ttlMs, keys }: IdempotencyLimits = DEFAULT_LIMITS, store?: KeyStore) {
    this.#clock = clock;
    this.#store = store;
    this.#ttlMs = ttlMs;
    this.#limit = new SharedLimit(keys);
  }

  get size(): number {
    return this.#reservations.size;
  }

  /**
   * Calls `submit` when the key is new. Otherwise resolves with the run of the first submission, or rejects with its
   * error, even when it is still being checked. A rejected submission does not take the key. Rejects with
   * `idempotency_conflict` when the key was used with another request.
   */
  async once(tenantId: string, key: IdempotencyKey, submit: Submit): Promise<SubmittedRun> {
    const earlier = this.#find(tenantId, key);
    const reservation = earlier ?? this.#reserve(tenantId, key, submit);
    const runId = await reservation.submission;
    return { runId, isReplayed: earlier !== undefined, lastStatus: reservation.lastStatus };
  }

  /** Gives a key back to a run that another process has accepted. */
  restore(tenantId: string, key: IdempotencyKey, runId: string): void {
    this.assign(
      this.#reserve(tenantId, key, () => Promise.resolve(runId)),
      runId,
    );
  }

  /** Takes over the keys of runs that another process has forgotten. */
  restoreForgotten(keys: Iterable<ForgottenKey>): void {
    const now = this.#clock.now();
    for (const { tenantId, key, fingerprint, runId, lastStatus, expiresAt } of keys) {
      const remainingMs = Math.min(expiresAt - now, this.#ttlMs);
      if (remainingMs <= 0 || !this.#makeRoom(tenantId)) {
        this.#store?.removeKey(tenantId, key);
        continue;
      }
      const reservation = this.#reserve(tenantId, { key, fingerprint }, () => Promise.resolve(runId));
      reservation.runId = runId;
      this.#keepForgotten(reservation, lastStatus, remainingMs);
    }
  }

  /** Call as soon as the run exists. */
  assign(reservation: Reservation, runId: string): void {
    reservation.runId = runId;
    this.#byRun.set(runId, reservation);
  }

  /** The run of the first submission with a key; undefined when there is none yet. */
  runOf(tenantId: string, { key }: IdempotencyKey): string | undefined {
    return this.#reservations.get(toMapKey(tenantId, key))?.runId;
  }

  /** Returns true when the run of a key is known here, or is being created. */
  has(tenantId: string, key: string): boolean {
    return this.#reservations.has(toMapKey(tenantId, key));
  }

  /** Drops the key of a run from memory: the archive of the store finds it. */
  unload(runId: string): void {
    const reservation = this.#byRun.get(runId);
    if (reservation === undefined) return;
    this.#byRun.delete(runId);
    this.#reservations.delete(reservation.mapKey);
  }

  /** Frees the key of a run that was not accepted, or cannot be rebuilt: its submission may be repeated. */
  releaseKey(runId: string): void {
    const reservation = this.#byRun.get(runId);
    if (reservation !== undefined) this.#delete(reservation);
  }

  forgetRun(runId: string, lastStatus: RunStatus): void {
    const reservation = this.#byRun.get(runId);
    if (reservation === undefined) return;
    this.#byRun.delete(runId);
    const { tenantId } = reservation;
    if (!this.#makeRoom(tenantId)) return this.#delete(reservation);
    this.#keepForgotten(reservation, lastStatus, this.#ttlMs);
    const expiresAt = this.#clock.now() + this.#ttlMs;
    this.#store?.addKey({ tenantId, ...reservation.key, runId, lastStatus, expiresAt });
  }

  #keepForgotten(reservation: Reservation, lastStatus: RunStatus, remainingMs: number): void {
    const { tenantId } = reservation;
    reservation.lastStatus = lastStatus;
    reservation.expiresAt = this.#clock.monotonicNow() + remainingMs;
    const forgotten = this.#forgotten.get(tenantId) ?? new LinkedMap<string, Reservation>();
    forgotten.add(reservation.mapKey, reservation);
    this.#forgotten.set(tenantId, forgotten);
  }

  /** @throws WavetrainError `idempotency_conflict` */
  #find(tenantId: string, { key, fingerprint }: IdempotencyKey): Reservation | undefined {
    const reservation = this.#reservations.get(toMapKey(tenantId, key));
    if (reservation === undefined) return undefined;
    if (this.#isExpired(reservation)) {
      this.#delete(reservation);
      return undefined;
    }
    if (reservation.key.fingerprint === fingerprint) return reservation;
    const run = reservation.runId === undefined ? '' : `, for run ${reservation.runId}`;
    throw new WavetrainError(
      'idempotency_conflict',
      `the Idempotency-Key "${key}" was used with another request${run}: use a new key for a new request`,
    );
  }

  /** Takes the key before the submission is checked, so that a second one finds it. */
  #reserve(tenantId: string, key: IdempotencyKey, submit: Submit): Reservation {
    const reservation = new Reservation(tenantId, key);
    this.#reservations.set(reservation.mapKey, reservation);
    reservation.submission = submit(reservation);
    reservation.submission.catch(() => this.#delete(reservation));
    return reservation;
  }

  /** Takes room for one more key, from the tenant that has most if necessary. */
  #makeRoom(tenantId: string): boolean {
    if (this.#limit.tryAcquire(tenantId)) return true;
    this.#deleteExpired();
    while (!this.#limit.tryAcquire(tenantId)) {
      const oldest = findLargest(this.#forgotten.values(), ({ size }) => size)?.first;
      if (oldest === undefined) return false;
      this.#delete(oldest);
    }
    return true;
  }

  #deleteExpired(): void {
    for (const entries of this.#forgotten.values()) {
      for (const reservation of entries) {
        if (!this.#isExpired(reservation)) break;
        this.#delete(reservation);
      }
    }
  }

  #isExpired({ expiresAt }: Reservation): boolean {
    return this.#clock.monotonicNow() >= expiresAt;
  }

  #delete(reservation: Reservation): void {
    const { tenantId, mapKey, runId } = reservation;
    // A later run of the store may have the same key.
    if (this.#reservations.get(mapKey) === reservation) this.#reservations.delete(mapKey);
    if (runId !== undefined) this.#byRun.delete(runId);
    const forgotten = this.#forgotten.get(tenantId);
    if (!forgotten?.delete(mapKey)) return;
    this.#store?.removeKey(tenantId, reservation.key.key);
    if (forgotten.size === 0) this.#forgotten.delete(tenantId);
    this.#limit.release(tenantId);
  }
}

/** Unique for each pair, whatever characters the tenant and the key contain. */
function toMapKey(tenantId: string, key: string): string {
  return JSON.stringify([tenantId, key]);
}
