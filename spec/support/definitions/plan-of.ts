import type { JsonObject } from '../../../lib/common/json.js';
import { checkPlan } from '../../../lib/plans/check.js';
import type { Plan } from '../../../lib/plans/plan.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import type { Tool } from '../../../lib/tools/tool.js';

export interface PlanKnown {
  readonly tools?: readonly Tool[];
  readonly inputs?: JsonObject;
  readonly session?: JsonObject;
}

/** A plan as YAML around its sub-pipelines, given as flow maps; `head` holds further fields, each with its comma. */
export function planText(subPipelines: readonly string[], head = ''): string {
  return `{id: plan, goal: work together, ${head} sub_pipelines: [${subPipelines.join(',\n')}]}`;
}

/** A sub-pipeline as a flow map: its tasks as a flow list, and further fields of its own or of its pipeline. */
export function sub(id: string, tasks: string, own = '', ofPipeline = ''): string {
  const more = own === '' ? '' : `${own}, `;
  return `{id: ${id}, ${more}pipeline: {id: ${id}-pipeline, goal: part ${id}, ${ofPipeline} tasks: [${tasks}]}}`;
}

/** The checked plan. Throws with its problems when it has any that are errors. */
export function planOf(text: string, { tools = [], inputs = {}, session = {} }: PlanKnown = {}): Plan {
  const check = checkPlan(text, { catalog: builtinCatalog().with(tools), inputs, session });
  if (check.ok && check.plan !== undefined) return check.plan;
  throw new Error(check.problems.map(({ message, path }) => `${path}: ${message}`).join('\n'));
}
