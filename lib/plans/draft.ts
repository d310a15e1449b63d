import { isObject, toList } from '../common/json/json.js';
import type { Path } from '../definition/problems/problem.js';
import { SUB_PIPELINE_FIELDS } from '../definition/schema/fields.js';
import { hintForForeignField } from '../definition/schema/foreign-fields.js';
import { guessKeys } from '../definition/schema/value-hints.js';
import type { Steps } from '../common/scheduling/steps.js';
import { type PlanCondition, readPlanConditions } from './conditions.js';
import { nearest } from '../definition/did-you-mean.js';

/** A sub-pipeline as far as it can be read, so that the check finds all problems of a broken plan at once. */
export interface DraftSubPipeline {
  readonly id: string;
  /** Unique: the id, followed by the position when an earlier sub-pipeline has the same id. */
  readonly name: string;
  readonly path: Path;
  readonly reads: readonly LocatedKey[];
  readonly stores: readonly LocatedKey[];
  /** Keys of the plan's inputs that are passed to the sub-pipeline. */
  readonly inputs: readonly LocatedKey[];
  /** The conditions in its `when` (D77). */
  readonly conditions: readonly PlanCondition[];
  readonly file: string | undefined;
  /** The pipeline of the sub-pipeline, when it is written in the plan. */
  readonly inline: { readonly value: unknown } | undefined;
}

/** An entry of a list of keys. */
export interface LocatedKey {
  readonly key: string;
  readonly path: Path;
}

export interface PlanDraft {
  /** In declared order. */
  readonly subPipelines: readonly DraftSubPipeline[];
  readonly inputKeys: ReadonlySet<string>;
}

/** Reads what can be read of a plan; the schema reports wrong types. */
export function* readPlanDraft(definition: unknown): Steps<PlanDraft> {
  const root = isObject(definition) ? definition : {};
  const names = new Set<string>();
  const inputs = isObject(root['inputs']) ? root['inputs'] : {};
  const inputKeys = new Set(Object.keys(inputs));
  const subPipelines: DraftSubPipeline[] = [];
  for (const [index, value] of toList(root['sub_pipelines']).entries()) {
    yield;
    if (!isObject(value) || typeof value['id'] !== 'string') continue;
    const path = ['sub_pipelines', index];
    const { id } = value;
    let name = id;
    while (names.has(name)) name += ` (${index + 1})`;
    names.add(name);
    subPipelines.push({
      id,
      name,
      path,
      reads: readKeys(value, 'reads', path),
      stores: readKeys(value, 'stores', path),
      inputs: readKeys(value, 'inputs', path),
      conditions: yield* readPlanConditions(value['when'], [...path, 'when'], inputKeys),
      file: typeof value['file'] === 'string' ? value['file'] : undefined,
      inline: Object.hasOwn(value, 'pipeline') ? { value: value['pipeline'] } : undefined,
    });
  }
  return { subPipelines, inputKeys };
}

/** Returns the first sub-pipeline of each id. */
export function uniqueSubPipelines({ subPipelines }: PlanDraft): DraftSubPipeline[] {
  return subPipelines.filter(({ id, name }) => id === name);
}

function readKeys(value: Record<string, unknown>, field: string, path: Path): LocatedKey[] {
  const name = Object.hasOwn(value, field) ? field : findMisspelt(field, value);
  if (name === undefined) return [];
  const list = value[name];
  if (!Array.isArray(list)) return guessKeys(list).map((key) => ({ key, path: [...path, name] }));
  return list.flatMap((key: unknown, index) =>
    typeof key === 'string' && key !== '' ? [{ key, path: [...path, name, index] }] : [],
  );
}

/** How many fields are searched for a misspelt one. */
const MAX_FIELDS = 50;

/** Finds a field that is probably a misspelling of this one. The schema reports it; the other checks use its keys. */
function findMisspelt(field: string, value: Record<string, unknown>): string | undefined {
  return Object.keys(value)
    .slice(0, MAX_FIELDS)
    .find((key) => isMisspelling(key, field, value));
}

/** A word of another product, such as `needs`, means what it means there. */
function isMisspelling(key: string, field: string, owner: Record<string, unknown>): boolean {
  const known: readonly string[] = SUB_PIPELINE_FIELDS;
  if (known.includes(key) || nearest(key, known) !== field) return false;
  return hintForForeignField(key, known, owner) === undefined;
}
