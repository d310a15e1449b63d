import { Lexer } from 'yaml';

/** Limits on a definition, so that no text takes long (Limits). */

/** Longest text, in bytes of UTF-8. */
export const MAX_DEFINITION_BYTES = 16 * 2 ** 20;

/** Deepest nesting of maps and lists. */
export const MAX_NESTING = 100;
export const TOO_DEEP_MESSAGE = `the definition is nested deeper than ${MAX_NESTING} levels`;

/** How often aliases may be expanded: the usual YAML limit against texts that grow when they are parsed. */
export const MAX_ALIASES = 100;

/** How much longer a text may become when its aliases are expanded. */
export const MAX_EXPANSION_BYTES = 2 ** 20;

/** The same limit for objects. It is higher, because code often uses one object in several places. */
export const MAX_SHARED_BYTES = MAX_DEFINITION_BYTES;

/** The most lines that a fix changes: each is an edit in the answer. */
export const MAX_FIXED_LINES = 2000;

/** The limits of a server that parses one text. */
export const PARSING_LIMITS = {
  /** Texts up to this length, in characters, are parsed at once ({@link isParsedAtOnce}): the worst takes about 20 ms. */
  inlineLength: 8 * 1024,
  /** Longer ones are parsed in a process, for this time; the worst text of 256 KiB takes about 2 s on a busy machine. */
  timeoutMs: 10_000,
  /** Maximum memory of that process, in MiB. */
  memoryMiB: 256,
} as const;

/** Returns true if a text is short enough to parse at once. One with a tab may be parsed again without it, for a fix. */
export function isParsedAtOnce(text: string): boolean {
  return text.length * (text.includes('\t') ? 2 : 1) <= PARSING_LIMITS.inlineLength;
}

/**
 * Returns true if a text is nested deeper than a definition may be. Runs before the YAML parser, because that recurses:
 * megabytes of brackets would keep it busy for many seconds before its stack overflows. Linear in the length of the
 * text.
 */
export function isTooDeep(text: string): boolean {
  const hasTooMany = SOME_INDICATORS.test(text) && LINE_OF_INDICATORS.test(text);
  return hasTooMany || (mayBeTooDeep(text) && flowDepthExceedsLimit(text));
}

/** The long pattern is compiled for the few texts with such a line. */
const SOME_INDICATORS = /^[ \t]*(?:[-?:][ \t]+){4}/m;

// `- - - -` and `? ? ? ?` open a level with every two characters; so do tabs, although they are an error.
const LINE_OF_INDICATORS = new RegExp(`^[ \\t]*(?:[-?:][ \\t]+){${MAX_NESTING}}`, 'm');

/** Counts every bracket, including those in quotes and comments: a fast check that few texts fail. */
function mayBeTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i);
    if (character === 0x5b || character === 0x7b) depth++;
    else if ((character === 0x5d || character === 0x7d) && depth > 0) depth--;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}

function flowDepthExceedsLimit(text: string): boolean {
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth--;
    if (depth > MAX_NESTING) return true;
  }
  return false;
}
