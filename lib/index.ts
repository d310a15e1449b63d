/**
 * Wavetrain as a library, in the order of the story: a definition is loaded and checked, a run is submitted to an
 * executor, tools do the work, and a result comes back.
 */

// The definition
export type { Problem, ProblemCode } from './definition/problem.js';
export type { ParamDefinition, PipelineDefinition, TaskDefinition } from './definition/schema/schema.js';
export { type Check, type CheckOptions, checkDefinition, checkPipeline } from './pipelines/check.js';
export { InvalidDefinitionError } from './pipelines/load.js';
export { type LoadOptions, loadPipeline, parsePipeline } from './pipelines/load.js';
export type { Pipeline, Task } from './pipelines/pipeline.js';
export { reportOf, type ValidationReport } from './pipelines/report.js';
export type { Statistics } from './pipelines/waves.js';

// The plan
export type { PlanDefinition, SubPipelineDefinition } from './definition/schema/plan-schema.js';
export { checkPlan, checkPlanDefinition, type PlanCheck, type PlanCheckOptions } from './plans/check.js';
export type { GivenPipeline } from './plans/plan.js';
export { loadPlan } from './plans/load.js';
export type { Plan, SubPipeline } from './plans/plan.js';
export { planReportOf, type PlanReport } from './plans/load.js';
export type { KeyUse, PlanStatistics } from './plans/statistics.js';

// The run
export type { RunStatus } from '../machines/types.js';
export { DistributedExecutor } from './execution/executor.js';
export type { LiveEvent, TaskEvent, TaskEventKind } from './execution/events/event.js';
export type { Executor } from './execution/executor.js';
export { LocalExecutor, type LocalExecutorOptions } from './execution/local-executor.js';
export type { PlanInputs } from './execution/run-inputs.js';
export type { PlanOutcome, PlanResult } from './execution/results.js';
export type { RunOutcome, RunResult } from './execution/results.js';
export type { ExecutionOptions, RunInputs } from './execution/run-inputs.js';
export type { RunRecord } from './runs/record.js';
export { RunRegistry } from './runs/registry.js';

// The blackboard
export type { Blackboard } from './blackboard/blackboard.js';
export { MemoryBlackboard } from './blackboard/memory.js';

// The tools
export { builtinCatalog, Catalog } from './tools/catalog.js';
export { fileAccess } from './tools/files/files.js';
export type { PipelineCall, PipelineOutcome } from './tools/pipeline-call.js';
export {
  defineTool,
  type FileAccess,
  type InputDeclaration,
  type InputDeclarations,
  type InputsOf,
  type OutputDeclaration,
  type Tool,
  type ToolBlackboard,
  type ToolContext,
} from './tools/tool.js';

// What can go wrong
export {
  type ErrorCode,
  type Fault,
  NotImplementedError,
  TaskFailedError,
  type TaskFailure,
  ToolError,
  WavetrainError,
} from './common/errors.js';
export type { Json, JsonObject } from './common/json.js';
export { type Clock, systemClock } from './common/clock.js';
