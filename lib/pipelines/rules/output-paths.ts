import type { Suggestions } from '../../definition/did-you-mean.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { type Hint, hintRename } from '../../definition/problems/hint.js';
import {
  explainMissingMember,
  findHolder,
  findMissing,
  knownKeys,
  type MissingReason,
  nameTypes,
} from '../../definition/shapes/missing-member.js';
import { elementOf, memberOf, type ShapeBudget, typesOf } from '../../definition/shapes/shape.js';
import { formatPath, type Segment } from '../../definition/template/expressions/expression.js';
import { type DraftTask, listReferences, type LocatedReference, type PipelineDraft } from '../draft.js';
import type { PipelineShapes, ReadValue } from '../shapes/pipeline-shapes.js';
import type { StoredShapes, StoredValue } from '../shapes/stored-shapes.js';

/**
 * Checks that the paths of templates lead somewhere in what the tools return, as far as that is known before the run (D13). A path
 * that can only fail is an error; one with a default is a warning, because its default always applies.
 */
export function* checkOutputPaths(
  draft: PipelineDraft,
  shapes: PipelineShapes,
  waves: readonly (readonly string[])[],
  stored: StoredShapes,
  suggestions: Suggestions,
): Findings {
  const tasks = new Map(draft.tasks.map((task) => [task.id, task]));
  // In the order of the waves, so that the shapes of what a task reads are known before its own.
  for (const id of waves.flat()) {
    const task = tasks.get(id);
    if (task === undefined) continue;
    for (const located of listReferences(task)) {
      yield;
      const value = readsValue(located, task) ? shapes.read(located, task) : undefined;
      if (value !== undefined) yield* checkPath(located, value, shapes.budget, suggestions);
      const ofSession = stored.read(located, task);
      if (ofSession !== undefined) yield* warnOfSession(located, ofSession, shapes.budget, suggestions);
    }
    yield* checkList(task, shapes);
  }
}

function* checkPath(
  located: LocatedReference,
  read: ReadValue,
  budget: ShapeBudget,
  suggestions: Suggestions,
): Generator<Diagnostic> {
  const mistake = findMistake(read, budget, suggestions);
  if (mistake === undefined) return;
  const { path, at, source, hasFallback } = located;
  const { reason, needsItem, meant } = mistake;
  const otherwise = needsItem ? hintFanOut(located) : undefined;
  const hint = meant === undefined ? otherwise : hintRename(source, meant);
  if (!hasFallback) yield { code: 'unknown_reference', message: `{{${source}}}: ${reason}`, path, at, hint };
  else {
    const message = `{{${source}}} always gives its default: ${reason}`;
    const text = meant === undefined ? undefined : `did you mean ${meant}?`;
    yield { code: 'unknown_reference', severity: 'warning', message, path, at, hint: text };
  }
}

/** The run may bring a value of its own for the key. */
function* warnOfSession(
  { path, at, source }: LocatedReference,
  read: StoredValue,
  budget: ShapeBudget,
  suggestions: Suggestions,
): Generator<Diagnostic> {
  const mistake = findMistake(read, budget, suggestions);
  if (mistake === undefined) return;
  const { reason, meant } = mistake;
  const message = `{{${source}}}: ${reason}, as ${read.storedBy} stores it`;
  const hint = meant === undefined ? undefined : hintRename(source, meant);
  yield { code: 'unknown_reference', severity: 'warning', message, path, at, hint };
}

interface Mistake extends MissingReason {
  /** The path that was probably meant. */
  readonly meant: string | undefined;
}

/** Finds out why a path leads nowhere; undefined when it may lead somewhere. */
function findMistake(read: ReadValue, budget: ShapeBudget, suggestions: Suggestions): Mistake | undefined {
  const missing = findMissing(read.shape, read.path, budget);
  const segment = missing && read.path[missing.at];
  if (missing === undefined || segment === undefined) return undefined;
  const label = formatPath(read.label, read.path.slice(0, missing.at));
  const why = explainMissingMember(missing.shape, segment, label, budget);
  const keys = knownKeys(missing.shape, budget);
  const name = segment.kind === 'field' ? suggestions.nearest(segment.name, keys) : undefined;
  const field = name ?? findHolder(missing, segment, budget);
  return { ...why, meant: field && correct(read, missing.at, field, name === undefined) };
}

/** References that other rules refuse have no value. */
function readsValue({ reference }: LocatedReference, task: DraftTask): boolean {
  return reference.kind === 'task' ? reference.taskId !== task.id : reference.kind !== 'item' || task.fansOut;
}

/** Writes the path that was probably meant. @param isHolder the name comes before the segment, and not in its place */
function correct({ label, path }: ReadValue, at: number, name: string, isHolder: boolean): string {
  const field: Segment = { kind: 'field', name, index: undefined };
  return formatPath(label, [...path.slice(0, at), field, ...path.slice(isHolder ? at : at + 1)]);
}

function hintFanOut({ expression: { root } }: LocatedReference): Hint {
  return `or call a tool for each item: parallel_over: "{{${root}.output}}", and {{item}} in its inputs`;
}

/** Checks that `parallel_over` may give a list (rule 7). A text with a list in it is none. */
function* checkList(task: DraftTask, shapes: PipelineShapes): Generator<Diagnostic> {
  const [located] = task.parallelOverReferences;
  const list = shapes.ofList(task);
  // A path that leads nowhere has an error of its own.
  if (located === undefined || list === undefined || list === false) return;
  if (elementOf(list, shapes.budget) !== false) return;
  const { source, path, at } = located;
  const types = typesOf(list, shapes.budget) ?? new Set<string>();
  const message = `parallel_over must give a list, and {{${source}}} is ${nameTypes(types)}`;
  const lists = knownKeys(list, shapes.budget).filter((name) => {
    const field = { kind: 'field', name, index: undefined } as const;
    return elementOf(memberOf(list, field, shapes.budget), shapes.budget) !== false;
  });
  const [only] = lists;
  const hint =
    lists.length === 1 && only !== undefined && !located.hasFallback
      ? hintRename(source, formatPath(source, [{ kind: 'field', name: only, index: undefined }]))
      : types.has('string')
        ? 'let the tool transform make a list of the text'
        : undefined;
  yield { code: 'invalid_value', message, path, at, hint };
}
