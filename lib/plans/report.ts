import { type Report, reportWith } from '../pipelines/report.js';
import type { PlanCheck } from './check.js';
import type { PlanStatistics } from './statistics.js';

/** The report on a plan (D33, D41). */
export type PlanReport = Report<PlanStatistics>;

export function planReportOf(check: PlanCheck): PlanReport {
  return reportWith('Plan', check.problems, check.ok ? check.statistics : null);
}
