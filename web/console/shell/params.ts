import type { Json, JsonObject } from '../../../lib/common/json.js';

/** The declaration of a param (D4), as definitions and the server have it. */
export interface ParamDeclaration {
  readonly type?: string;
  readonly description?: string;
  /** Undefined for a param that a run must give. */
  readonly default?: Json;
  readonly enum?: readonly Json[];
}

/** What was typed, by the name of the param. */
export type ParamTexts = Readonly<Record<string, string>>;

/** A param that was read; without a value, its default is used. */
export type ReadParam =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly problem: string };

/** The text of a field that nobody has changed. */
export function initialText({ default: value }: ParamDeclaration): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Reads what was typed. The server checks the rest: here it is only what a text can mean. */
export function readParam(
  { type = 'string', default: fallback, enum: choices }: ParamDeclaration,
  text: string,
): ReadParam {
  if (text === '' && type !== 'string') {
    return fallback === undefined
      ? { ok: false, problem: 'A value is needed.' }
      : { ok: true, value: undefined };
  }
  if (choices !== undefined) {
    const value = choices.find(
      (choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)) === text,
    );
    return value === undefined ? { ok: false, problem: 'Choose one of the values.' } : { ok: true, value };
  }
  switch (type) {
    case 'integer':
      return readNumber(text, /^[+-]?\d+$/, 'It must be a whole number.');
    case 'number':
      return readNumber(text, /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i, 'It must be a number.');
    case 'boolean':
      return { ok: true, value: text === 'true' };
    case 'list':
    case 'object':
      return readJson(text, type);
    default:
      return { ok: true, value: text };
  }
}

function readNumber(text: string, pattern: RegExp, problem: string): ReadParam {
  return pattern.test(text.trim()) ? { ok: true, value: Number(text) } : { ok: false, problem };
}

function readJson(text: string, type: 'list' | 'object'): ReadParam {
  const example = type === 'list' ? '["a", "b"]' : '{"key": "value"}';
  try {
    const value = JSON.parse(text) as Json;
    const isRight = typeof value === 'object' && value !== null && Array.isArray(value) === (type === 'list');
    return isRight ? { ok: true, value } : { ok: false, problem: `It must be JSON such as ${example}.` };
  } catch {
    return { ok: false, problem: `It must be JSON such as ${example}.` };
  }
}

/** Reads all params that were typed or have a default; undefined when one is missing or wrong. */
export function readParams(
  params: Readonly<Record<string, ParamDeclaration>>,
  texts: ParamTexts,
): JsonObject | undefined {
  const values: JsonObject = {};
  for (const [param, declaration] of Object.entries(params)) {
    const text = texts[param];
    if (text === undefined && declaration.default === undefined) return undefined;
    if (text === undefined) continue;
    const read = readParam(declaration, text);
    if (!read.ok) return undefined;
    if (read.value !== undefined) values[param] = read.value;
  }
  return values;
}
