import { WavetrainError } from '../common/errors.js';

/** Identifies a repeated submission (D36). */
export interface IdempotencyKey {
  /** Chosen by the caller. */
  readonly key: string;
  /** Of the request: the same key with another fingerprint is a conflict. */
  readonly fingerprint: string;
}

/** Maps the idempotency keys of each tenant to the runs submitted with them, for as long as the runs are kept. */
export class IdempotencyStore {
  readonly #runs = new Map<string, { readonly fingerprint: string; readonly runId: string }>();
  readonly #mapKeys = new Map<string, string>();

  /**
   * The id of the run submitted with this key; undefined when the key is new.
   *
   * @throws WavetrainError `idempotency_conflict`
   */
  find(tenantId: string, { key, fingerprint }: IdempotencyKey): string | undefined {
    const earlier = this.#runs.get(toMapKey(tenantId, key));
    if (earlier === undefined || earlier.fingerprint === fingerprint) return earlier?.runId;
    throw new WavetrainError(
      'idempotency_conflict',
      `the Idempotency-Key "${key}" was used with another request, for run ${earlier.runId}`,
    );
  }

  add(tenantId: string, { key, fingerprint }: IdempotencyKey, runId: string): void {
    const mapKey = toMapKey(tenantId, key);
    this.#runs.set(mapKey, { fingerprint, runId });
    this.#mapKeys.set(runId, mapKey);
  }

  delete(runId: string): void {
    const mapKey = this.#mapKeys.get(runId);
    if (mapKey === undefined) return;
    this.#mapKeys.delete(runId);
    if (this.#runs.get(mapKey)?.runId === runId) this.#runs.delete(mapKey);
  }
}

/** Unique for each pair, whatever characters the tenant and the key contain. */
function toMapKey(tenantId: string, key: string): string {
  return JSON.stringify([tenantId, key]);
}
