import { formatNumber } from '../text.js';
import { type BoundedPattern, compilePattern } from './bounded-pattern.js';

/**
 * How many steps the checks of params may take: those of one definition with all definitions in it, and those of one
 * submission. A step applies one keyword of a schema to one value, which takes 10 to 30 ns.
 */
const MAX_STEPS = 1_000_000;

/** Steps for compiling patterns, beside the others: enough for 500 different short ones. */
const MAX_STEPS_FOR_PATTERNS = 2_000_000;

/** Says that a check has ended because of the limit, after what it was. */
export const TOO_MANY_STEPS = describeExcess(MAX_STEPS);

/** Says that a check has ended because it takes more than so many steps, after what it was. */
export function describeExcess(steps: number): string {
  return `cannot be checked: that takes more than ${formatNumber(steps)} steps; use fewer values, or fewer and simpler schemas and patterns`;
}

/**
 * Bounds the work of checking values against the schemas of callers: a long list times many schemas would block the
 * event loop for minutes (D4). Keeps the patterns that it has compiled.
 */
export class CheckBudget {
  readonly #steps: number;
  #left: number;
  #leftForPatterns = MAX_STEPS_FOR_PATTERNS;
  #patterns: Map<string, BoundedPattern> | undefined;

  constructor(steps = MAX_STEPS) {
    this.#steps = steps;
    this.#left = steps;
  }

  /** Allows all steps again, for another value. */
  renew(): void {
    this.#left = this.#steps;
  }

  /** Counts steps that are about to be made. Returns false when they are too many: the check must end. */
  take(steps: number): boolean {
    this.#left -= steps;
    return this.#left >= 0;
  }

  /** True when more steps were asked for than are allowed. The outcome of the check is void then. */
  get isExceeded(): boolean {
    return this.#left < 0 || this.#leftForPatterns < 0;
  }

  /** Compiles a pattern, once. */
  pattern(text: string): BoundedPattern {
    this.#patterns ??= new Map();
    const known = this.#patterns.get(text);
    if (known !== undefined) return known;
    const pattern = compilePattern(text, this);
    this.#patterns.set(text, pattern);
    return pattern;
  }

  takeForPattern(steps: number): boolean {
    this.#leftForPatterns -= steps;
    return this.#leftForPatterns >= 0;
  }
}
