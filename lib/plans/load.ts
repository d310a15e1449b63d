import { dirname } from 'node:path';
import { readSource } from '../definition/text/source.js';
import { InvalidDefinitionError, type LoadOptions, readDefinition } from '../pipelines/load.js';
import { type Report, reportWith } from '../pipelines/report.js';
import { builtinCatalog } from '../tools/catalog.js';
import { checkPlanSource, type PlanCheck } from './check.js';
import { readPipelines } from './files.js';
import type { Plan } from './plan.js';
import type { PlanStatistics } from './statistics.js';

/**
 * Reads a plan from a YAML or JSON file, and its pipelines from the files that it names (D44).
 *
 * Rejects with `unreadable_file`, or with an InvalidDefinitionError that holds every problem, those of its pipelines
 * among them.
 */
export async function loadPlan(file: string, { tools = [], ...known }: LoadOptions = {}): Promise<Plan> {
  const source = readSource(await readDefinition(file));
  const pipelines = await readPipelines(source, dirname(file), file);
  const check = checkPlanSource(source, { ...known, catalog: builtinCatalog().with(tools), pipelines });
  if (!check.ok || check.plan === undefined) throw new InvalidDefinitionError(check.problems);
  return check.plan;
}

/** The report on a plan (D33, D41). */
export type PlanReport = Report<PlanStatistics>;

export function planReportOf(check: PlanCheck): PlanReport {
  return reportWith('Plan', check.problems, check.ok ? check.statistics : null);
}
