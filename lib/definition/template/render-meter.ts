import { MAX_GOAL_LENGTH, MAX_OUTPUT_LENGTH } from '../../common/limits.js';
import { formatMebibytes, formatNumber } from '../../common/text.js';

/** Maximum memory of what is rendered for one invocation, in bytes (Limits). */
const MAX_MADE_BYTES = MAX_OUTPUT_LENGTH;

/** Maximum memory of the values that one invocation reads from texts as JSON (D12): 64 MiB. */
const MAX_PARSED_BYTES = 64 * 2 ** 20;

/**
 * Maximum length of a text that is read as JSON, and of all such texts of one invocation (D12): parsing can neither be
 * interrupted nor done in slices, and of some texts 1 MiB takes 50 ms.
 */
const MAX_JSON_LENGTH = 2 ** 20;
const MAX_JSON_LENGTH_TOGETHER = 4 * 2 ** 20;

/** Maximum length of the lists and objects, as JSON, that become part of the texts of one invocation, for that reason. */
const MAX_JSON_TEXT = 2 ** 20;

interface MeterLimits {
  readonly reader: string;
  readonly jsonLengthTogether: number;
  readonly jsonText: number;
  readonly tooMuchJsonText: string;
}

const TASK_LIMITS: MeterLimits = {
  reader: 'one task',
  jsonLengthTogether: MAX_JSON_LENGTH_TOGETHER,
  jsonText: MAX_JSON_TEXT,
  tooMuchJsonText:
    `the lists and objects in the texts of one task are together over ${formatMebibytes(MAX_JSON_TEXT)} as JSON: ` +
    'pass them as values of their own',
};

/** A goal is rendered at once when its run is submitted, and is short: it gets less than a task. */
const GOAL_LIMITS: MeterLimits = {
  reader: 'a goal',
  jsonLengthTogether: MAX_JSON_LENGTH,
  // The measure of a value may be above the length of its JSON.
  jsonText: 2 * MAX_GOAL_LENGTH,
  tooMuchJsonText:
    `the lists and objects in the goal are together over ${formatNumber(MAX_GOAL_LENGTH)} characters as JSON: ` +
    'use a shorter param in it',
};

/**
 * Measures what rendering makes: the texts, lists and objects that no value of the scope contains. Values that are
 * passed on as they are take no memory. A fan-out has a meter for all of its items.
 */
export class RenderMeter {
  readonly #limits: MeterLimits;
  #made = 0;
  #parsed = 0;
  /** Length of the texts that were read as JSON. */
  #jsonLength = 0;
  /** Length that the lists and objects that become part of texts may still have as JSON. */
  jsonTextLeft: number;
  /** Why a text was not read as JSON. */
  #refusal: string | undefined;
  /** Bytes that all items of a fan-out use, whichever item needed the value first. */
  #sharedMade = 0;
  #sharedParsed = 0;

  constructor(limits = TASK_LIMITS) {
    this.#limits = limits;
    this.jsonTextLeft = limits.jsonText;
  }

  static forGoal(): RenderMeter {
    return new RenderMeter(GOAL_LIMITS);
  }

  get tooMuchJsonText(): string {
    return this.#limits.tooMuchJsonText;
  }

  /** Begins an invocation. */
  start(): void {
    this.#made = 0;
    this.#parsed = 0;
    this.#jsonLength = 0;
    this.jsonTextLeft = this.#limits.jsonText;
    this.#refusal = undefined;
  }

  /** Bytes that only this invocation uses. */
  get ownBytes(): number {
    return this.#made + this.#parsed;
  }

  /** Bytes that all items of the fan-out use. */
  get sharedBytes(): number {
    return this.#sharedMade + this.#sharedParsed;
  }

  add(bytes: number): void {
    this.#made += bytes;
  }

  /** @param bytes of a value that was read from a text as JSON */
  addParsed(bytes: number): void {
    this.#parsed += bytes;
  }

  /**
   * Call before a text is read as JSON. Returns false when it is too long; `excess` then says so, unless reading it is
   * optional.
   */
  mayParse(length: number, isOptional = false): boolean {
    const { reader, jsonLengthTogether: together } = this.#limits;
    const isTooLong = length > MAX_JSON_LENGTH || this.#jsonLength + length > together;
    if (isTooLong && isOptional) return false;
    this.#jsonLength += length;
    if (length > MAX_JSON_LENGTH) {
      this.#refusal = `a text over ${formatMebibytes(MAX_JSON_LENGTH)} is not read as JSON: return the value itself instead of its text`;
    } else if (this.#jsonLength > together) {
      this.#refusal = `the texts that ${reader} reads as JSON are together over ${formatMebibytes(together)}`;
    }
    return this.#refusal === undefined;
  }

  /** Calls `make`, which never throws, and counts what it makes as shared by all items. */
  share<T>(make: () => T): T {
    const [made, parsed] = [this.#made, this.#parsed];
    const value = make();
    this.#sharedMade += this.#made - made;
    this.#sharedParsed += this.#parsed - parsed;
    this.#made = made;
    this.#parsed = parsed;
    return value;
  }

  /** Says which limit is exceeded, for an error message; undefined when none is. */
  get excess(): string | undefined {
    if (this.#refusal !== undefined) return this.#refusal;
    if (this.#made + this.#sharedMade > MAX_MADE_BYTES) {
      return `the rendered values are together over ${formatMebibytes(MAX_MADE_BYTES)}`;
    }
    if (this.#parsed + this.#sharedParsed > MAX_PARSED_BYTES) {
      return `the values read from texts as JSON are together over ${formatMebibytes(MAX_PARSED_BYTES)}`;
    }
    return undefined;
  }
}
