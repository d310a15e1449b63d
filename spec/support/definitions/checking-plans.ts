import type { Problem } from '../../../lib/definition/problem.js';
import { checkPlan, type PlanCheck, type PlanCheckOptions } from '../../../lib/plans/check.js';
import type { GivenPipeline, Plan } from '../../../lib/plans/plan.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

export function checkingPlan(text: string, options: Partial<PlanCheckOptions> = {}): PlanCheck {
  return checkPlan(text, { catalog: builtinCatalog(), ...options });
}

/** A plan around a YAML list of sub-pipelines. */
export function planOf(subPipelines: string, head = ''): string {
  return `plan:\n  id: spec\n${head}  sub_pipelines:\n${subPipelines.trim().replaceAll(/^/gm, '    ')}\n`;
}

/** A pipeline that stores these keys and reads those, as one line of YAML. */
export function pipelineWith({ stores = [], reads = [] }: { stores?: string[]; reads?: string[] }): string {
  const tasks = [
    ...reads.map((key, index) => `{id: read${index}, tool: mock, inputs: {x: "{{session.${key}}}"}}`),
    ...stores.map((key, index) => `{id: store${index}, tool: store, inputs: {key: ${key}, value: 1}}`),
  ];
  const none = '{id: idle, tool: mock}';
  return `{id: p, goal: g, tasks: [${tasks.length === 0 ? none : tasks.join(', ')}]}`;
}

/** A sub-pipeline whose pipeline keeps exactly to what the plan says, as YAML. */
export function keeping(
  id: string,
  { stores = [], reads = [] }: { stores?: string[]; reads?: string[] },
): string {
  const lists = `reads: [${reads.join(', ')}], stores: [${stores.join(', ')}]`;
  return `- {id: ${id}, ${lists}, pipeline: ${pipelineWith({ stores, reads })}}`;
}

/** A pipeline file for `options.pipelines`. */
export function fileOf(text: string, file = 'b.yaml'): GivenPipeline {
  return { text, file };
}

export function errorsIn({ problems }: PlanCheck): Problem[] {
  return problems.filter(({ severity }) => severity === 'error');
}

/** The problems of a check as `code at /path`, warnings marked. */
export function planCodes({ problems }: PlanCheck): string[] {
  return problems.map(
    ({ code, path, severity }) => `${severity === 'warning' ? 'warning: ' : ''}${code} at ${path}`,
  );
}

/** The one problem there is. */
export function onlyProblem({ problems }: PlanCheck): Problem {
  const [problem] = problems;
  if (problems.length !== 1 || problem === undefined)
    throw new Error(`not one problem: ${JSON.stringify(problems, null, 1)}`);
  return problem;
}

export function soundPlan(check: PlanCheck): Plan {
  if (!check.ok || check.plan === undefined)
    throw new Error(`no sound plan: ${JSON.stringify(check.problems, null, 1)}`);
  return check.plan;
}
