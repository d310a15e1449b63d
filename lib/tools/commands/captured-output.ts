import { formatMebibytes } from '../../common/text.js';

/** The first bytes that a program writes, up to a limit, as the result of a command (D88). */
export class CapturedOutput {
  readonly #limit: number;
  readonly #hold: (bytes: number) => void;
  readonly #parts: Uint8Array[] = [];
  #kept = 0;
  #written = 0;

  /** @param hold takes memory of the run for what is kept; may throw */
  constructor(limit: number, hold: (bytes: number) => void) {
    this.#limit = limit;
    this.#hold = hold;
  }

  write(bytes: Uint8Array): void {
    this.#written += bytes.length;
    const part = bytes.subarray(0, this.#limit - this.#kept);
    if (part.length === 0) return;
    this.#hold(part.length);
    this.#kept += part.length;
    this.#parts.push(part);
  }

  /** How much was left out, in words; undefined when everything is there. */
  get cut(): string | undefined {
    const left = this.#written - this.#kept;
    return left === 0 ? undefined : formatMebibytes(left);
  }

  /** As UTF-8; other bytes become replacement characters. */
  get text(): string {
    return Buffer.concat(this.#parts).toString('utf8');
  }
}
