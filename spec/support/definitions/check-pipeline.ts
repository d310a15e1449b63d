import type { Problem } from '../../../lib/definition/problems/problem.js';
import type { CheckResult } from '../../../lib/pipelines/pipeline.js';
import type { CheckOptions } from '../../../lib/pipelines/check-context.js';
import { checkPipeline } from '../../../lib/pipelines/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

export function checkPipelineText(text: string, options: Partial<CheckOptions> = {}): CheckResult {
  return checkPipeline(text, { catalog: builtinCatalog(), ...options });
}

/** Wraps a YAML list of tasks in a pipeline. */
export function wrapTasks(tasks: string): string {
  return `pipeline:\n  id: spec\n  goal: be checked\n  tasks:\n${tasks.replaceAll(/^/gm, '    ')}\n`;
}

/** Checks a pipeline of a YAML list of tasks. */
export function checkTaskList(tasks: string, options?: Partial<CheckOptions>): CheckResult {
  return checkPipelineText(wrapTasks(tasks), options);
}

/** Formats the problems of a check as `code at /path`. */
export function formatProblems({ problems }: CheckResult): string[] {
  return problems.map(({ code, path }) => `${code} at ${path}`);
}

/** Returns the only problem. @throws Error when there are none or several */
export function onlyProblem({ problems }: { readonly problems: readonly Problem[] }): Problem {
  const [problem] = problems;
  if (problems.length !== 1 || problem === undefined)
    throw new Error(`not one problem: ${JSON.stringify(problems, null, 1)}`);
  return problem;
}
