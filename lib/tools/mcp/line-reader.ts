import { MessageMeter } from './message-meter.js';

const NEWLINE = 0x0a;

/**
 * Splits the bytes of a stream into lines. A line is copied once, when it is complete, so that a long one takes no more
 * than linear time; one that is longer than allowed is never kept.
 */
export class LineReader {
  readonly #meter: MessageMeter;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (limit: string) => void;
  #chunks: Buffer[] = [];
  #isTooLong = false;

  /**
   * @param most size of a line, in bytes
   * @param onTooLong called once for each line with more than that, or than a message may have, which is left out
   */
  constructor(most: number, onLine: (line: string) => void, onTooLong: (limit: string) => void) {
    this.#meter = new MessageMeter(most);
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  /** Takes what is left as the last line. */
  end(): void {
    if (this.#chunks.length > 0) this.#endLine();
  }

  #keep(part: Buffer): void {
    if (this.#isTooLong) return;
    const exceeded = this.#meter.add(part);
    if (exceeded === undefined) {
      if (part.length > 0) this.#chunks.push(part);
      return;
    }
    this.#isTooLong = true;
    this.#chunks = [];
    this.#onTooLong(exceeded);
  }

  #endLine(): void {
    const line = this.#isTooLong ? undefined : Buffer.concat(this.#chunks).toString('utf8');
    this.#chunks = [];
    this.#meter.reset();
    this.#isTooLong = false;
    if (line !== undefined) this.#onLine(line.replace(/\r$/, ''));
  }
}
