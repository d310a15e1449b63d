import { messageOf } from '../../common/errors.js';
import { type JsonObject, isObject, kindOf } from '../../common/json.js';
import { BadUsage } from '../bad-usage.js';
import type { CliContext } from '../context.js';
import { excerpt } from '../excerpt.js';
import { readText } from '../source.js';
import { faultOf } from '../../definition/text/json-syntax-error.js';

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
