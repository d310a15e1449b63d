import { WavetrainError } from '../common/errors.js';

/** What makes a repeated submission the same one (D36). */
export interface IdempotencyKey {
  /** Chosen by the caller. */
  readonly key: string;
  /** Of the request: the same key with another fingerprint is a conflict. */
  readonly fingerprint: string;
}

/** Runs by the keys they were submitted with, tenant by tenant, for as long as the runs are kept. */
export class Submissions {
  readonly #runs = new Map<string, { readonly fingerprint: string; readonly runId: string }>();
  readonly #names = new Map<string, string>();

  /**
   * The run that this key was submitted with before; undefined when it is new.
   *
   * @throws WavetrainError `idempotency_conflict`
   */
  find(tenantId: string, { key, fingerprint }: IdempotencyKey): string | undefined {
    const earlier = this.#runs.get(nameOf(tenantId, key));
    if (earlier === undefined || earlier.fingerprint === fingerprint) return earlier?.runId;
    throw new WavetrainError(
      'idempotency_conflict',
      `the Idempotency-Key "${key}" was used with another request, for run ${earlier.runId}`,
    );
  }

  note(tenantId: string, { key, fingerprint }: IdempotencyKey, runId: string): void {
    const name = nameOf(tenantId, key);
    this.#runs.set(name, { fingerprint, runId });
    this.#names.set(runId, name);
  }

  forget(runId: string): void {
    const name = this.#names.get(runId);
    if (name === undefined) return;
    this.#names.delete(runId);
    if (this.#runs.get(name)?.runId === runId) this.#runs.delete(name);
  }
}

/** Two pairs never share a name, whatever they hold. */
function nameOf(tenantId: string, key: string): string {
  return JSON.stringify([tenantId, key]);
}
