import type { Finding } from '../../definition/schema/structure.js';
import type { Keys } from '../../pipelines/check-context.js';
import type { Suggestions } from '../../pipelines/suggestions.js';
import type { DraftSubPipeline, PlacedKey, PlanDraft } from '../draft.js';
import type { Writers } from '../order.js';

/** What the lists of keys are held against. */
export interface KnownKeys {
  readonly writers: Writers;
  /** Keys of the session that the run is given. */
  readonly session: Keys;
  /** Keys of the plan's inputs: its own and those given for the run. */
  readonly inputs: ReadonlySet<string>;
  readonly suggestions: Suggestions;
}

/** Is every key that is read stored by another, and stored by one only; is every input there (Plan, rule 3)? */
export function keyFindings({ subPipelines }: PlanDraft, known: KnownKeys): Finding[] {
  const seen = new Map<string, DraftSubPipeline>();
  return subPipelines.flatMap((subPipeline) => {
    const findings = [
      ...idFindings(subPipeline, seen),
      ...[subPipeline.reads, subPipeline.stores, subPipeline.inputs].flatMap(repetitions),
      ...once(subPipeline.reads).flatMap((read) => readFindings(read, subPipeline, known)),
      ...once(subPipeline.stores).flatMap((store) => storeFindings(store, subPipeline, known)),
      ...once(subPipeline.inputs).flatMap((input) => inputFindings(input, subPipeline, known)),
    ];
    if (!seen.has(subPipeline.id)) seen.set(subPipeline.id, subPipeline);
    return findings;
  });
}

function idFindings({ id, path }: DraftSubPipeline, seen: ReadonlyMap<string, DraftSubPipeline>): Finding[] {
  const first = seen.get(id);
  if (first === undefined) return [];
  const message = `two sub-pipelines are called "${id}"; the first is sub-pipeline ${Number(first.path[1]) + 1}`;
  return [
    { code: 'duplicate_sub_pipeline', message, path: [...path, 'id'], hint: 'give one of them another id' },
  ];
}

function repetitions(list: readonly PlacedKey[]): Finding[] {
  const kept = new Set(once(list));
  return list
    .filter((entry) => !kept.has(entry))
    .map(({ key, path }) => ({
      code: 'repeated_key',
      severity: 'warning',
      message: `"${key}" stands twice in "${String(path.at(-2))}"`,
      path,
      hint: 'keep one of them',
    }));
}

function readFindings(
  { key, path }: PlacedKey,
  reader: DraftSubPipeline,
  { writers, session, suggestions }: KnownKeys,
): Finding[] {
  if (session.has(key) || writers.other(key, reader) !== undefined) return [];
  if (writers.has(key)) {
    const message = `only sub-pipeline "${reader.id}" itself stores "${key}", which it reads`;
    const hint = 'list in "reads" what others store; what its own tasks store they can read anyway';
    return [{ code: 'unsatisfied_read', message, path, hint }];
  }
  const message = `no sub-pipeline stores "${key}", which "${reader.id}" reads`;
  const otherwise = 'add it to the "stores" of the one that writes it, or give it as session';
  return [
    { code: 'unsatisfied_read', message, path, ...suggestions.hint(key, writers.keysFor(reader), otherwise) },
  ];
}

function storeFindings(
  { key, path }: PlacedKey,
  writer: DraftSubPipeline,
  { writers }: KnownKeys,
): Finding[] {
  const first = writers.first(key);
  if (first === undefined || first === writer) return [];
  const message = `sub-pipelines "${first.name}" and "${writer.name}" both store "${key}"`;
  const hint = 'one key has one writer: let one of them store under another key';
  return [{ code: 'two_writers', message, path, hint }];
}

function inputFindings(
  { key, path }: PlacedKey,
  { id }: DraftSubPipeline,
  { inputs, suggestions }: KnownKeys,
): Finding[] {
  if (inputs.has(key)) return [];
  const message = `the plan has no input "${key}" to hand on to sub-pipeline "${id}"`;
  const hint = suggestions.hint(key, inputs, 'give it a default under "inputs" of the plan');
  return [{ code: 'unknown_input', message, path, ...hint }];
}

/** The first entry of each key. */
export function once(list: readonly PlacedKey[]): PlacedKey[] {
  const seen = new Set<string>();
  return list.filter(({ key }) => {
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
