import { parseEnv } from 'node:util';
import { type Duration, parseDuration } from '../../common/duration.js';
import { errorMessage } from '../../common/errors.js';
import { describeKind, isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { findJsonSyntaxError } from '../../definition/text/json-syntax-error.js';
import type { CliContext } from '../context.js';
import { codeFrame } from '../render/code-frame.js';
import { UsageError } from './usage-errors.js';
import { readText } from './read-file.js';

/** Reads the JSON object of a flag: the value itself, or after `@` a file (D42). @throws UsageError that shows the mistake */
export async function readJsonObject(
  flag: string,
  value: string | undefined,
  context: Pick<CliContext, 'cwd' | 'stdin'>,
): Promise<JsonObject | undefined> {
  if (value === undefined) return undefined;
  if (value.startsWith('@')) return readJsonFile(flag, value.slice(1), context);
  return parseObject(flag, value, `for example ${flag} '{"key": "value"}', or ${flag} @file.json`);
}

/** Reads the JSON object in the file that a flag names. Returns undefined without the flag. */
export async function readJsonFile(
  flag: string,
  name: string | undefined,
  context: Pick<CliContext, 'cwd' | 'stdin'>,
): Promise<JsonObject | undefined> {
  if (name === undefined) return undefined;
  const text = await readText(name, `${flag} file`, context);
  return parseObject(`the ${flag} file ${name}`, text, undefined);
}

function parseObject(what: string, text: string, hint: string | undefined): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${describeSyntaxError(text, error)}`, hint);
  }
  // Parsed JSON contains only JSON values.
  if (isObject(value)) return value as JsonObject;
  throw new UsageError(`${what} must be a JSON object, not ${describeKind(value)}`, hint);
}

const CODE_FRAME_COLUMNS = 100;

function describeSyntaxError(text: string, error: unknown): string {
  const syntaxError = findJsonSyntaxError(text);
  if (syntaxError === undefined) return errorMessage(error);
  const { offset, expected } = syntaxError;
  const before = text.slice(0, offset).split('\n');
  const position = { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  const found = offset >= text.length ? 'the text ends' : `found "${text.charAt(offset)}"`;
  const message = `${found} at line ${position.line}, column ${position.column}, expected ${expected}`;
  return [message, ...codeFrame(text.split('\n'), position, CODE_FRAME_COLUMNS)].join('\n');
}

/** Reads a flag that has one of several values. @throws UsageError with the value and those that there are (D40) */
export function readChoice<T extends string>(
  flag: string,
  value: string | undefined,
  choices: readonly T[],
  hint?: string,
): T | undefined {
  const found = choices.find((choice) => choice === value);
  if (value === undefined || found !== undefined) return found;
  throw new UsageError(`${flag} must be one of ${choices.join(', ')}, not "${value}"`, hint);
}

export interface NumberRule {
  readonly least: number;
  /** `least` itself is not accepted. */
  readonly above?: boolean;
  readonly most?: number;
  readonly whole?: boolean;
  /** The unit in messages: `seconds`. */
  readonly unit: string;
  readonly example: string;
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** Parses the number of a flag. @throws UsageError with the flag, its value and an example (D40) */
export function readNumber(flag: string, text: string | undefined, rule: NumberRule): number | undefined {
  if (text === undefined) return undefined;
  const value = NUMBER.test(text.trim()) ? Number(text) : Number.NaN;
  if (isAccepted(value, rule)) return value;
  throw new UsageError(
    `${flag} must be ${describeRule(rule)}, not "${text}"`,
    `for example ${flag} ${rule.example}`,
  );
}

function isAccepted(value: number, { least, above = false, most, whole = false }: NumberRule): boolean {
  if (!Number.isFinite(value)) return false;
  if (whole && !Number.isSafeInteger(value)) return false;
  if (above ? value <= least : value < least) return false;
  return most === undefined || value <= most;
}

function describeRule({ least, above = false, most, whole = false, unit }: NumberRule): string {
  const kind = whole ? 'a whole number' : 'a number';
  const range =
    most === undefined ? `${above ? 'above' : 'of at least'} ${least}` : `from ${least} to ${most}`;
  return `${kind} ${range} (${unit})`;
}

const LABEL = /^([^=:]+)[=:](.*)$/s;

/** Reads a label of a flag: `team=billing`, or as filters of the API have it, `team:billing`. @throws UsageError */
export function readLabelFlag(text: string): readonly [name: string, value: string] {
  const [, name, value] = LABEL.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  throw new UsageError(
    `--label must be a name and a value, not "${text}"`,
    'for example --label team=billing',
  );
}

const PARAM = /^([^=]+)=(.*)$/s;

/**
 * Reads the params of flags, as in `city=Oslo`. A value is a text, which becomes what the param is declared as (D4), unless it
 * is a list or an object in JSON. @throws UsageError
 */
export function readParamFlags(texts: readonly string[]): JsonObject {
  return Object.fromEntries(texts.map(readParamFlag));
}

function readParamFlag(text: string): [name: string, value: Json] {
  const [, name, value] = PARAM.exec(text) ?? [];
  if (name !== undefined && value !== undefined) return [name, readContainer(value) ?? value];
  throw new UsageError(
    `-p must be the name of a param and its value, not "${text}"`,
    'for example -p city=Oslo',
  );
}

/** Undefined for a text that is no list and no object in JSON. */
function readContainer(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Reads labels of flags as filters of the API have them: `team:billing`. @throws UsageError for what is no label */
export function readLabelFilter(labels: readonly string[] | undefined): readonly string[] | undefined {
  return labels?.map((text) => readLabelFlag(text).join(':'));
}

/** Parses the duration of a flag: a number of seconds, or a text such as `5m` (D82). @throws UsageError */
export function readDuration(flag: string, text: string | undefined, rule: NumberRule): Duration | undefined {
  const trimmed = text?.trim() ?? '';
  const ms = parseDuration(trimmed);
  return ms !== undefined && isAccepted(ms / 1000, rule) ? trimmed : readNumber(flag, text, rule);
}

/** Sets environment variables from a file, before any other code reads them. Variables that are already set win (D42). */
export async function readEnvFile(name: string | undefined, context: CliContext): Promise<void> {
  if (name === undefined) return;
  for (const [variable, value] of await readEnvVariables(name, context)) context.env[variable] ??= value;
}

/** Reads the variables of a file, and sets none. */
export async function readEnvVariables(
  name: string,
  context: Pick<CliContext, 'cwd' | 'stdin'>,
): Promise<ReadonlyMap<string, string>> {
  const variables = parseEnv(await readText(name, '--env-file', context));
  return new Map(Object.entries(variables).map(([variable, value]) => [variable, value ?? '']));
}
