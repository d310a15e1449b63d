import type { EventEmitter } from 'node:events';
import { WavetrainError } from '../../common/errors.js';

/** The requests and streams of a key that end when it is removed from the keys file, or changed there (D37). */
export class Revocation {
  readonly #open = new Set<() => void>();
  #isRevoked = false;

  get isRevoked(): boolean {
    return this.#isRevoked;
  }

  /** Calls back when the key is revoked; at once if it was before. Returns a function that forgets the callback. */
  onRevoked(end: () => void): () => void {
    if (this.#isRevoked) end();
    else this.#open.add(end);
    return () => void this.#open.delete(end);
  }

  /** Calls back when the key is revoked while a connection is open. The connection must not be closed yet. */
  whileOpen(connection: Pick<EventEmitter, 'once'>, end: () => void): void {
    connection.once('close', this.onRevoked(end));
  }

  /** Waits for something. Rejects with `unauthorized` when the key is revoked before. */
  async during<T>(work: Promise<T>): Promise<T> {
    let forget = (): void => undefined;
    const revoked = new Promise<never>((_, reject) => {
      forget = this.onRevoked(() => reject(keyRevoked()));
    });
    try {
      return await Promise.race([work, revoked]);
    } finally {
      forget();
    }
  }

  revoke(): void {
    if (this.#isRevoked) return;
    this.#isRevoked = true;
    for (const end of this.#open) end();
    this.#open.clear();
  }
}

/** Says it in streams, too. */
export const KEY_REVOKED =
  'the API key was removed from the keys file of the server, or changed there; runs that it has started go on';

export function keyRevoked(): WavetrainError {
  return new WavetrainError('unauthorized', KEY_REVOKED);
}
