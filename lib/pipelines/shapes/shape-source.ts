import { isObject, type JsonObject } from '../../common/json/json.js';
import { HANDLER_LISTS } from '../../definition/schema/fields.js';
import type { Catalog } from '../../tools/catalog.js';
import type { Tool } from '../../tools/tool.js';
import type { PipelineDraft } from '../draft.js';
import { readsItem } from '../flow/conditions.js';
import type { Pipeline } from '../pipeline.js';

/** A task, as far as its output goes. */
export interface ShapedTask {
  readonly id: string;
  readonly tool: Tool | undefined;
  /** As they are written. */
  readonly inputs: JsonObject;
  readonly fansOut: boolean;
  readonly parallelOver: string | undefined;
  /** True when some items may be skipped while others run. */
  readonly mayBeSkipped: boolean;
  readonly collectsErrors: boolean;
}

/** A pipeline, as far as the outputs of its tasks go. */
export interface ShapeSource {
  readonly tasks: readonly ShapedTask[];
  readonly taskIds: ReadonlySet<string>;
  /** Tasks with `when` or `on_error: continue`. */
  readonly uncertain: ReadonlySet<string>;
  readonly inputKeys: ReadonlySet<string>;
  readonly paramNames: ReadonlySet<string>;
  /** The declarations of the params. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The pipelines that tasks run and that are written in place, by task id. */
  readonly nested: ReadonlyMap<string, Pipeline>;
}

/** Reads a pipeline that may be wrong. */
export function shapeSourceOfDraft(
  draft: PipelineDraft,
  definition: unknown,
  catalog: Catalog,
  nested: ShapeSource['nested'],
): ShapeSource {
  const params = isObject(definition) ? definition['params'] : undefined;
  const tasks = draft.tasks.map((task) => ({
    id: task.id,
    tool: task.tool === undefined ? undefined : catalog.get(task.tool),
    inputs: task.literalInputs,
    fansOut: task.fansOut,
    parallelOver: task.parallelOverText,
    mayBeSkipped: task.conditions.some(readsItem),
    collectsErrors: task.fields['on_item_error'] !== undefined,
  }));
  return { ...draft, tasks, params: isObject(params) ? params : {}, nested };
}

/** Reads a checked pipeline, which does not keep the pipelines that are nested in it. */
export function shapeSourceOf({ definition, allTasks, contract }: Pipeline): ShapeSource {
  const declared = [definition.tasks, ...HANDLER_LISTS.map((list) => definition[list] ?? [])].flat();
  const tasks = declared.map(({ id, inputs, parallel_over: parallelOver }) => {
    const task = allTasks.get(id);
    return {
      id,
      tool: task?.tool,
      inputs: (inputs ?? {}) as JsonObject,
      fansOut: parallelOver !== undefined,
      parallelOver,
      mayBeSkipped: (task?.itemConditions.length ?? 0) > 0,
      collectsErrors: task?.collectsErrors === true,
    };
  });
  const uncertain = [...allTasks.values()].filter(
    (task) => task.toleratesFailure || task.conditions.length + task.itemConditions.length > 0,
  );
  const { params = {} } = definition;
  return {
    tasks,
    taskIds: new Set(allTasks.keys()),
    uncertain: new Set(uncertain.map(({ id }) => id)),
    inputKeys: contract.inputs,
    paramNames: new Set(Object.keys(params)),
    params,
    nested: new Map(),
  };
}
