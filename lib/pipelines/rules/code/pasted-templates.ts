import type { JsonObject } from '../../../common/json/json.js';
import type { BoundPart, ChangeHint } from '../../../definition/problems/hint.js';
import type { Path } from '../../../definition/problems/problem.js';

/** A template in a text that is code of another language, where a value could change what the code does. */
export interface PastedTemplate {
  readonly at: number;
  /** With its braces. */
  readonly written: string;
  /** Between the braces. */
  readonly source: string;
}

const TEMPLATE = /\{\{((?:[^{}]|\{(?!\{)|\}(?!\}))*)\}\}/g;

export function listPasted(text: string): readonly PastedTemplate[] {
  return Array.from(text.matchAll(TEMPLATE), ({ 0: written, 1: source = '', index }) => ({
    at: index,
    written,
    source,
  }));
}

/** Replaces each template by a text that depends on its position in the list. */
export function replacePasted(text: string, replace: (index: number) => string): string {
  let count = 0;
  return text.replaceAll(TEMPLATE, () => replace(count++));
}

/** Words that can stand in code as the name of a param or a variable. */
const NAME = /^[A-Za-z_]\w*$/;

/** The names that templates get as params or variables: equal templates share one. */
export class TemplateNames {
  readonly #taken: Set<string>;
  readonly #named = new Map<string, string>();
  readonly #added = new Map<string, string>();
  /** By word: the last number that a name has got. */
  readonly #numbers = new Map<string, number>();
  readonly #toName: (word: string) => string;

  /**
   * @param given names that there are, with their values: a template among the values keeps its name
   * @param toName writes a word as a name of the other language
   */
  constructor(given: JsonObject, toName = (word: string): string => word) {
    this.#taken = new Set(Object.keys(given));
    this.#toName = toName;
    for (const [name, value] of Object.entries(given))
      if (typeof value === 'string' && NAME.test(name)) this.#named.set(value, name);
  }

  /** Names a template like what it reads: `id` for `params.id`, and `id_2` where `id` has another value. */
  nameOf({ source, written }: PastedTemplate): string {
    const known = this.#named.get(written);
    if (known !== undefined) return known;
    const words = (source.split('??', 1)[0] ?? '').match(/[A-Za-z_]\w*/g) ?? [];
    const name = this.#findFree(this.#toName(words.findLast((word) => word !== 'output') ?? 'value'));
    this.#taken.add(name);
    this.#named.set(written, name);
    this.#added.set(name, written);
    return name;
  }

  #findFree(word: string): string {
    for (let number = this.#numbers.get(word) ?? 1; ; number++) {
      const name = number === 1 ? word : `${word}_${number}`;
      if (this.#taken.has(name)) continue;
      this.#numbers.set(word, number);
      return name;
    }
  }

  /** Returns the hint that names take the place of all templates of a text, and templates become their values. */
  hint(text: string, parts: readonly BoundPart[], path: Path, paramsPath: Path): ChangeHint {
    const params = Object.fromEntries(this.#added);
    return { text, change: { kind: 'bind', path, parts, paramsPath, params } };
  }
}
