import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { errorMessage } from '../errors.js';
import { formatNumber } from '../text.js';

// re2js is loaded with the first pattern: most runs need none, and a run must start fast.
const require = createRequire(import.meta.url);

/** Tests a text. Returns undefined when the steps do not suffice. */
type PatternTest = (text: string) => boolean | undefined;

export type BoundedPattern =
  | { readonly ok: true; readonly test: PatternTest }
  | { readonly ok: false; readonly problem: string };

/** Counts steps that are about to be made. Returns false when they are too many. */
interface PatternBudget {
  readonly take: (steps: number) => boolean;
  readonly takeForPattern: (steps: number) => boolean;
}

/** Most instructions of one pattern, as estimated: `^[a-z]{1,1000}$` has about 4,000. */
const MAX_INSTRUCTIONS = 5000;

/** Compiling takes longer than matching. */
const STEPS_PER_INSTRUCTION = 100;

/** For a class such as `\p{L}`, which is looked up in large tables. */
const STEPS_PER_UNICODE_CLASS = 10_000;

/** Fewer instructions than this cannot need more than 2 to the power of them states. */
const FEW_INSTRUCTIONS = 20;

function describeLongPattern(size: number): string {
  const [needed, most] = [formatNumber(size), formatNumber(MAX_INSTRUCTIONS)];
  return `makes about ${needed} instructions, and a pattern may make ${most}: shorten it, or repeat less in it`;
}

/**
 * Compiles a pattern from a caller, and charges its work: a match takes linear time in the length of the text, but up
 * to as many steps for each character as the pattern has instructions, and `{1000}` makes thousands.
 */
export function compilePattern(pattern: string, budget: PatternBudget): BoundedPattern {
  const size = estimateInstructions(pattern);
  if (size > MAX_INSTRUCTIONS) return { ok: false, problem: describeLongPattern(size) };
  const classes = pattern.match(UNICODE_CLASS)?.length ?? 0;
  const steps = (size + FEW_INSTRUCTIONS) * STEPS_PER_INSTRUCTION + classes * STEPS_PER_UNICODE_CLASS;
  if (!budget.takeForPattern(steps)) return { ok: true, test: () => undefined };
  return compileTest(pattern, (regex, text) => budget.take(costOf(regex, text.length)));
}

/** Compiles a pattern of somebody who is trusted: of any length, and without charging its work. */
export function compileTrustedPattern(pattern: string): BoundedPattern {
  return compileTest(pattern, () => true);
}

function compileTest(pattern: string, mayTest: (regex: RE2JS, text: string) => boolean): BoundedPattern {
  try {
    const regex = linearRegex(pattern);
    return { ok: true, test: (text) => (mayTest(regex, text) ? regex.test(text) : undefined) };
  } catch (error) {
    const reason = errorMessage(error);
    return { ok: false, problem: `is not a pattern that can be matched in linear time: ${reason}` };
  }
}

/**
 * Compiles a pattern from a caller. Matching takes linear time in the length of the text, whatever the pattern, where
 * built-in regular expressions may take exponential time. Look-around and back-references are not supported.
 *
 * @throws Error that names the unsupported or invalid part of the pattern
 */
export function linearRegex(pattern: string): RE2JS {
  const { RE2JS }: typeof import('re2js') = require('re2js');
  return RE2JS.compile(RE2JS.translateRegExp(pattern));
}

/**
 * Returns the steps of one match: one for each character, and for each state that the matcher makes one per
 * instruction. It makes a state for each character at most. A pattern that can be matched in one pass needs none.
 */
function costOf(regex: RE2JS, length: number): number {
  if (regex.re2().onepass !== null) return 1 + length;
  const size = regex.programSize();
  return 1 + length + size * Math.min(length, size < FEW_INSTRUCTIONS ? 2 ** size : length);
}

const UNICODE_CLASS = /\\p/gi;

const COUNTS = /\{(\d+)(?:,(\d*))?\}/y;

/** Estimates the instructions of a pattern from above, without compiling it: each repetition repeats them. */
function estimateInstructions(pattern: string): number {
  const outer: number[] = [];
  let total = 0;
  /** Of the last character, class or group, which a count would repeat. */
  let last = 0;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i];
    COUNTS.lastIndex = i;
    const counts = character === '{' ? COUNTS.exec(pattern) : null;
    if (counts !== null) {
      const times = Math.max(1, Number(counts[1]), Number(counts[2] ?? 0));
      total += last * (2 * times - 1);
      last *= 2 * times;
      i = COUNTS.lastIndex - 1;
    } else if (character === '(') {
      outer.push(total);
      total = 0;
      last = 0;
    } else if (character === ')') {
      last = total + 2;
      total = (outer.pop() ?? 0) + last;
    } else {
      if (character === '\\') i++;
      else if (character === '[') i = endOfClass(pattern, i);
      last = 2;
      total += last;
    }
  }
  return outer.reduce((sum, part) => sum + part, total);
}

/** Returns the index of the bracket that closes the class. */
function endOfClass(pattern: string, start: number): number {
  let i = pattern[start + 1] === '^' ? start + 2 : start + 1;
  // A bracket in the first place belongs to the class.
  for (i++; i < pattern.length && pattern[i] !== ']'; i++) if (pattern[i] === '\\') i++;
  return i;
}
