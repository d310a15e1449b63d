import { buildReport } from '../pipelines/report.js';
import type { PlanCheckResult } from './check.js';
import type { PlanReportSchema } from '../common/wire/report.js';
import type { Shape } from '../common/wire/shape.js';

/** The report on a plan (D33, D41). */
export interface PlanReport extends Shape<typeof PlanReportSchema> {}

export function createPlanReport(check: PlanCheckResult): PlanReport {
  return buildReport('Plan', check.problems, check.ok ? check.statistics : null);
}
