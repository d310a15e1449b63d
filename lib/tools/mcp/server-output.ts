/** Lines that are kept for a message, and their length. */
const MAX_LINES = 3;
const MAX_LINE_LENGTH = 200;

/** After its error, Node.js writes its version, and npm where its log is. */
const NAMES_ERROR = /error|cannot|fatal|not found|no such|usage/i;

/** The other output of a program that should speak MCP, and its end: shown when the program cannot be used. */
export class ServerOutput {
  readonly #mask: (text: string) => string;
  #lastLine = '';
  #errorLines: string[] = [];
  #strayLines: string[] = [];
  #strayCount = 0;
  #ending: string | undefined;
  #tooMuch: string | undefined;

  /** @param mask hides the keys of the operator (D61) */
  constructor(mask: (text: string) => string) {
    this.#mask = mask;
  }

  /** Takes a line of standard error. Returns it masked. */
  addStderr(line: string): string {
    const masked = this.#mask(line);
    const shown = masked.trim().slice(0, MAX_LINE_LENGTH);
    this.#lastLine = shown || this.#lastLine;
    if (NAMES_ERROR.test(shown) && this.#errorLines.length < MAX_LINES) this.#errorLines.push(shown);
    return masked;
  }

  /** Takes a line of standard output that is no message of the protocol. */
  addStray(line: string): void {
    if (line.trim() === '') return;
    this.#strayCount++;
    // Cut before it is masked, since it can be long, and again after it: a cut key would not be recognized.
    if (this.#strayLines.length < MAX_LINES)
      this.#strayLines.push(this.#mask(line.slice(0, 20 * MAX_LINE_LENGTH)).trim());
  }

  /** @param how such as `exit status 1` */
  end(how: string): void {
    this.#ending = how;
  }

  /** @param limit such as `5 MiB in one message` */
  stop(limit: string): void {
    this.#tooMuch = limit;
  }

  /**
   * `(it ended with exit status 1; its last words: …)`; empty when there is nothing to say.
   *
   * @param isStarting whether it has not spoken MCP yet; later, lines that are not MCP explain nothing
   */
  describe(isStarting: boolean): string {
    const shown = this.#strayLines.map((line) => JSON.stringify(line.slice(0, MAX_LINE_LENGTH)));
    if (this.#strayCount > shown.length) shown.push('…');
    const parts = [
      ...this.#describeEnding(),
      ...this.#describeStderr(),
      ...(!isStarting || shown.length === 0 ? [] : [`it wrote what is not MCP: ${shown.join(', ')}`]),
    ];
    return parts.length === 0 ? '' : ` (${parts.join('; ')})`;
  }

  #describeEnding(): string[] {
    if (this.#tooMuch !== undefined)
      return [`Wavetrain has ended it: it had sent more than ${this.#tooMuch}`];
    return this.#ending === undefined ? [] : [`it ended with ${this.#ending}`];
  }

  #describeStderr(): string[] {
    if (this.#lastLine === '') return [];
    const isLast = this.#errorLines.length === 0 || this.#errorLines.at(-1) === this.#lastLine;
    return [isLast ? `its last words: ${this.#lastLine}` : `it said: ${this.#errorLines.join(' | ')}`];
  }
}
