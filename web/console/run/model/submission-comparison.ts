import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import { isEqual } from '../../../shared/model/json-rows.js';
import type { Server } from '../../../shared/server/server.js';
import { formatSelection } from './addresses.js';
import { type DiffHunk, diffLines } from './line-diff.js';

/** How the definitions of two runs differ. */
export type DefinitionDifference =
  /** The definitions do not differ. */
  | { readonly kind: 'none' }
  /** The texts have other lines; with `isMeant` false, they mean the same. */
  | { readonly kind: 'lines'; readonly hunks: readonly DiffHunk[]; readonly isMeant: boolean }
  /** The definitions differ in more than can be shown, or are too long for a text. */
  | { readonly kind: 'large' };

/** Values that a run was given, and those that the run had that it repeats. */
export interface ComparedValues {
  readonly name: 'params' | 'inputs' | 'session' | 'options';
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** The submissions of two runs, and their differences. */
export interface ComparedSubmissions {
  readonly before: EditableDefinition;
  readonly after: EditableDefinition;
  readonly definition: DefinitionDifference;
  /** The names of the tasks of both whose definitions differ. */
  readonly redefined: ReadonlySet<string>;
  /** The values that differ. */
  readonly values: readonly ComparedValues[];
}

const NAMES = ['params', 'inputs', 'session', 'options'] as const;

/** Reads what a run was submitted with. @throws ServerError */
export function readSubmission(
  server: Pick<Server, 'getJson'>,
  runId: string,
  signal: AbortSignal,
): Promise<EditableDefinition> {
  const path = `/pipelines/runs/${encodeURIComponent(runId)}/definition`;
  return server.getJson<EditableDefinition>(path, {}, signal);
}

export function compareSubmissions(
  before: EditableDefinition,
  after: EditableDefinition,
): ComparedSubmissions {
  const values = NAMES.map((name) => ({
    name,
    before: valuesOf(before, name),
    after: valuesOf(after, name),
  }));
  return {
    before,
    after,
    definition: compareDefinitions(before, after),
    redefined: listRedefined(tasksOf(before), tasksOf(after)),
    values: values.filter((compared) => !isEqual(compared.before, compared.after)),
  };
}

function listRedefined(before: ReadonlyMap<string, Json>, after: ReadonlyMap<string, Json>): Set<string> {
  const redefined = new Set<string>();
  for (const [name, task] of after) {
    const earlier = before.get(name);
    if (earlier !== undefined && !isEqual(earlier, task)) redefined.add(name);
  }
  return redefined;
}

/** The definitions of the tasks of a pipeline, or of all pipelines of a plan, by the names of the tasks in the run. */
function tasksOf({ definition }: EditableDefinition): Map<string, Json> {
  const tasks = new Map<string, Json>();
  for (const task of objectsIn(definition['tasks'])) tasks.set(task['id'] as string, task);
  for (const { id, pipeline } of objectsIn(definition['sub_pipelines'])) {
    for (const task of objectsIn((pipeline as JsonObject | undefined)?.['tasks'])) {
      const selection = { taskId: task['id'] as string, subPipeline: id as string };
      tasks.set(formatSelection(selection), task);
    }
  }
  return tasks;
}

function objectsIn(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? (list as JsonObject[]) : [];
}

/** The text of a definition, as a file of it has it. */
export function textOf({ yaml, definition }: EditableDefinition): string {
  return yaml ?? toLines(definition);
}

function compareDefinitions(before: EditableDefinition, after: EditableDefinition): DefinitionDifference {
  const isMeant = !isEqual(before.definition, after.definition);
  const areTexts = before.yaml_source === after.yaml_source && !isJson(before.yaml) && !isJson(after.yaml);
  if (!isMeant && (!areTexts || before.yaml === after.yaml)) return { kind: 'none' };
  if (before.yaml === null || after.yaml === null) return { kind: 'large' };
  // A text that somebody has written and one that was generated differ everywhere, and JSON may be one long line.
  const hunks = areTexts
    ? diffLines(before.yaml, after.yaml)
    : diffLines(toLines(before.definition), toLines(after.definition));
  if (hunks === undefined) return { kind: 'large' };
  return hunks.length === 0 ? { kind: 'none' } : { kind: 'lines', hunks, isMeant };
}

function isJson(yaml: string | null): boolean {
  return yaml === null || yaml.trimStart().startsWith('{');
}

function toLines(definition: JsonObject): string {
  return `${JSON.stringify(definition, undefined, 2)}\n`;
}

function valuesOf(submitted: EditableDefinition, name: ComparedValues['name']): JsonObject {
  if (name !== 'options') return submitted[name];
  const { options, plan_concurrency } = submitted;
  return { ...options, ...(plan_concurrency !== undefined && { plan_concurrency }) };
}
