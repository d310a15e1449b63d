/** Lazy boundary: checks and draws plans. Imported when a definition is a plan, because most are pipelines. */
export { checkPlanSource } from '../../plans/check.js';
export {
  createPlanGraph,
  renderPlanDot,
  renderPlanMermaid,
  renderPlanSvg,
  renderPlanText,
} from '../../plans/graph.js';
export { createPlanReport } from '../../plans/report.js';
export { readPipelines } from '../../plans/load.js';
export { toPipelineInputs } from '../../plans/plan.js';
