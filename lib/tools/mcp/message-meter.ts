import { MCP_LIMITS } from '../../common/limits.js';
import type { SkippedLine } from '../../common/requests/line-reader.js';
import type { Meter } from '../../common/requests/meter.js';

const [NEWLINE, RETURN] = [0x0a, 0x0d];
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, OPEN_OBJECT, COLON, COMMA] = [0x5b, 0x7b, 0x3a, 0x2c];

/**
 * Measures the JSON of messages while their bytes arrive: parsing one holds the event loop, and a list or a member of an
 * object takes a hundred times as long as a letter, and a number in a list some thirty times.
 */
export class MessageMeter implements Meter {
  readonly #most: number;
  readonly #areEvents: boolean;
  #bytes = 0;
  /** Lists, objects and members. */
  #parts = 0;
  /** Commas between values. */
  #values = 0;
  #isInText = false;
  #isEscaped = false;
  #isEmptyLine = true;

  /**
   * @param most size of a message, in bytes
   * @param areEvents whether an empty line ends a message, as in a stream of server-sent events
   */
  constructor(most: number, areEvents = false) {
    this.#most = most;
    this.#areEvents = areEvents;
  }

  /** Measures the next bytes. Returns what the message has too much of, such as `5 MiB`. */
  add(bytes: Uint8Array): string | undefined {
    for (const byte of bytes) {
      this.#bytes++;
      this.#measure(byte);
      if (this.#bytes > this.#most) return `${this.#most / 2 ** 20} MiB`;
      if (this.#parts > MCP_LIMITS.messageParts)
        return `${MCP_LIMITS.messageParts.toLocaleString('en')} lists, objects and members`;
      if (this.#values > MCP_LIMITS.messageValues)
        return `${MCP_LIMITS.messageValues.toLocaleString('en')} values`;
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

/** As servers in most languages write a response: `{"jsonrpc": "2.0", "id": 5, "result": …`. */
const ID_FIRST =
  /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"\s*:/;

/** As those of the SDK in TypeScript do: `{"result": …, "jsonrpc": "2.0", "id": 5}`. */
const RESULT_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:/;

/** One brace ends the message, so that the number before it is no part of the result, which a stranger may have written. */
const ID_LAST = /,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/;

/**
 * Finds which request a message answers that is too large to be parsed, by its start and its end. Returns undefined when
 * it is no response, or not recognized.
 */
export function findAnsweredRequest({ start, end }: SkippedLine): number | undefined {
  const [, first] = ID_FIRST.exec(start) ?? [];
  const [, last] = RESULT_FIRST.test(start) ? (ID_LAST.exec(end) ?? []) : [];
  const id = first ?? last;
  return id === undefined ? undefined : Number(id);
}
