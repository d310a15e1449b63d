import { inNextTurn } from '../../common/scheduling/turns.js';
import { WavetrainError } from '../../common/errors.js';
import type { RunStore } from './run-store.js';

type GuardedStore = Pick<RunStore, 'isOptional' | 'onFailure' | 'place'>;

/** Refuses what would be promised when the store has failed, and could not keep it any more (D68). */
export class StoreGuard {
  readonly #store: GuardedStore | undefined;
  readonly #refusal: string;
  #hasFailed = false;
  /** The rejections of the calls that wait for the store: called when it fails. */
  readonly #waiting = new Set<(error: WavetrainError) => void>();

  /**
   * @param store undefined when runs end with their process
   * @param refusal the beginning of the message, before `be kept in …`
   */
  constructor(store: GuardedStore | undefined, refusal = 'nothing can') {
    this.#store = store;
    this.#refusal = refusal;
    store?.onFailure(() => {
      if (store.isOptional) return;
      this.#hasFailed = true;
      for (const reject of this.#waiting) reject(this.#notReady());
    });
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** @throws WavetrainError `not_ready` */
  assertWorks(): void {
    if (this.#hasFailed) throw this.#notReady();
  }

  /** Resolves as the promise does. Rejects with `not_ready` when the store fails before: it may never be settled. */
  async unlessFails(promise: Promise<void> | undefined): Promise<void> {
    if (this.#store === undefined || promise === undefined) return promise;
    await new Promise<void>((resolve, reject) => {
      this.#waiting.add(reject);
      void promise.then(resolve).finally(() => this.#waiting.delete(reject));
      // A promise about facts that were kept before the store failed resolves first.
      if (this.#hasFailed) inNextTurn(() => reject(this.#notReady()));
    });
  }

  #notReady(): WavetrainError {
    const message = `${this.#refusal} be kept in ${this.#store?.place} any more: the log of the server says why; start it again`;
    return new WavetrainError('not_ready', message, { fault: 'service' });
  }
}
