import { messageOf } from '../common/errors.js';
import { DEEPEST_NESTING } from './limits.js';
import { type Path, type Problem, type ProblemCode, pointerOf } from './problem.js';

/**
 * What of a value, given as an object, is no definition whatever it says: too deep, holding itself, or holding what
 * JSON cannot. Everything behind it may then trust that walking the value ends. Never throws.
 */
export function scanValue(value: unknown): readonly Problem[] {
  const scanner = new ValueScanner();
  try {
    scanner.visit(value, []);
  } catch (thrown) {
    scanner.report('invalid_value', `it cannot be read: ${messageOf(thrown)}`, []);
  }
  return scanner.problems;
}

const MOST_PROBLEMS = 100;

class ValueScanner {
  readonly problems: Problem[] = [];
  /** Objects that were seen: one that stands in several places is looked at once. */
  readonly #seen = new WeakSet<object>();
  readonly #open = new WeakSet<object>();

  visit(value: unknown, path: (string | number)[]): void {
    if (typeof value === 'object' && value !== null) this.#visitObject(value, path);
    else if (typeof value === 'number' && !Number.isFinite(value)) {
      this.report('invalid_value', `${value} is no number that JSON has`, path);
    } else if (['function', 'bigint', 'symbol'].includes(typeof value)) {
      this.report('invalid_value', `a ${typeof value} is nothing that JSON can hold`, path);
    }
  }

  report(code: ProblemCode, message: string, path: Path): void {
    if (this.problems.length === MOST_PROBLEMS) return;
    this.problems.push({ code, message, path: pointerOf(path), severity: 'error' });
  }

  #visitObject(value: object, path: (string | number)[]): void {
    if (this.#open.has(value)) return this.report('too_deep', 'it holds itself', path);
    if (path.length > DEEPEST_NESTING)
      return this.report('too_deep', `it is nested deeper than ${DEEPEST_NESTING} levels`, path);
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    this.#open.add(value);
    if (Array.isArray(value)) for (const [index, item] of value.entries()) this.#within(path, index, item);
    else if (isPlain(value)) for (const [key, item] of Object.entries(value)) this.#within(path, key, item);
    else this.report('invalid_value', 'only plain objects and lists can stand here', path);
    this.#open.delete(value);
  }

  #within(path: (string | number)[], key: string | number, value: unknown): void {
    path.push(key);
    this.visit(value, path);
    path.pop();
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}
