import { WavetrainError } from '../../common/errors.js';

/** Why a server accepts no runs; the first one that holds is shown. */
export const UNREADY_REASONS = ['shutting_down', 'store_failed', 'restoring'] as const;

type UnreadyReason = (typeof UNREADY_REASONS)[number];

/** Says whether a server accepts runs, or why it does not. */
export class ServerReadiness {
  readonly #reasons = new Set<UnreadyReason>();

  /** Undefined when the server accepts runs. */
  get reason(): UnreadyReason | undefined {
    return UNREADY_REASONS.find((reason) => this.#reasons.has(reason));
  }

  get isShuttingDown(): boolean {
    return this.#reasons.has('shutting_down');
  }

  begin(reason: UnreadyReason): void {
    this.#reasons.add(reason);
  }

  end(reason: UnreadyReason): void {
    this.#reasons.delete(reason);
  }

  /**
   * Call before a request that concerns runs: those of the store are not all there yet (D68).
   *
   * @throws WavetrainError `not_ready`
   */
  assertRestored(): void {
    if (!this.#reasons.has('restoring')) return;
    throw new WavetrainError(
      'not_ready',
      'the server is restoring its runs: try again when GET /ready responds with 200',
      { fault: 'service' },
    );
  }
}
