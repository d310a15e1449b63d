import type { Json, JsonObject } from '../../../lib/common/json/json.js';

/** As much of the declaration of a param as a form needs (D4). */
export interface ParamDeclaration {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'list' | 'object';
  readonly description?: string;
  readonly default?: Json;
  readonly enum?: readonly Json[];
}

type ParamType = NonNullable<ParamDeclaration['type']>;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Reads what was typed into a field. Nothing typed is no value, so that the default counts. Text that does not fit the
 * type stays text: the server says what is wrong with it.
 */
export function readParam(text: string, type: ParamType): Json | undefined {
  if (text === '') return undefined;
  if (type === 'integer' || type === 'number') return NUMBER.test(text.trim()) ? Number(text) : text;
  if (type === 'string' || type === 'boolean') return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Formats a value for its field. */
export function showParam(value: Json, type: ParamType): string {
  if (typeof value === 'string') return value;
  return type === 'list' || type === 'object' ? JSON.stringify(value, undefined, 1) : JSON.stringify(value);
}

/**
 * Finds which params the server has refused, from its message: `param "n" must be a number, not "x"`, with several
 * joined by semicolons.
 */
export function findParamProblems(message: string, names: readonly string[]): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const part of message.split(/; (?=param "|there is no param)/)) {
    const [, name] = /^param "([^"]*)"/.exec(part) ?? [];
    if (name !== undefined && names.includes(name)) problems[name] = part;
  }
  return problems;
}

/** Reads a JSON object that was typed. Returns what is wrong, as a sentence, when it is none. */
export function parseJsonObject(text: string): JsonObject | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
    return 'It must be a JSON object, as in {"name": "Ada"}.';
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
