import { type Alias, type Document, isNode, Lexer, type Node, visit } from 'yaml';

/** Bounds on a definition, so that no text can hold the process (Limits). */

/** Longest text, in bytes of UTF-8. */
export const LONGEST_TEXT_BYTES = 16 * 2 ** 20;

/** Deepest nesting of maps and lists. */
export const DEEPEST_NESTING = 100;
export const TOO_DEEP = `the definition is nested deeper than ${DEEPEST_NESTING} levels`;

/** How often aliases may be expanded; YAML's usual bound against texts that grow when read. */
export const MOST_ALIASES = 100;

/** How much longer a text may be when what its aliases name is written out wherever they stand. */
export const MOST_UNFOLDED_BYTES = 2 ** 20;

/** The same for objects that hold one part in several places: who makes them in code shares as a matter of course. */
export const MOST_SHARED_BYTES = LONGEST_TEXT_BYTES;

/**
 * Is a text nested deeper than a definition may be? Asked before the YAML parser sees it, because that one recurses:
 * megabytes of brackets would keep it busy for many seconds before its stack ends. Linear in the length of the text.
 */
export function isNestedTooDeeply(text: string): boolean {
  return hasLineOfIndicators(text) || (mayNestTooDeeply(text) && flowDepthExceeds(text));
}

// `- - - -` and `? ? ? ?` open a level with every two characters.
const LINE_OF_INDICATORS = new RegExp(`^ *(?:[-?:] +){${DEEPEST_NESTING}}`, 'm');

function hasLineOfIndicators(text: string): boolean {
  return LINE_OF_INDICATORS.test(text);
}

/** Counts every bracket, also those in quotes and comments: if even that stays low, there is nothing to look at. */
function mayNestTooDeeply(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 0x5b || character === 0x7b) depth++;
    else if ((character === 0x5d || character === 0x7d) && depth > 0) depth--;
    if (depth > DEEPEST_NESTING) return true;
  }
  return false;
}

function flowDepthExceeds(text: string): boolean {
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > DEEPEST_NESTING) return true;
  }
  return false;
}

/**
 * By how much a value is larger, in characters, when each part that stands in several places is written out in each:
 * a small text whose aliases name large parts would be checked again and again. For values that do not hold themselves.
 */
function surplusOf(value: unknown): number {
  const sizes = new Map<object, number>();
  /** All of it, each part once. */
  let once = 0;
  const count = (own: number): number => {
    once += own;
    return own;
  };
  const sizeOf = (part: unknown): number => {
    if (typeof part !== 'object' || part === null)
      return count(typeof part === 'string' ? part.length + 2 : 8);
    const known = sizes.get(part);
    if (known !== undefined) return known;
    let size = count(2);
    for (const [key, member] of Object.entries(part)) size += count(key.length + 4) + sizeOf(member);
    sizes.set(part, size);
    return size;
  };
  return sizeOf(value) - once;
}

/** What is wrong with a value that grows by more than the limit; undefined when it does not. */
export function unfoldingProblem(value: unknown, limitBytes: number): string | undefined {
  if (surplusOf(value) <= limitBytes) return undefined;
  return `parts that stand in several places would make it longer by more than ${limitBytes / 2 ** 20} MiB`;
}

const known = new WeakMap<Document, ReadonlyMap<Alias, Node>>();

/** What an alias names: the nearest mark of its name before it. The document is walked once for all of them. */
export function namedBy(alias: Alias, document: Document): Node | undefined {
  let targets = known.get(document);
  if (targets === undefined) {
    targets = targetsIn(document);
    known.set(document, targets);
  }
  return targets.get(alias);
}

function targetsIn(document: Document): Map<Alias, Node> {
  const marked = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias(_key, alias) {
      const target = marked.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value(_key, node) {
      if (isNode(node) && node.anchor !== undefined) marked.set(node.anchor, node);
    },
  });
  return targets;
}
