import { joinFirst } from '../../common/text.js';

/** Programs that a message lists. */
const MAX_LISTED = 10;

const NAME = /^[\w./+-]+$/;

/**
 * The programs that a person allows tasks to start (D88): none unless somebody has said so, those of a list, or all. A name
 * without folders stands for the program that PATH leads to; a path stands for itself alone.
 */
export class AllowedCommands {
  static readonly none = new AllowedCommands(new Set());
  static readonly all = new AllowedCommands(undefined);
  /** Undefined when all are allowed. */
  readonly #names: ReadonlySet<string> | undefined;

  private constructor(names: ReadonlySet<string> | undefined) {
    this.#names = names;
  }

  /**
   * Reads names that are separated by commas; `*` stands for all.
   *
   * @throws Error with the end of a sentence that names what was read
   */
  static parse(text: string): AllowedCommands {
    const names = text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    if (names.includes('*')) return AllowedCommands.all;
    const wrong = names.find((name) => !NAME.test(name));
    if (wrong !== undefined)
      throw new Error(`must list names of programs, as in git,python3: ${JSON.stringify(wrong)} is none`);
    return new AllowedCommands(new Set(names));
  }

  /** @param program as a task names it: a name, or a path */
  allows(program: string): boolean {
    return this.#names === undefined || this.#names.has(program);
  }

  get isEmpty(): boolean {
    return this.#names?.size === 0;
  }

  /** As in `git, python3`, `all programs` or `no programs`. */
  describe(): string {
    if (this.#names === undefined) return 'all programs';
    return this.#names.size === 0 ? 'no programs' : joinFirst([...this.#names], MAX_LISTED);
  }
}
