/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FUNCTIONS =
  'sum count max min average string substring substringBefore substringAfter lowercase uppercase length trim pad match contains replace split join formatNumber formatBase formatInteger parseInteger number floor ceil round abs sqrt power random boolean not map zip filter single reduce sift keys lookup append exists spread merge reverse each error assert type sort shuffle distinct base64encode base64decode encodeUrlComponent encodeUrl decodeUrlComponent decodeUrl eval toMillis fromMillis clone now millis'.split(
    ' ',
  );

/** The fields of data, and those of functions, frames, syntax trees and matches inside JSONata. */
const FIELDS =
  'a b list name _jsonata_function _jsonata_lambda implementation signature validate definition environment body arguments input apply thunk token position bind lookup base options RegexEngine createSequence timestamp depth global type value steps expressions lhs rhs pattern update next groups then constructor prototype __proto__ push length sequence keepSingleton outerWrapper tupleStream cons toJSON'.split(
    ' ',
  );

const VARIABLES = ['x', 'y', 'z', 'f', 'g', 'clone', 'sum', 'string'];

const OPERATORS = ['+', '-', '*', '/', '%', '=', '!=', '<', '>', '&', 'and', 'or', 'in', '..', '~>'];

/**
 * Makes random JSONata expressions, above all those that might change what evaluations share: functions as data,
 * functions as targets of ~> |…|…|, functions that are given too few arguments, or arguments of other types.
 */
export class RandomExpressions {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  next(): string {
    const statements = Array.from({ length: 1 + this.#below(4) }, () => this.#statement());
    return `(${statements.join('; ')})`;
  }

  #statement(): string {
    return this.#below(2) === 0 ? `$${this.#pick(VARIABLES)} := ${this.#expression(4)}` : this.#expression(4);
  }

  #expression(depth: number): string {
    if (depth === 0) return this.#leaf();
    const part = (): string => this.#expression(depth - 1 - this.#below(2 % depth));
    const forms: (() => string)[] = [
      () => this.#leaf(),
      () => `${part()} ~> |${part()}|${this.#object(depth)}${this.#deletions()}|`,
      () => `({"a": 1} ~> |${this.#function(depth - 1)}|${this.#object(depth)}${this.#deletions()}|)`,
      () => `${this.#function(depth - 1)}(${this.#list(part)})`,
      () => `${part()} ~> ${this.#function(depth - 1)}(${this.#list(part)})`,
      () => `${part()} ~> ${this.#function(depth - 1)}`,
      () => `(${part()}).${this.#field()}`,
      () => `(${part()})[${part()}]`,
      () => `(${part()})${this.#object(depth)}`,
      () => `(${part()}).*`,
      () => `(${part()}).**`,
      () => `(${part()})^(${part()})`,
      () => `(${part()} ${this.#pick(OPERATORS)} ${part()})`,
      () => `(${part()} ? ${part()} : ${part()})`,
      () => `[${this.#list(part)}]`,
      () => this.#object(depth),
      () => `(${part()}@$x.${this.#field()}#$y)`,
      () => `($${this.#pick(VARIABLES)} := ${part()}; ${part()})`,
    ];
    return this.#pick(forms)();
  }

  #function(depth: number): string {
    const named = `$${this.#pick(FUNCTIONS)}`;
    if (depth <= 0) return named;
    const part = (): string => this.#expression(depth - 1);
    const forms: (() => string)[] = [
      () => named,
      () => named,
      () => `$${this.#pick(VARIABLES)}`,
      () => `${named}(${this.#pick(['?', '?, ?', '?, 1', '"a", ?', '?, ?, ?'])})`,
      () => `(${named} ~> $${this.#pick(FUNCTIONS)})`,
      () => `function($x, $y) { ${part()} }`,
      () => `function($x)<${this.#pick(['x:x', 'o:o', 'a<n>:n', 'f:f', 's-:s'])}> { ${part()} }`,
      () => `(|${this.#function(0)}|${this.#object(1)}|)`,
    ];
    return this.#pick(forms)();
  }

  #object(depth: number): string {
    const pairs = Array.from({ length: this.#below(3) }, () => {
      const value =
        this.#below(2) === 0 ? this.#function(depth - 1) : this.#expression(Math.max(0, depth - 2));
      return `"${this.#pick(FIELDS)}": ${value}`;
    });
    return `{${pairs.join()}}`;
  }

  #deletions(): string {
    return this.#below(3) === 0 ? `, ["${this.#pick(FIELDS)}", "${this.#pick(FIELDS)}"]` : '';
  }

  #leaf(): string {
    const leaves: (() => string)[] = [
      () => String(this.#below(5)),
      () => `"${this.#pick(['a', 'b', 'ab', 'list', ''])}"`,
      () => `$${this.#pick(FUNCTIONS)}`,
      () => `$${this.#pick(VARIABLES)}`,
      () => this.#field(),
      () => this.#pick(['$', '$$', 'null', 'true', 'false', '/a(b)?/', '*', '**', '%', '[1..3]', '{}', '[]']),
    ];
    return this.#pick(leaves)();
  }

  #field(): string {
    return `\`${this.#pick(FIELDS)}\``;
  }

  #list(part: () => string): string {
    return Array.from({ length: this.#below(4) }, part).join(', ');
  }

  #pick<T>(from: readonly T[]): T {
    return from[this.#below(from.length)] as T;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}
