import { parseEnv } from 'node:util';
import { messageOf } from '../../common/errors.js';
import { isObject, type JsonObject, kindOf } from '../../common/json.js';
import { faultOf } from '../../definition/text/json-syntax-error.js';
import type { CliContext } from '../context.js';
import { excerpt } from '../render/excerpt.js';
import { BadUsage } from '../usage-errors.js';
import { readText } from './read-file.js';

const EXCERPT_COLUMNS = 100;

/**
 * The object given for a flag, as JSON or, after `@`, in a file (D42); undefined when the flag was left out.
 *
 * @throws BadUsage showing where the JSON breaks; WavetrainError `unreadable_file`.
 */
export async function readJsonObject(
  flag: string,
  given: string | undefined,
  context: Pick<CliContext, 'cwd' | 'stdin'>,
): Promise<JsonObject | undefined> {
  if (given === undefined) return undefined;
  if (!given.startsWith('@')) return parseObject(flag, given, exampleOf(flag));
  const text = await readText(given.slice(1), `${flag} file`, context);
  return parseObject(`the ${flag} file ${given.slice(1)}`, text, undefined);
}

/** The object in a file of JSON. */
export async function readJsonFile(
  flag: string,
  name: string | undefined,
  context: Pick<CliContext, 'cwd' | 'stdin'>,
): Promise<JsonObject | undefined> {
  return name === undefined ? undefined : readJsonObject(flag, `@${name}`, context);
}

function parseObject(what: string, text: string, example: string | undefined): JsonObject {
  const value = parse(what, text, example);
  if (isJsonObject(value)) return value;
  throw new BadUsage(`${what} takes a JSON object, not a ${kindOf(value)}`, example);
}

/** What came out of JSON holds nothing that JSON cannot. */
function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function parse(what: string, text: string, example: string | undefined): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new BadUsage(`${what} is not JSON: ${brokenAt(text, error)}`, example);
  }
}

/** What should have stood where, and the place in the text under it. */
function brokenAt(text: string, error: unknown): string {
  const fault = faultOf(text);
  if (fault === undefined) return messageOf(error);
  const before = text.slice(0, fault.offset).split('\n');
  const place = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  const found = fault.offset >= text.length ? 'the text ends' : `found "${text.charAt(fault.offset)}"`;
  const where = `${found} at line ${place.line}, column ${place.column}, expected ${fault.expected}`;
  return [where, ...excerpt(text.split('\n'), place, EXCERPT_COLUMNS)].join('\n');
}

function exampleOf(flag: string): string {
  return `for example ${flag} '{"key": "value"}', or ${flag} @file.json`;
}

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

/**
 * Sets the variables of a file in the environment, before anything reads it; those that are set already win (D42).
 *
 * @throws WavetrainError `unreadable_file`.
 */
export async function readEnvFile(name: string | undefined, context: CliContext): Promise<void> {
  if (name === undefined) return;
  const variables = parseEnv(await readText(name, '--env-file', context));
  for (const [variable, value] of Object.entries(variables)) context.env[variable] ??= value;
}
