import type { Steps } from '../../common/scheduling/steps.js';
import { type DraftTask, listReferences, type PipelineDraft } from '../draft.js';
import { readsItem } from './conditions.js';
import type { TaskList } from './handlers.js';

const NO_OUTPUTS: readonly string[] = [];

type ListOf = (id: string) => TaskList | undefined;

/**
 * Finds the tasks of which a run may lack the output although it goes on: those with `when` or `on_error: continue`, handlers
 * that read what may not have run (D80), and those that read such an output without a default, which are skipped then (D78).
 * Each is with the task that it depends on, or with itself.
 */
export function* findUnreliable(
  { tasks }: Pick<PipelineDraft, 'tasks'>,
  listOf: ListOf,
): Steps<ReadonlyMap<string, string>> {
  const causes = new Map<string, string>();
  const found = tasks.filter(mayLackOutput).map(({ id }) => id);
  for (const task of tasks) {
    if (task.list === 'tasks') continue;
    yield;
    if (readsOtherCase(task, listOf)) found.push(task.id);
  }
  if (found.length === 0) return causes;
  const readers = yield* listReaders(tasks);
  for (const id of found) causes.set(id, id);
  for (let id = found.pop(); id !== undefined; id = found.pop()) {
    for (const reader of readers.get(id) ?? []) {
      if (causes.has(reader)) continue;
      causes.set(reader, causes.get(id) ?? id);
      found.push(reader);
    }
  }
  return causes;
}

/** Returns true for a task that may be skipped, or fail, by itself: where its items are skipped, a fan-out has an output (D78). */
export function mayLackOutput({ fields, conditions }: DraftTask): boolean {
  return fields['on_error'] === 'continue' || conditions.some((condition) => !readsItem(condition));
}

/** By task, those that read its output without a default. */
function* listReaders(tasks: readonly DraftTask[]): Steps<ReadonlyMap<string, readonly string[]>> {
  const readers = new Map<string, string[]>();
  for (const task of tasks) {
    yield;
    for (const id of readOutputs(task)) {
      const list = readers.get(id);
      if (list === undefined) readers.set(id, [task.id]);
      else list.push(task.id);
    }
  }
  return readers;
}

/** The tasks whose outputs a task reads without a default. */
function readOutputs(task: DraftTask): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { reference, hasFallback } of listReferences(task)) {
    if (reference.kind === 'task' && reference.member === undefined && !hasFallback)
      ids.add(reference.taskId);
  }
  return ids;
}

/**
 * Lists the tasks without whose output a task is skipped, of those whose output may be missing: for a handler, those of
 * other lists that may not have run (D80).
 */
export function listNeededOutputs(
  task: DraftTask,
  unreliable: ReadonlyMap<string, string>,
  listOf: ListOf,
): readonly string[] {
  if (unreliable.size === 0 && task.list === 'tasks') return NO_OUTPUTS;
  const needed = [...readOutputs(task)].filter(
    (id) => unreliable.has(id) || mayNotHaveRun(task.list, listOf(id)),
  );
  return needed.length === 0 ? NO_OUTPUTS : needed;
}

/** Returns true when a handler reads the output of a task of another list that may not have run. */
function readsOtherCase(task: DraftTask, listOf: ListOf): boolean {
  return [...readOutputs(task)].some((id) => mayNotHaveRun(task.list, listOf(id)));
}

/** Returns true when a handler of a list may run without a task of another list that ran before. */
export function mayNotHaveRun(list: TaskList, other: TaskList | undefined): boolean {
  if (list === 'tasks' || list === other) return false;
  return list !== 'on_success' || other !== 'tasks';
}
