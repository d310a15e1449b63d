import { errorMessage } from '../../common/errors.js';
import { formatMebibytes } from '../../common/text.js';
import { toJsonPointer } from '../../common/json/json.js';
import type { Path, Problem, ProblemCode } from '../problems/problem.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { MAX_NESTING } from './limits.js';

/** The problems of a value as a definition, and the length that its repeated parts add. */
interface ValueScan {
  readonly problems: readonly Problem[];
  /** How many characters longer the value is when each part is written out wherever it is used. */
  readonly expansion: number;
}

/**
 * Reports where an object is too deep, contains itself, or contains what JSON cannot hold. Code that runs after it may
 * recurse into the value. Never throws.
 */
export function* scanInSteps(value: unknown): Steps<ValueScan> {
  const scanner = new ValueScanner();
  yield* scanner.scan(value);
  return scanner;
}

/**
 * Returns a sentence when a value is too long with its repeated parts; otherwise undefined. The checks visit a part
 * wherever it is used, so that a small text could keep them busy.
 */
export function describeExpansion({ expansion }: ValueScan, limitBytes: number): string | undefined {
  if (expansion <= limitBytes) return undefined;
  return `expanding its repeated parts would make it more than ${formatMebibytes(limitBytes)} longer`;
}

const MAX_PROBLEMS = 100;

const VALUES_PER_STEP = 500;

/** The size of a value that is being visited. */
const OPEN = -1;

class ValueScanner implements ValueScan {
  readonly problems: Problem[] = [];
  expansion = 0;
  /** The size of each object as JSON, about; an object that is used in several places is scanned once. */
  readonly #sizes = new Map<object, number>();
  readonly #path: (string | number)[] = [];
  #visited = 0;

  *scan(value: unknown): Steps<void> {
    try {
      yield* this.#visit(value);
    } catch (thrown) {
      this.#report('invalid_value', `it cannot be read: ${errorMessage(thrown)}`, []);
    }
  }

  /** Returns the size of the value. */
  *#visit(value: unknown): Steps<number> {
    if (typeof value !== 'object' || value === null) return this.#visitScalar(value);
    const known = this.#sizes.get(value);
    if (known === OPEN) return this.#report('too_deep', 'it contains itself');
    if (known !== undefined) {
      this.expansion += known;
      return known;
    }
    if (this.#path.length > MAX_NESTING)
      return this.#report('too_deep', `it is nested deeper than ${MAX_NESTING} levels`);
    this.#sizes.set(value, OPEN);
    const size = yield* this.#visitMembers(value);
    this.#sizes.set(value, size);
    return size;
  }

  *#visitMembers(value: object): Steps<number> {
    const isList = Array.isArray(value);
    if (!isList && !isPlain(value))
      return this.#report('invalid_value', 'only plain objects and lists are allowed');
    let size = 2;
    for (const key of isList ? value.keys() : Object.keys(value)) {
      const member = (value as Record<string | number, unknown>)[key];
      if (++this.#visited % VALUES_PER_STEP === 0) yield;
      this.#path.push(key);
      // No steps for scalars, of which there are most.
      const isScalar = typeof member !== 'object' || member === null;
      size += isScalar ? this.#visitScalar(member) : yield* this.#visit(member);
      if (typeof key === 'string') size += key.length + 4;
      this.#path.pop();
    }
    return size;
  }

  #visitScalar(value: unknown): number {
    switch (typeof value) {
      case 'string':
        return value.length + 2;
      case 'number':
        return Number.isFinite(value) ? 8 : this.#report('invalid_value', `${value} is not a JSON number`);
      case 'function':
      case 'bigint':
      case 'symbol':
        return this.#report('invalid_value', `JSON cannot hold a ${typeof value}`);
      default:
        return 8;
    }
  }

  /** Returns the size of a value that is not used. */
  #report(code: ProblemCode, message: string, path: Path = this.#path): 0 {
    if (this.problems.length < MAX_PROBLEMS)
      this.problems.push({ code, message, path: toJsonPointer(path), severity: 'error' });
    return 0;
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}
