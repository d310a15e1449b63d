import { SUB_PIPELINE_FIELDS } from '../definition/schema/fields.js';
import { meantKeys } from '../definition/schema/structure.js';
import type { Path } from '../definition/problem.js';
import { nearest } from '../definition/suggest.js';
import { isObject } from '../common/json.js';

/** A sub-pipeline as far as it can be understood, so that all problems of a broken plan are found at once. */
export interface DraftSubPipeline {
  readonly id: string;
  /** The id, and for those that take one of another its position too: no two names are alike. */
  readonly name: string;
  readonly path: Path;
  readonly reads: readonly PlacedKey[];
  readonly stores: readonly PlacedKey[];
  /** Keys of the plan's inputs that are handed on to it. */
  readonly inputs: readonly PlacedKey[];
  readonly file: string | undefined;
  /** Its pipeline, when it stands in the plan itself. */
  readonly inline: { readonly value: unknown } | undefined;
}

/** An entry of a list of keys. */
export interface PlacedKey {
  readonly key: string;
  readonly path: Path;
}

export interface PlanDraft {
  /** In declared order. */
  readonly subPipelines: readonly DraftSubPipeline[];
  readonly inputKeys: ReadonlySet<string>;
}

/** Reads whatever of a plan can be read; shapes that are wrong are the schema's to report. */
export function planDraftOf(definition: unknown): PlanDraft {
  const root = isObject(definition) ? definition : {};
  const taken = new Set<string>();
  return {
    subPipelines: listOf(root['sub_pipelines']).flatMap((value, index) => {
      const path = ['sub_pipelines', index];
      if (!isObject(value) || typeof value['id'] !== 'string') return [];
      const { id } = value;
      let name = id;
      while (taken.has(name)) name += ` (${index + 1})`;
      taken.add(name);
      return [{ id, name, path, ...partsOf(value, path) }];
    }),
    inputKeys: new Set(isObject(root['inputs']) ? Object.keys(root['inputs']) : []),
  };
}

/** The first of each id: it is the one that a name means. */
export function firstOfEach({ subPipelines }: PlanDraft): DraftSubPipeline[] {
  return subPipelines.filter(({ id, name }) => id === name);
}

function partsOf(value: Record<string, unknown>, path: Path): Omit<DraftSubPipeline, 'id' | 'name' | 'path'> {
  return {
    reads: keysIn(value, 'reads', path),
    stores: keysIn(value, 'stores', path),
    inputs: keysIn(value, 'inputs', path),
    file: typeof value['file'] === 'string' ? value['file'] : undefined,
    inline: Object.hasOwn(value, 'pipeline') ? { value: value['pipeline'] } : undefined,
  };
}

function keysIn(value: Record<string, unknown>, field: string, path: Path): PlacedKey[] {
  const name = Object.hasOwn(value, field) ? field : misspelt(field, value);
  if (name === undefined) return [];
  const list = value[name];
  if (!Array.isArray(list)) return meantKeys(list).map((key) => ({ key, path: [...path, name] }));
  return list.flatMap((key: unknown, index) =>
    typeof key === 'string' && key !== '' ? [{ key, path: [...path, name, index] }] : [],
  );
}

/** Nobody looks for a slip among more fields. */
const MOST_FIELDS = 50;

/** The field that was meant for this one: the schema reports it, and what others need of it is there. */
function misspelt(field: string, value: Record<string, unknown>): string | undefined {
  const known: readonly string[] = SUB_PIPELINE_FIELDS;
  return Object.keys(value)
    .slice(0, MOST_FIELDS)
    .find((key) => !known.includes(key) && nearest(key, known) === field);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
