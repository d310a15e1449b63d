import type { Meter } from './meter.js';

const NEWLINE = 0x0a;

/**
 * Splits the bytes of a stream into lines. A line is copied once, when it is complete, so that a long one takes no more
 * than linear time; one that is longer than allowed is never kept.
 */
export class LineReader {
  readonly #meter: Meter;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (limit: string) => void;
  #chunks: Uint8Array[] = [];
  #isTooLong = false;

  /**
   * @param meter says which lines are too long
   * @param onTooLong called once for each of them, with what the meter says; the line is left out
   */
  constructor(meter: Meter, onLine: (line: string) => void, onTooLong: (limit: string) => void) {
    this.#meter = meter;
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
    if (this.#chunks.length > 0) this.#endLine();
  }

  #keep(part: Uint8Array): void {
    if (this.#isTooLong) return;
    const exceeded = this.#meter.add(part);
    if (exceeded === undefined) {
      this.#chunks.push(part);
      return;
    }
    this.#isTooLong = true;
    this.#chunks = [];
    this.#onTooLong(exceeded);
  }

  #endLine(): void {
    if (this.#isTooLong) {
      this.#isTooLong = false;
      this.#meter.reset();
    } else if (this.#chunks.length === 0) this.#onLine('');
    else {
      const line = Buffer.concat(this.#chunks).toString('utf8');
      this.#chunks = [];
      this.#meter.reset();
      this.#onLine(line.replace(/\r$/, ''));
    }
  }
}
