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
  /** Of the streams that are not logged any more. */
  readonly #tails: Partial<Record<Stream, Tail>> = {};
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
    const room = this.#lines < loggedLines ? loggedBytes - this.#bytes : 0;
    const part = this.#tails[stream] === undefined ? bytes.subarray(0, room) : NO_BYTES;
    if (part.length > 0) {
      this.#bytes += part.length;
      this.#streams[stream].write(part);
    }
    if (part.length < bytes.length) this.#keepTail(stream, bytes.subarray(part.length));
  }

  /** Logs lines that have no end, and how much was not logged. Returns the last lines, in the order of their arrival. */
  end(): readonly string[] {
    for (const stream of STREAMS) this.#streams[stream].end();
    if (this.#bytesNotLogged > 0) {
      this.#log(`… ${formatMebibytes(this.#bytesNotLogged)} more were not logged`);
      for (const stream of STREAMS)
        for (const line of this.#tails[stream]?.lines(this.#masker) ?? []) this.#keep(line);
    }
    return this.#last;
  }

  /** Keeps bytes that are not logged, and what was not logged yet of those before: a secret may begin there. */
  #keepTail(stream: Stream, bytes: Uint8Array): void {
    let tail = this.#tails[stream];
    let rest = bytes;
    if (tail === undefined) {
      const masked = this.#streams[stream];
      const ofCharacter = bytes.findIndex((byte) => (byte & 0xc0) !== 0x80);
      const count = ofCharacter < 0 ? bytes.length : ofCharacter;
      masked.write(bytes.subarray(0, count));
      rest = bytes.subarray(count);
      tail = new Tail();
      this.#tails[stream] = tail;
      const pending = Buffer.from(masked.takePending());
      this.#bytesNotLogged += pending.length;
      tail.write(pending);
    }
    this.#bytesNotLogged += rest.length;
    tail.write(rest);
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

const NO_BYTES = new Uint8Array();

const MAX_CHARACTER_BYTES = 4;

/** The newest bytes of a stream. */
class Tail {
  readonly #parts: Uint8Array[] = [];
  #size = 0;
  #isCut = false;

  write(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.#size += bytes.length;
    for (let first = this.#parts[0]; first !== undefined; first = this.#parts[0]) {
      if (this.#size - first.length < TAIL_BYTES) return;
      this.#size -= first.length;
      this.#parts.shift();
      this.#isCut = true;
    }
  }

  /** Leaves out the first line, and what may be the rest of a secret with line breaks, where the beginning is forgotten. */
  lines(masker: LineMasker): string[] {
    const text = Buffer.concat(this.#parts);
    const begin = this.#isCut ? text.indexOf('\n', masker.longestWithBreak * MAX_CHARACTER_BYTES) + 1 : 0;
    if (this.#isCut && begin === 0) return [];
    const lines: string[] = [];
    const masked = new MaskedLines(masker, (line) => lines.push(line));
    masked.write(text.subarray(begin));
    masked.end();
    return lines.slice(-COMMAND_LIMITS.lastLines);
  }
}
