import { buildReport, type Report } from '../pipelines/report.js';
import type { PlanCheckResult } from './check.js';
import type { PlanStatistics } from './statistics.js';

/** The report on a plan (D33, D41). */
export type PlanReport = Report<PlanStatistics>;

export function createPlanReport(check: PlanCheckResult): PlanReport {
  return buildReport('Plan', check.problems, check.ok ? check.statistics : null);
}
