import type { Problem } from '../../../lib/definition/problem.js';
import { type Check, type CheckOptions, checkPipeline } from '../../../lib/pipelines/check.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';

export function checking(text: string, options: Partial<CheckOptions> = {}): Check {
  return checkPipeline(text, { catalog: builtinCatalog(), ...options });
}

/** A pipeline around a YAML list of tasks. */
export function pipelineOf(tasks: string): string {
  return `pipeline:\n  id: spec\n  goal: be checked\n  tasks:\n${tasks.replaceAll(/^/gm, '    ')}\n`;
}

/** The problems of a check as `code at /path`. */
export function codes({ problems }: Check): string[] {
  return problems.map(({ code, path }) => `${code} at ${path}`);
}

/** The one problem there is. */
export function only({ problems }: Check): Problem {
  const [problem] = problems;
  if (problems.length !== 1 || problem === undefined)
    throw new Error(`not one problem: ${JSON.stringify(problems, null, 1)}`);
  return problem;
}
