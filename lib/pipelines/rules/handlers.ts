import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { isRunNamespace } from '../../definition/template/reference.js';
import { type DraftTask, listReferences, type PipelineDraft } from '../draft.js';
import type { TaskList } from '../flow/handlers.js';
import { mayLackOutput, mayNotHaveRun } from '../flow/unreliable-outputs.js';
import { tasksOfConditions } from './conditions/conditions.js';

/** Checks which tasks handlers read, and that nothing waits for a handler that runs later, or in another case (D80). */
export function* checkHandlers(draft: PipelineDraft): Findings {
  for (const task of draft.tasks) yield* checkName(task);
  if (draft.tasks.every(({ list }) => list === 'tasks')) return;
  const listOf = new Map<string, TaskList>();
  // Of two tasks with one id, the first counts: the other one is an error.
  for (const { id, list } of draft.tasks) if (!listOf.has(id)) listOf.set(id, list);
  const uncertain = new Set(draft.tasks.filter(mayLackOutput).map(({ id }) => id));
  for (const task of draft.tasks) {
    yield;
    yield* checkAwaits(task, listOf);
    yield* checkReads(task, listOf, uncertain);
  }
}

/** A task that is called like the namespace of the run keeps its name: files that are older than the namespace go on to work. */
function* checkName({ id, path }: DraftTask): Generator<Diagnostic> {
  if (!isRunNamespace(id)) return;
  const message = `the task "${id}" hides the namespace {{${id}.…}}`;
  const hint = `rename it, and what refers to it, to read {{${id}.…}} here`;
  yield { code: 'reserved_id', severity: 'warning', message, path: [...path, 'id'], hint };
}

type ListOf = ReadonlyMap<string, TaskList>;

function* checkAwaits(task: DraftTask, listOf: ListOf): Generator<Diagnostic> {
  for (const [index, id] of task.awaits.entries()) {
    const reason = findObstacle(task.list, listOf.get(id));
    const path = [...task.path, 'await', index];
    const message = `task "${task.id}" awaits "${id}", ${reason}`;
    if (reason !== undefined) yield { code: 'invalid_value', message, path };
  }
}

/** @param uncertain tasks of which the check of conditions warns */
function* checkReads(task: DraftTask, listOf: ListOf, uncertain: ReadonlySet<string>): Generator<Diagnostic> {
  const warned = new Set(tasksOfConditions(task));
  for (const { reference, hasFallback, source, path, at } of listReferences(task)) {
    if (reference.kind !== 'task') continue;
    const { taskId, member } = reference;
    const other = listOf.get(taskId);
    const obstacle = findObstacle(task.list, other);
    if (obstacle !== undefined) {
      const message = `{{${source}}}: "${taskId}" is a handler, ${obstacle}`;
      yield { code: 'unknown_reference', message, path, at };
    } else if (
      !hasFallback &&
      member === undefined &&
      mayNotHaveRun(task.list, other) &&
      !warned.has(taskId) &&
      !uncertain.has(taskId)
    ) {
      warned.add(taskId);
      const message = `handler "${task.id}" is skipped when "${taskId}" has no output`;
      const hint = `if it is to run then, write {{${source} ?? null}}; if not, when: "{{${taskId}.output ?? null}}" says so`;
      yield { code: 'may_be_skipped', severity: 'warning', message, path, at, hint };
    }
  }
}

/** Why a task of one list cannot wait for one of another; undefined when it can. */
function findObstacle(list: TaskList, other: TaskList | undefined): string | undefined {
  if (other === undefined || other === 'tasks' || other === list) return undefined;
  if (list === 'tasks') return 'which runs when all tasks have ended';
  if (list === 'finally') return undefined;
  return other === 'finally' ? 'which runs later' : `which runs in another case: "${other}"`;
}
