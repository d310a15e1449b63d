import type { JsonObject } from '../../../lib/common/json/json.js';
import { checkPlan } from '../../../lib/plans/check.js';
import type { Plan } from '../../../lib/plans/plan.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import type { Tool } from '../../../lib/tools/tool.js';

export interface PlanEnvironment {
  readonly tools?: readonly Tool[];
  readonly inputs?: JsonObject;
  readonly session?: JsonObject;
}

/** Writes a plan around sub-pipelines in flow style; `head` contains further fields, each followed by a comma. */
export function planText(subPipelines: readonly string[], head = ''): string {
  return `{id: plan, goal: work together, ${head} sub_pipelines: [${subPipelines.join(',\n')}]}`;
}

/** Writes a sub-pipeline in flow style, with tasks in flow style and further fields of its own and of its pipeline. */
export function subPipelineText(id: string, tasks: string, own = '', ofPipeline = ''): string {
  const more = own === '' ? '' : `${own}, `;
  return `{id: ${id}, ${more}pipeline: {id: ${id}-pipeline, goal: part ${id}, ${ofPipeline} tasks: [${tasks}]}}`;
}

/** Checks a plan. @throws Error with its problems when it is not valid */
export function parsePlan(
  text: string,
  { tools = [], inputs = {}, session = {} }: PlanEnvironment = {},
): Plan {
  const check = checkPlan(text, { catalog: builtinCatalog().with(tools), inputs, session });
  if (check.ok && check.plan !== undefined) return check.plan;
  throw new Error(check.problems.map(({ message, path }) => `${path}: ${message}`).join('\n'));
}
