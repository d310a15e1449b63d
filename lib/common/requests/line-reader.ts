import type { Meter } from './meter.js';

const NEWLINE = 0x0a;

/** Bytes of the start and of the end of a line that is left out. */
const SHOWN_BYTES = 256;

export interface SkippedLine {
  readonly start: string;
  readonly end: string;
}

/**
 * Splits the bytes of a stream into lines. A line is copied once, when it is complete, so that a long one takes no more
 * than linear time; one that is longer than allowed is never kept.
 */
export class LineReader {
  readonly #meter: Meter;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (limit: string) => void;
  readonly #onSkipped: ((line: SkippedLine) => void) | undefined;
  #chunks: Uint8Array[] = [];
  /** The start and the end of a line that is too long. */
  #skipped: { readonly start: Buffer; end: Buffer } | undefined;

  /**
   * @param meter says which lines are too long
   * @param onTooLong called once for each of them, with what the meter says; the line is left out
   * @param onSkipped called when such a line has ended
   */
  constructor(
    meter: Meter,
    onLine: (line: string) => void,
    onTooLong: (limit: string) => void,
    onSkipped?: (line: SkippedLine) => void,
  ) {
    this.#meter = meter;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
    this.#onSkipped = onSkipped;
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
    if (this.#skipped !== undefined) {
      this.#skipped.end = lastBytes([this.#skipped.end, part]);
      return;
    }
    const exceeded = this.#meter.add(part);
    this.#chunks.push(part);
    if (exceeded === undefined) return;
    this.#skipped = { start: firstBytes(this.#chunks), end: lastBytes(this.#chunks) };
    this.#chunks = [];
    this.#onTooLong(exceeded);
  }

  #endLine(): void {
    if (this.#skipped !== undefined) {
      const { start, end } = this.#skipped;
      this.#skipped = undefined;
      this.#meter.reset();
      this.#onSkipped?.({ start: start.toString('utf8'), end: end.toString('utf8') });
    } else if (this.#chunks.length === 0) this.#onLine('');
    else {
      const line = Buffer.concat(this.#chunks).toString('utf8');
      this.#chunks = [];
      this.#meter.reset();
      this.#onLine(line.replace(/\r$/, ''));
    }
  }
}

function firstBytes(chunks: readonly Uint8Array[]): Buffer {
  const starts = chunks.slice(0, SHOWN_BYTES).map((chunk) => chunk.subarray(0, SHOWN_BYTES));
  return Buffer.concat(starts).subarray(0, SHOWN_BYTES);
}

function lastBytes(chunks: readonly Uint8Array[]): Buffer {
  const ends = chunks.slice(-SHOWN_BYTES).map((chunk) => chunk.subarray(-SHOWN_BYTES));
  return Buffer.concat(ends).subarray(-SHOWN_BYTES);
}
