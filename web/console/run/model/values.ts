import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { parseJsonObject } from '../../shell/param-values.js';

/** Values that are looked at: the search of a very large value ends there. */
const MOST_VALUES = 200_000;

/**
 * Returns the parts of a value whose key or text contains the text, in their places; undefined when there are none. A
 * list becomes an object with the indexes of what was found.
 */
export function searchJson(value: Json, text: string): Json | undefined {
  const wanted = text.trim().toLowerCase();
  let left = MOST_VALUES;
  const search = (part: Json): Json | undefined => {
    if (left-- <= 0) return undefined;
    if (typeof part !== 'object' || part === null) {
      return String(part).toLowerCase().includes(wanted) ? part : undefined;
    }
    const found: [string, Json][] = [];
    for (const [key, member] of Object.entries(part)) {
      const isNamed = !Array.isArray(part) && key.toLowerCase().includes(wanted);
      const kept = isNamed ? member : search(member);
      if (kept !== undefined) found.push([key, kept]);
    }
    return found.length === 0 ? undefined : Object.fromEntries(found);
  };
  return search(value);
}

/** The choices of the reader for a rerun. */
export interface RerunDraft {
  /** `failed`, the id of a task or a sub-pipeline, or empty for everything. */
  readonly from: string;
  /** As JSON; undefined while it is as it was. */
  readonly params: string | undefined;
  readonly inputs: string | undefined;
}

type Field = 'params' | 'inputs';

/** The body of the request, or what is wrong with what was typed. */
export type RerunBody =
  | { readonly ok: true; readonly body: Readonly<Record<string, string | JsonObject>> }
  | { readonly ok: false; readonly problems: Readonly<Partial<Record<Field, string>>> };

/** Reads a draft. */
export function describeChanges(draft: RerunDraft): RerunBody {
  const body: Record<string, string | JsonObject> = draft.from === '' ? {} : { from: draft.from };
  const problems: Partial<Record<Field, string>> = {};
  for (const field of ['params', 'inputs'] as const) {
    const text = draft[field];
    if (text === undefined) continue;
    const value = parseJsonObject(text);
    if (typeof value === 'string') problems[field] = value;
    else body[field] = value;
  }
  return Object.keys(problems).length > 0 ? { ok: false, problems } : { ok: true, body };
}
