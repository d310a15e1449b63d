import type { Writable } from 'node:stream';
import { inNextTurn } from './turns.js';

/** While so many characters wait to be read, further lines are left out. */
export const MAX_WAITING_OUTPUT = 8 * 2 ** 20;

/**
 * Writes lines to a stream that may be read slowly, or by nobody, as standard output in a pipe may be: the stream keeps in memory
 * all that waits. Leaves out lines and counts them rather than exceed a limit.
 */
export class LineOutput {
  readonly #stream: Writable;
  readonly #onMissing: (count: number) => void;
  #missing = 0;

  /** @param onMissing receives the number of lines that were left out, once the others have been read */
  constructor(stream: Writable, onMissing: (count: number) => void) {
    this.#stream = stream;
    this.#onMissing = onMissing;
  }

  /** Writes a text of `lines` lines, or counts them as missing. */
  write(text: string, lines = 1): void {
    // The limit is far above the mark of the stream: what is left out is always followed by its event `drain`.
    if (this.#stream.writableLength < MAX_WAITING_OUTPUT) {
      this.#stream.write(text);
      return;
    }
    if (this.#missing === 0) this.#stream.once('drain', () => this.reportMissing());
    this.#missing += lines;
  }

  /** Reports the missing lines that were not reported yet. */
  reportMissing(): void {
    const count = this.#missing;
    this.#missing = 0;
    if (count > 0) this.#onMissing(count);
  }
}

/** Joins the lines of one turn of the event loop: writing takes longer than creating what is written. */
export class LineBuffer {
  readonly #output: LineOutput;
  #lines = '';
  #count = 0;

  constructor(output: LineOutput) {
    this.#output = output;
  }

  write(line: string): void {
    if (this.#lines === '') inNextTurn(() => this.flush());
    this.#lines += line;
    this.#count++;
  }

  flush(): void {
    if (this.#lines === '') return;
    const [lines, count] = [this.#lines, this.#count];
    this.#lines = '';
    this.#count = 0;
    this.#output.write(lines, count);
  }
}
