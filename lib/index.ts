/**
 * The public API of the library, in the order of use: load and check a definition, submit a run to an executor, define
 * tools, read the result.
 */

// Definitions
export type { Problem, ProblemCode } from './definition/problems/problem.js';
export type { ParamDefinition, PipelineDefinition, TaskDefinition } from './definition/schema/schema.js';
export type { CheckOptions } from './pipelines/check-context.js';
export { checkDefinition, checkPipeline } from './pipelines/check.js';
export {
  InvalidDefinitionError,
  type LoadOptions,
  loadPipeline,
  parsePipeline,
} from './pipelines/load.js';
export type { CheckResult, Pipeline, Task } from './pipelines/pipeline.js';
export { createReport, type ValidationReport } from './pipelines/report.js';
export type { Statistics } from './pipelines/statistics.js';

// Plans
export type { PlanDefinition, SubPipelineDefinition } from './definition/schema/plan-schema.js';
export {
  checkPlan,
  checkPlanDefinition,
  type PlanCheckResult,
  type PlanCheckOptions,
} from './plans/check.js';
export type { PipelineInput, Plan, SubPipeline } from './plans/plan.js';
export { loadPlan } from './plans/load.js';
export { createPlanReport, type PlanReport } from './plans/report.js';
export type { KeyUse, PlanStatistics } from './plans/statistics.js';

// Compiling requests in plain words
export { compile, type CompilePromptOptions } from './compile/compile.js';
export {
  CompileFailedError,
  type CompileProgress,
  type CompileResult,
  type RepairStep,
} from './compile/result.js';

// Runs
export type { RunStatus } from '../machines/types.js';
export type { LiveEvent, TaskEvent, TaskEventKind } from './execution/events/event.js';
export { DistributedExecutor, type Executor } from './execution/executor.js';
export type { LocalExecutorOptions } from './execution/executor-options.js';
export { LocalExecutor } from './execution/local-executor.js';
export type { PlanOutcome, PlanResult, RunOutcome, RunResult } from './execution/results.js';
export { type InspectedEvents, type InspectionObserver, inspectRun } from './execution/run/inspect-run.js';
export type { ExecutionOptions, PlanInputs, RunInputs } from './execution/prepare/run-inputs.js';
export type { ChartEdge, ChartNode, Statechart } from './runs/inspection/statechart.js';
export type { RunRecord } from './runs/record.js';
export { RunRegistry } from './runs/registry.js';
export type { RerunRequest } from './runs/rerun/rerun.js';
export type { RerunReport } from './runs/rerun/rerun-report.js';
export type { AttemptRecord, ItemPage, ItemRecord, TaskPage, TaskRecord } from './runs/tasks/task-record.js';

// Blackboards
export type { Blackboard } from './execution/session/blackboard.js';
export { MemoryBlackboard } from './execution/session/memory-blackboard.js';

// Tools
export { builtinCatalog, Catalog } from './tools/catalog.js';
export type {
  Connection,
  ConnectionSource,
  DatabaseConnection,
  ObjectStoreConnection,
  ToolConnections,
} from './tools/connections/connection.js';
export {
  type NetworkAccess,
  type NetworkOptions,
  networkAccess,
} from './tools/fetching/network.js';
export type { FileAccess, FolderAccess, ListedEntry, FileStream, PlacedFile } from './tools/files/access.js';
export { fileAccess, type FileAccessOptions } from './tools/files/file-access.js';
export { defineFunction } from './tools/builtin/compute/function.js';
export { defineSource } from './tools/builtin/web/fetch-data/source.js';
export { defineSchema } from './tools/schemas/schema.js';
export type { InputSchema, OutputDeclaration } from './tools/schemas/output.js';
export {
  type CatalogEntry,
  type ComputeFunction,
  defineTool,
  type FetchedResponse,
  type FetchOptions,
  type InputDeclaration,
  type InputDeclarations,
  type InputsOf,
  type PipelineCall,
  type PipelineOutcome,
  type RegisteredSchema,
  type Registries,
  type Tool,
  type ToolBlackboard,
  type ToolContext,
  type ToolInput,
} from './tools/tool.js';

// MCP servers
export {
  type McpServerEntry,
  type OpenedMcpServers,
  openMcpServers,
  type OpenMcpServersOptions,
} from './tools/mcp/open-servers.js';

// Language models
export { modelAccess } from './models/create-models.js';
export type { ModelAnswer, ModelMessage, ModelRequest, ModelUsage, ToolModels } from './models/model.js';
export type { ModelAccess } from './models/models.js';

// Secrets
export type { SecretSource } from './definition/secrets/run-secrets.js';

// Errors
export {
  type ErrorCode,
  type Fault,
  NotImplementedError,
  TaskFailedError,
  type TaskFailure,
  ToolError,
  WavetrainError,
} from './common/errors.js';
export type { Json, JsonObject } from './common/json/json.js';
export { type Clock, type HostClock, systemClock } from './common/clock.js';
