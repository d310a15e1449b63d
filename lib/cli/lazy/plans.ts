/** What it takes to check and draw a plan, to be imported when there is one: most definitions are pipelines. */
export { checkPlanSource } from '../../plans/check.js';
export { readPipelines } from '../../plans/files.js';
export { planDot, type PlanGraph, planGraphOf, planMermaid, planText } from '../../plans/graph.js';
export { planReportOf } from '../../plans/load.js';
