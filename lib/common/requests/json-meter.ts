import { formatMebibytes, formatNumber } from '../text.js';
import type { Meter } from './meter.js';

const [NEWLINE, RETURN] = [0x0a, 0x0d];
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, OPEN_OBJECT, COLON, COMMA] = [0x5b, 0x7b, 0x3a, 0x2c];

/** The size of a message, which is parsed in one turn of the event loop. */
export interface JsonSize {
  readonly messageBytes: number;
  readonly messageParts: number;
  readonly messageValues: number;
}

/**
 * Measures the JSON of messages while their bytes arrive: parsing one holds the event loop, and a list or a member of an
 * object takes a hundred times as long as a letter, and a number in a list some thirty times.
 */
export class JsonMeter implements Meter {
  readonly #most: JsonSize;
  readonly #areEvents: boolean;
  #bytes = 0;
  #parts = 0;
  #values = 0;
  #isInText = false;
  #isEscaped = false;
  #isEmptyLine = true;

  /** @param areEvents whether an empty line ends a message, as in a stream of server-sent events */
  constructor(most: JsonSize, areEvents = false) {
    this.#most = most;
    this.#areEvents = areEvents;
  }

  /** Measures the next bytes. Returns what the message has too much of, such as `5 MiB`. */
  add(bytes: Uint8Array): string | undefined {
    const { messageBytes, messageParts, messageValues } = this.#most;
    for (const byte of bytes) {
      this.#bytes++;
      this.#measure(byte);
      if (this.#bytes > messageBytes) return formatMebibytes(messageBytes);
      if (this.#parts > messageParts) return `${formatNumber(messageParts)} lists, objects and members`;
      if (this.#values > messageValues) return `${formatNumber(messageValues)} values`;
    }
    return undefined;
  }

  /** Begins with the next message. */
  reset(): void {
    this.#bytes = 0;
    this.#parts = 0;
    this.#values = 0;
    this.#isInText = false;
    this.#isEscaped = false;
  }

  #measure(byte: number): void {
    if (byte === NEWLINE || byte === RETURN) {
      // No text goes on in the next line, and no quote of a comment hides what follows.
      this.#isInText = false;
      this.#isEscaped = false;
      if (byte === RETURN) return;
      if (this.#areEvents && this.#isEmptyLine) this.reset();
      this.#isEmptyLine = true;
      return;
    }
    this.#isEmptyLine = false;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === QUOTE) this.#isInText = !this.#isInText;
    else if (this.#isInText) this.#isEscaped = byte === BACKSLASH;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT || byte === COLON) this.#parts++;
    else if (byte === COMMA) this.#values++;
  }
}
