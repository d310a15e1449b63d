import type { Diagnostic } from '../../definition/diagnostic.js';
import type { Path } from '../../definition/problem.js';
import { RESERVED_TASK_IDS } from '../../definition/schema/fields.js';
import type { Suggestions } from '../../definition/suggest.js';
import type { Catalog } from '../../tools/catalog.js';
import { findLiteralInputProblems } from '../../tools/inputs/literal-inputs.js';
import type { DraftTask, PipelineDraft } from '../draft.js';

/** Checks that task ids are unique and not reserved (D1), that the tools exist, and that they take the inputs. */
export function* checkTasks(
  draft: PipelineDraft,
  catalog: Catalog,
  suggestions: Suggestions,
): Generator<Diagnostic | undefined> {
  const seen = new Map<string, Path>();
  for (const task of draft.tasks) {
    yield;
    yield* checkId(task, seen);
    yield* checkTool(task, catalog, suggestions);
    seen.set(task.id, task.path);
  }
}

function checkId({ id, path }: DraftTask, seen: ReadonlyMap<string, Path>): Diagnostic[] {
  const idPath = [...path, 'id'];
  if (RESERVED_TASK_IDS.includes(id)) {
    const message = `"${id}" is a template namespace and cannot be a task id`;
    return [
      { code: 'reserved_id', message, path: idPath, hint: `rename the task, for example to "${id}_task"` },
    ];
  }
  const first = seen.get(id);
  if (first === undefined) return [];
  const message = `duplicate task id "${id}"; the first is task ${Number(first[1]) + 1}`;
  return [{ code: 'duplicate_task', message, path: idPath }];
}

function* checkTool(task: DraftTask, catalog: Catalog, suggestions: Suggestions): Generator<Diagnostic> {
  if (task.tool === undefined) return;
  const tool = catalog.get(task.tool);
  if (tool === undefined) {
    const otherwise = '`wavetrain tools` lists them; --tools adds your own';
    const hint = suggestions.hint(task.tool, catalog.names(), otherwise);
    const path = [...task.path, 'tool'];
    yield { code: 'unknown_tool', message: `there is no tool "${task.tool}"`, path, hint };
    return;
  }
  for (const { code, message, path, hint } of findLiteralInputProblems(tool, task.literalInputs)) {
    yield {
      code,
      message,
      path: [...task.path, 'inputs', ...path],
      hint,
      ...(code === 'unknown_input' ? { at: 'key' as const } : {}),
    };
  }
}
