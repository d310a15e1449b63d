import { StringDecoder } from 'node:string_decoder';
import type { LineMasker } from '../../definition/secrets/masker.js';

/** A longer line is given out in parts. */
const MAX_LINE_LENGTH = 4000;

/**
 * Divides the output of a program into lines, and masks the secrets in them, wherever the pieces in which the output arrives
 * begin and end. A line is given out as soon as no secret can reach from it into the next one.
 */
export class MaskedLines {
  readonly #decoder = new StringDecoder('utf8');
  readonly #masker: LineMasker;
  readonly #onLine: (line: string) => void;
  #pending = '';

  constructor(masker: LineMasker, onLine: (line: string) => void) {
    this.#masker = masker;
    this.#onLine = onLine;
  }

  write(bytes: Uint8Array): void {
    this.#pending += this.#decoder.write(bytes);
    for (let end = this.#findEnd(); end > 0; end = this.#findEnd()) this.#giveOut(end);
  }

  end(): void {
    this.#pending += this.#decoder.end();
    if (this.#pending !== '') this.#giveOut(this.#pending.length);
  }

  /** Takes back what was not given out: it may end within a secret. */
  takePending(): string {
    const pending = this.#pending;
    this.#pending = '';
    return pending;
  }

  /** Where the text can be cut so that no secret is divided; 0 when it cannot be yet. */
  #findEnd(): number {
    const { longest, longestWithBreak } = this.#masker;
    const { length } = this.#pending;
    const end = this.#pending.lastIndexOf('\n', length - 1 - longestWithBreak) + 1;
    if (end > 0 && !this.#dividesSecret(end)) return end;
    return length > MAX_LINE_LENGTH + longest ? this.#findCut() : 0;
  }

  /** Where a line without an end is cut: before a secret that would be divided, or, at the beginning of the line, behind it. */
  #findCut(): number {
    const [start, end] = this.#findSecret(MAX_LINE_LENGTH) ?? [MAX_LINE_LENGTH, MAX_LINE_LENGTH];
    return start > 0 ? start : end;
  }

  #dividesSecret(at: number): boolean {
    return this.#findSecret(at) !== undefined;
  }

  /** Finds the secret that stands on both sides of a place. */
  #findSecret(at: number): readonly [start: number, end: number] | undefined {
    const { longest } = this.#masker;
    if (longest === 0) return undefined;
    const first = Math.max(0, at - longest);
    for (const [start, end] of this.#masker.find(this.#pending.slice(first, at + longest))) {
      if (first + start >= at) return undefined;
      if (first + end > at) return [first + start, first + end];
    }
    return undefined;
  }

  #giveOut(end: number): void {
    const text = this.#masker.mask(this.#pending.slice(0, end));
    this.#pending = this.#pending.slice(end);
    const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
    for (const line of lines.split('\n')) this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
}
