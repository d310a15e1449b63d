const NEWLINE = 0x0a;

/**
 * Splits the bytes of a stream into lines. A line is copied once, when it is complete, so that a long one takes no more
 * than linear time; one that is longer than allowed is never kept.
 */
export class LineReader {
  readonly #most: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isTooLong = false;

  /**
   * @param most size of a line, in bytes
   * @param onTooLong called once for each longer line, which is left out
   */
  constructor(most: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#most = most;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Uint8Array): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      // Of empty lines there may be very many.
      if (end > start) this.#keep(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Call after the last chunk: passes on the last line, which may lack its end. */
  end(): void {
    if (this.#bytes > 0) this.#endLine();
  }

  #keep(part: Uint8Array): void {
    if (this.#isTooLong) return;
    this.#bytes += part.length;
    if (this.#bytes <= this.#most) {
      this.#chunks.push(part);
      return;
    }
    this.#isTooLong = true;
    this.#chunks = [];
    this.#onTooLong();
  }

  #endLine(): void {
    if (this.#bytes === 0) return this.#onLine('');
    const line = this.#isTooLong ? undefined : Buffer.concat(this.#chunks).toString('utf8');
    this.#chunks = [];
    this.#bytes = 0;
    this.#isTooLong = false;
    if (line !== undefined) this.#onLine(line.replace(/\r$/, ''));
  }
}
