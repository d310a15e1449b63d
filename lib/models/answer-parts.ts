import { inNextTurn } from '../common/scheduling/turns.js';
import { ToolError } from '../common/errors.js';
import { MODEL_LIMITS } from '../common/limits.js';

/**
 * The text of an answer, which arrives in parts: single words, at worst single letters. Bounds its length and the number
 * of parts. Passes the first part in each turn of the event loop on at once, and joins those that follow in the same turn.
 */
export class AnswerParts {
  readonly #model: string;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #texts: string[] = [];
  #length = 0;
  #parts = 0;
  /** Texts of this turn that are passed on when it is over. */
  #held: string[] = [];
  #isHolding = false;
  /** The error that `onText` has thrown when it received texts that were held. */
  #failure: { readonly error: unknown } | undefined;

  /** @param model for messages */
  constructor(model: string, onText: ((text: string) => void) | undefined) {
    this.#model = model;
    this.#onText = onText;
  }

  /** Counts a part of the answer, whether or not it has text. Throws a ToolError when there are too many. */
  count(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (++this.#parts > MODEL_LIMITS.answerParts)
      throw this.#tooLong(`in more than ${MODEL_LIMITS.answerParts.toLocaleString('en')} parts`);
  }

  /** Adds text. Throws a ToolError when there is too much, and what `onText` throws. */
  add(text: string): void {
    this.#length += text.length;
    if (this.#length > MODEL_LIMITS.answerLength)
      throw this.#tooLong(`with more than ${MODEL_LIMITS.answerLength / 2 ** 20} MiB of text`);
    this.#texts.push(text);
    if (this.#onText === undefined) return;
    if (this.#isHolding) return void this.#held.push(text);
    this.#isHolding = true;
    inNextTurn(() => this.#endTurn());
    this.#onText(text);
  }

  /** Passes on what is held, and returns the whole text. Throws what `onText` throws. */
  end(): string {
    this.flush();
    return this.#texts.join('');
  }

  /** Passes on what is held. Throws what `onText` throws. */
  flush(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#passOn();
  }

  drop(): void {
    this.#held = [];
  }

  #endTurn(): void {
    this.#isHolding = false;
    try {
      this.#passOn();
    } catch (error) {
      this.#failure = { error };
    }
  }

  #passOn(): void {
    if (this.#held.length === 0) return;
    const text = this.#held.join('');
    this.#held = [];
    this.#onText?.(text);
  }

  #tooLong(how: string): ToolError {
    return ToolError.nonRetryable(`${this.#model} answered ${how}: set max_tokens`);
  }
}
