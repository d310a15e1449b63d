import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { type Hint, hintRename } from '../../definition/problems/hint.js';
import type { Suggestions } from '../../definition/did-you-mean.js';
import type { KeyLookup } from '../../pipelines/check-context.js';
import type { DraftSubPipeline, LocatedKey, PlanDraft } from '../draft.js';
import type { KeyWriters } from '../order.js';

export interface KeyContext {
  readonly writers: KeyWriters;
  /** Keys of the run's session. */
  readonly session: KeyLookup;
  /** Keys of the plan's inputs: declared ones and those of the run. */
  readonly inputs: ReadonlySet<string>;
  readonly suggestions: Suggestions;
}

/** Checks that exactly one sub-pipeline stores each key that is read, and that all inputs exist (Plan, rule 3). */
export function* checkKeys({ subPipelines }: PlanDraft, context: KeyContext): Findings {
  const seen = new Map<string, DraftSubPipeline>();
  for (const subPipeline of subPipelines) {
    yield;
    const { reads, stores, inputs } = subPipeline;
    yield* checkId(subPipeline, seen);
    for (const list of [reads, stores, inputs]) yield* checkRepeats(list);
    for (const read of withoutRepeats(reads)) yield* checkRead(read, subPipeline, context);
    for (const store of withoutRepeats(stores)) yield* checkStore(store, subPipeline, context);
    for (const input of withoutRepeats(inputs)) yield* checkInput(input, subPipeline, context);
    if (!seen.has(subPipeline.id)) seen.set(subPipeline.id, subPipeline);
  }
}

function checkId({ id, path }: DraftSubPipeline, seen: ReadonlyMap<string, DraftSubPipeline>): Diagnostic[] {
  const first = seen.get(id);
  if (first === undefined) return [];
  const message = `duplicate sub-pipeline id "${id}"; the first is sub-pipeline ${Number(first.path[1]) + 1}`;
  const change = hintRename(id, `${id}_${Number(path[1]) + 1}`);
  const hint = { ...change, text: 'rename one of them' };
  return [{ code: 'duplicate_sub_pipeline', message, path: [...path, 'id'], hint }];
}

function checkRepeats(list: readonly LocatedKey[]): Diagnostic[] {
  const kept = new Set(withoutRepeats(list));
  const repeats = list.filter((entry) => !kept.has(entry));
  return repeats.map(({ key, path }) => {
    const message = `"${key}" is listed twice in "${String(path.at(-2))}"`;
    return { code: 'repeated_key', severity: 'warning', message, path, hint: 'keep one of them' };
  });
}

function checkRead({ key, path }: LocatedKey, reader: DraftSubPipeline, context: KeyContext): Diagnostic[] {
  const { writers, session } = context;
  // The reader itself may store the key: then its pipeline's tasks are in order, or not, as without a plan (D55).
  if (session.has(key) || writers.has(key)) return [];
  const message = `no sub-pipeline stores "${key}", which "${reader.id}" reads`;
  return [{ code: 'unsatisfied_read', message, path, hint: hintForKey(key, reader, false, context) }];
}

/** Says how to provide a key that nothing stores. @param reader undefined for a handler, which reads those of all */
export function hintForKey(
  key: string,
  reader: DraftSubPipeline | undefined,
  hasFallback: boolean,
  { writers, suggestions }: KeyContext,
): Hint | undefined {
  const session = hasFallback ? 'unless it comes with the session' : 'or pass it in the session';
  const otherwise = `add it to the "stores" of the sub-pipeline that writes it, ${session}`;
  return suggestions.hint(key, writers.keysFor(reader), otherwise);
}

function checkStore(store: LocatedKey, writer: DraftSubPipeline, { writers }: KeyContext): Diagnostic[] {
  const { key, path } = store;
  const first = writers.first(key);
  if (first === undefined || first === writer) return [];
  const message = `sub-pipelines "${first.name}" and "${writer.name}" both store "${key}"`;
  const hint = 'a key has one writer: use another key in one of them';
  return [{ code: 'two_writers', message, path, hint }];
}

function checkInput({ key, path }: LocatedKey, { id }: DraftSubPipeline, context: KeyContext): Diagnostic[] {
  if (context.inputs.has(key)) return [];
  const message = `the plan has no input "${key}" to pass to sub-pipeline "${id}"`;
  return [{ code: 'unknown_input', message, path, hint: hintForInput(key, context) }];
}

/** Says how to provide an input that a plan does not have. */
export function hintForInput(key: string, { inputs, suggestions }: KeyContext): Hint | undefined {
  return suggestions.hint(key, inputs, DECLARE_INPUT);
}

export const DECLARE_INPUT = 'give it a default under "inputs" of the plan';

/** Returns the first entry of each key. */
export function withoutRepeats(list: readonly LocatedKey[]): LocatedKey[] {
  const seen = new Set<string>();
  return list.filter(({ key }) => {
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
