import type { Path } from '../../definition/problem.js';
import { RESERVED_TASK_IDS } from '../../definition/schema/fields.js';
import type { Finding } from '../../definition/schema/structure.js';
import type { Catalog } from '../../tools/catalog.js';
import { literalInputProblems } from '../../tools/inputs/input-check.js';
import type { Draft, DraftTask } from '../draft.js';
import type { Suggestions } from '../suggestions.js';

/** Task ids that stand twice or would hide a namespace (D1); tools that do not exist; inputs that they do not take. */
export function taskFindings(draft: Draft, catalog: Catalog, suggestions: Suggestions): Finding[] {
  const seen = new Map<string, Path>();
  return draft.tasks.flatMap((task) => {
    const findings = [...idFindings(task, seen), ...toolFindings(task, catalog, suggestions)];
    seen.set(task.id, task.path);
    return findings;
  });
}

function idFindings({ id, path }: DraftTask, seen: ReadonlyMap<string, Path>): Finding[] {
  const at = [...path, 'id'];
  if (RESERVED_TASK_IDS.includes(id)) {
    const message = `"${id}" is a namespace of templates and cannot name a task`;
    return [{ code: 'reserved_id', message, path: at, hint: `call it "${id}_task", say` }];
  }
  const first = seen.get(id);
  if (first === undefined) return [];
  const message = `two tasks are called "${id}"; the first is task ${Number(first[1]) + 1}`;
  return [{ code: 'duplicate_task', message, path: at }];
}

function toolFindings(task: DraftTask, catalog: Catalog, suggestions: Suggestions): Finding[] {
  if (task.tool === undefined) return [];
  const tool = catalog.get(task.tool);
  if (tool === undefined) {
    const hint = suggestions.hint(
      task.tool,
      catalog.names(),
      '`wavetrain tools` lists them; --tools adds your own',
    );
    const path = [...task.path, 'tool'];
    return [{ code: 'unknown_tool', message: `there is no tool "${task.tool}"`, path, ...hint }];
  }
  return literalInputProblems(tool, task.literalInputs).map(({ code, message, path, hint }) => ({
    code,
    message,
    path: [...task.path, 'inputs', ...path],
    ...(hint === undefined ? {} : { hint }),
    ...(code === 'unknown_input' ? { at: 'key' as const } : {}),
  }));
}
