import type { JsonObject } from '../../../../lib/common/json.js';
import type { ParamTexts } from '../../shell/params.js';

/** What the reader has typed for a run. */
export interface RunValues {
  readonly params: ParamTexts;
  /** As JSON; empty for none. */
  readonly inputs: string;
  readonly session: string;
}

export const NO_VALUES: RunValues = { params: {}, inputs: '', session: '' };

/** What a run was submitted with, as it would have been typed. */
export function showValues(source: Readonly<Record<'params' | 'inputs' | 'session', JsonObject>>): RunValues {
  const params = Object.entries(source.params).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return {
    params: Object.fromEntries(params) as ParamTexts,
    inputs: showObject(source.inputs),
    session: showObject(source.session),
  };
}

function showObject(value: JsonObject): string {
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value, undefined, 2);
}

/** Reads a JSON object that was typed. Returns what is wrong, as a sentence, when it is none. */
export function readJsonObject(text: string): JsonObject | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
    return 'It must be a JSON object, as in {"name": "Ada"}.';
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Finds which params the server has refused, from its message: `param "n" must be a number, not "x"`, several joined by
 * semicolons.
 */
export function findParamProblems(message: string, names: readonly string[]): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const part of message.split(/; (?=param "|there is no param)/)) {
    const [, name] = /^param "([^"]*)"/.exec(part) ?? [];
    if (name !== undefined && names.includes(name)) problems[name] = part;
  }
  return problems;
}
