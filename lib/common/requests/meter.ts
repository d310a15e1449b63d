import { formatMebibytes } from '../text.js';

/** Measures a line, or the body of a response, while its bytes arrive. */
export interface Meter {
  /** Measures the next bytes. Returns what there is too much of, such as `5 MiB`. */
  add(bytes: Uint8Array): string | undefined;
  /** Begins with the next line. */
  reset(): void;
}

export class ByteMeter implements Meter {
  readonly #most: number;
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(bytes: Uint8Array): string | undefined {
    this.#bytes += bytes.byteLength;
    return this.#bytes > this.#most ? formatMebibytes(this.#most) : undefined;
  }

  reset(): void {
    this.#bytes = 0;
  }
}
