import { BadUsage } from '../bad-usage.js';

/** What a flag that takes a number accepts. */
export interface NumberRule {
  readonly least: number;
  /** The least itself is not allowed. */
  readonly above?: boolean;
  readonly most?: number;
  readonly whole?: boolean;
  /** How the number is called in messages: `seconds`. */
  readonly unit: string;
  readonly example: string;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/**
 * The number given for a flag; undefined when the flag was left out.
 *
 * @throws BadUsage naming the flag, what it got and an example (D40).
 */
export function readNumber(flag: string, given: string | undefined, rule: NumberRule): number | undefined {
  if (given === undefined) return undefined;
  const value = NUMBER.test(given.trim()) ? Number(given) : Number.NaN;
  if (accepts(rule, value)) return value;
  throw new BadUsage(`${flag} takes ${nameOf(rule)}, not "${given}"`, `for example ${flag} ${rule.example}`);
}

function accepts(rule: NumberRule, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (rule.whole === true && !Number.isSafeInteger(value)) return false;
  if (rule.above === true ? value <= rule.least : value < rule.least) return false;
  return rule.most === undefined || value <= rule.most;
}

function nameOf(rule: NumberRule): string {
  const kind = rule.whole === true ? 'a whole number' : 'a number';
  const range =
    rule.most === undefined
      ? `${rule.above === true ? 'above' : 'of at least'} ${rule.least}`
      : `from ${rule.least} to ${rule.most}`;
  return `${kind} ${range} (${rule.unit})`;
}
