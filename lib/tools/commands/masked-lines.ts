import { StringDecoder } from 'node:string_decoder';
import type { LineMasker } from '../../definition/secrets/masker.js';

/** A longer line is given out in parts. */
const MAX_LINE_LENGTH = 4000;

/** So many places are tried for a cut that divides no secret. */
const MAX_TRIES = 8;

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

  /** Where the text can be cut so that no secret is divided; 0 when it cannot be yet. */
  #findEnd(): number {
    const { longest, longestWithBreak } = this.#masker;
    const { length } = this.#pending;
    const end = this.#pending.lastIndexOf('\n', length - 1 - longestWithBreak) + 1;
    if (end > 0 && !this.#dividesSecret(end)) return end;
    return length > MAX_LINE_LENGTH + longest ? this.#findCut() : 0;
  }

  /** Where a line without an end is cut. */
  #findCut(): number {
    const step = Math.max(1, this.#masker.longest);
    const places = Array.from({ length: MAX_TRIES }, (_, tried) => MAX_LINE_LENGTH - tried * step);
    const found = places.find((place) => place > 0 && !this.#dividesSecret(place));
    return found ?? MAX_LINE_LENGTH;
  }

  /** True when a secret stands on both sides of a place. */
  #dividesSecret(at: number): boolean {
    const { mask, longest } = this.#masker;
    if (longest === 0) return false;
    const before = this.#pending.slice(Math.max(0, at - longest), at);
    const after = this.#pending.slice(at, at + longest);
    return mask(before + after) !== mask(before) + mask(after);
  }

  #giveOut(end: number): void {
    const text = this.#masker.mask(this.#pending.slice(0, end));
    this.#pending = this.#pending.slice(end);
    const lines = text.endsWith('\n') ? text.slice(0, -1) : text;
    for (const line of lines.split('\n')) this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  }
}
