import type { Problem } from '../../../lib/definition/problems/problem.js';
import { checkPlan, type PlanCheckResult, type PlanCheckOptions } from '../../../lib/plans/check.js';
import type { PipelineInput, Plan } from '../../../lib/plans/plan.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

export function checkPlanText(text: string, options: Partial<PlanCheckOptions> = {}): PlanCheckResult {
  return checkPlan(text, { catalog: builtinCatalog(), ...options });
}

/** Wraps a YAML list of sub-pipelines in a plan. */
export function wrapSubPipelines(subPipelines: string, head = ''): string {
  return `plan:\n  id: spec\n${head}  sub_pipelines:\n${subPipelines.trim().replaceAll(/^/gm, '    ')}\n`;
}

/** Checks a plan of a YAML list of sub-pipelines. */
export function checkSubPipelines(list: string, options?: Partial<PlanCheckOptions>): PlanCheckResult {
  return checkPlanText(wrapSubPipelines(list), options);
}

/** Writes a pipeline with these stores and reads as one line of YAML. */
export function pipelineWith({ stores = [], reads = [] }: { stores?: string[]; reads?: string[] }): string {
  const tasks = [
    ...reads.map((key, index) => `{id: read${index}, tool: mock, inputs: {x: "{{session.${key}}}"}}`),
    ...stores.map((key, index) => `{id: store${index}, tool: store, inputs: {key: ${key}, value: 1}}`),
  ];
  const none = '{id: idle, tool: mock}';
  return `{id: p, goal: g, tasks: [${tasks.length === 0 ? none : tasks.join(', ')}]}`;
}

/** Writes a sub-pipeline with a matching inline pipeline as YAML. */
export function matchingSubPipeline(
  id: string,
  { stores = [], reads = [] }: { stores?: string[]; reads?: string[] },
): string {
  const lists = `reads: [${reads.join(', ')}], stores: [${stores.join(', ')}]`;
  return `- {id: ${id}, ${lists}, pipeline: ${pipelineWith({ stores, reads })}}`;
}

/** Creates a pipeline file for `options.pipelines`. */
export function toFile(text: string, file = 'b.yaml'): PipelineInput {
  return { text, file };
}

export function listErrors({ problems }: PlanCheckResult): Problem[] {
  return problems.filter(({ severity }) => severity === 'error');
}

/** Formats the problems of a check as `code at /path`, with warnings marked. */
export function formatPlanProblems({ problems }: PlanCheckResult): string[] {
  return problems.map(
    ({ code, path, severity }) => `${severity === 'warning' ? 'warning: ' : ''}${code} at ${path}`,
  );
}

export function validPlan(check: PlanCheckResult): Plan {
  if (!check.ok || check.plan === undefined)
    throw new Error(`the plan is not valid: ${JSON.stringify(check.problems, null, 1)}`);
  return check.plan;
}
