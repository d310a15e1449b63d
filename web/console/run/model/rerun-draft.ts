import type { JsonObject } from '../../../../lib/common/json.js';
import { readJsonObject } from '../../shell/param-values.js';

/** What the reader has chosen for a rerun. */
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
    const value = readJsonObject(text);
    if (typeof value === 'string') problems[field] = value;
    else body[field] = value;
  }
  return Object.keys(problems).length > 0 ? { ok: false, problems } : { ok: true, body };
}
