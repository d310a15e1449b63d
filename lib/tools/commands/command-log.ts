import { ellipsize, formatMebibytes } from '../../common/text.js';
import type { LineMasker } from '../../definition/secrets/masker.js';
import { COMMAND_LIMITS } from './command.js';
import { MaskedLines } from './masked-lines.js';

/** Bytes of one stream that are kept once its output is not logged any more, for the last lines. */
const TAIL_BYTES = 64 * 2 ** 10;

/**
 * Logs the lines that a program writes to its two streams while it works, up to a limit, and knows its last lines at any
 * length of the output: after the limit, bytes are only counted, and the newest kept.
 */
export class CommandLog {
  readonly #masker: LineMasker;
  readonly #log: (message: string) => void;
  readonly #streams: Record<Stream, MaskedLines>;
  readonly #tails: Record<Stream, Tail> = { stdout: new Tail(), stderr: new Tail() };
  readonly #last: string[] = [];
  #lines = 0;
  #bytes = 0;
  #bytesNotLogged = 0;

  constructor(masker: LineMasker, log: (message: string) => void) {
    this.#masker = masker;
    this.#log = log;
    const create = (): MaskedLines => new MaskedLines(masker, (line) => this.#add(line));
    this.#streams = { stdout: create(), stderr: create() };
  }

  write(stream: Stream, bytes: Uint8Array): void {
    const { loggedBytes, loggedLines } = COMMAND_LIMITS;
    if (this.#bytes < loggedBytes && this.#lines < loggedLines) {
      const part = bytes.subarray(0, loggedBytes - this.#bytes);
      this.#bytes += part.length;
      this.#streams[stream].write(part);
      if (part.length === bytes.length) return;
      return this.#keepTail(stream, bytes.subarray(part.length));
    }
    this.#keepTail(stream, bytes);
  }

  /** Logs lines that have no end, and how much was not logged. Returns the last lines, in the order of their arrival. */
  end(): readonly string[] {
    const isCut = this.#bytesNotLogged > 0;
    for (const stream of STREAMS) this.#streams[stream].end();
    if (isCut) {
      this.#log(`… ${formatMebibytes(this.#bytesNotLogged)} more were not logged`);
      for (const stream of STREAMS)
        for (const line of this.#tails[stream].lines(this.#masker)) this.#keep(line);
    }
    return this.#last;
  }

  #keepTail(stream: Stream, bytes: Uint8Array): void {
    this.#bytesNotLogged += bytes.length;
    this.#tails[stream].write(bytes);
  }

  #add(line: string): void {
    this.#keep(line);
    if (++this.#lines <= COMMAND_LIMITS.loggedLines) this.#log(line);
    else this.#bytesNotLogged += line.length + 1;
  }

  #keep(line: string): void {
    if (line.trim() === '') return;
    this.#last.push(ellipsize(line, COMMAND_LIMITS.lastLineLength));
    if (this.#last.length > COMMAND_LIMITS.lastLines) this.#last.shift();
  }
}

type Stream = 'stdout' | 'stderr';

const STREAMS = ['stdout', 'stderr'] as const;

/** The newest bytes of a stream. */
class Tail {
  readonly #parts: Uint8Array[] = [];
  #size = 0;

  write(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#size += bytes.length;
    for (let first = this.#parts[0]; first !== undefined; first = this.#parts[0]) {
      if (this.#size - first.length < TAIL_BYTES) return;
      this.#size -= first.length;
      this.#parts.shift();
    }
  }

  /** The first line is left out: it may begin in the middle of a secret. */
  lines(masker: LineMasker): string[] {
    const lines: string[] = [];
    const masked = new MaskedLines(masker, (line) => lines.push(line));
    for (const part of this.#parts) masked.write(part);
    masked.end();
    return lines.slice(1).slice(-COMMAND_LIMITS.lastLines);
  }
}
