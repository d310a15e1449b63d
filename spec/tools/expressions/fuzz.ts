import { errorMessage } from '../../../lib/common/errors.js';
import type { Json } from '../../../lib/common/json/json.js';
import { EXPRESSION_LIMITS } from '../../../lib/common/limits.js';
import { Evaluator } from '../../../lib/tools/expressions/evaluate.js';
import { probe } from './probes.js';
import { RandomExpressions } from './random-expressions.js';

const DATA: Json = { a: 1, b: 'ab', list: [1, 2, { a: [3] }], name: { a: null } };

export interface FuzzOptions {
  readonly seed: number;
  /** Number of expressions. */
  readonly count: number;
  /** Number of expressions between two rounds of probes. */
  readonly probeEvery: number;
  /** The time of one expression; a few random ones are endless. */
  readonly timeoutMs: number;
}

export interface FuzzResult {
  readonly evaluated: number;
  /** How many had a result; the others failed, as most random expressions do. */
  readonly succeeded: number;
  /** How often an expression or a probe gave another answer than before; the first ones, with what came before. */
  readonly differences: readonly string[];
}

/**
 * Evaluates random expressions of one run, each as two items of a fan-out, and probes in between: in the same run, which
 * shares a context with them, whether built-in functions still do what they did.
 */
export function fuzzIsolation({ seed, count, probeEvery, timeoutMs }: FuzzOptions): FuzzResult {
  const limits = {
    ...EXPRESSION_LIMITS,
    depth: 100,
    listLength: 10_000,
    timeoutMs,
    hardTimeoutMs: 2 * timeoutMs,
  };
  const alice = new Evaluator(limits);
  const expected = probe(new Evaluator(), 'fresh');
  const random = new RandomExpressions(seed);
  const differences: string[] = [];
  let succeeded = 0;
  let latest: string[] = [];
  for (let done = 1; done <= count; done++) {
    const source = random.next();
    latest.push(source);
    const first = answer(alice, source);
    const second = answer(alice, source);
    if (first.startsWith('=')) succeeded++;
    if (first !== second && !mayDiffer(source, first, second))
      differences.push(`${source}: ${first}, then ${second}`);
    if (done % probeEvery !== 0 && done !== count) continue;
    const answers = probe(alice, 'alice');
    const changed = answers.filter((text, index) => text !== expected[index]);
    if (changed.length > 0) differences.push(`${changed.join('\n')}\nafter\n${latest.join('\n')}`);
    latest = [];
  }
  return { evaluated: count, succeeded, differences };
}

function answer(evaluator: Evaluator, source: string): string {
  try {
    return `= ${JSON.stringify(evaluator.evaluate(source, DATA, {}, 'alice'))}`;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Chance, the time and the time limit. */
function mayDiffer(source: string, ...answers: readonly string[]): boolean {
  return (
    /\$(?:random|shuffle|now|millis)\b/.test(source) || answers.some((text) => /ran for more than/.test(text))
  );
}
