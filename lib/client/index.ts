/** A client for Wavetrain servers, to be imported as `wavetrain/client`. */
export { WavetrainClient } from './client.js';
export type { ClientOptions } from './client.js';
export type { EventOptions, GapNotice, RunEvent } from './event-feed.js';
export { type ErrorDetail, FailedRunError, RequestError } from './errors.js';
export type {
  AsyncPlanRunRequest,
  AsyncRunRequest,
  CancelOptions,
  ChangeOptions,
  CheckOptions,
  GivenDefinition,
  GivenPipelines,
  ListQuery,
  PlanCheckOptions,
  PlanRunRequest,
  RecordOptions,
  RequestOptions,
  RerunOptions,
  RunRequest,
  Submission,
  SubmitOptions,
  ToolList,
  VersionedRecord,
} from './requests.js';

// What it answers
export type { RunStatus } from '../../machines/types.js';
export type { LiveEvent, TaskEvent } from '../execution/events/event.js';
export type { PlanOutcome, PlanResult } from '../execution/results.js';
export type { RunOutcome, RunResult } from '../execution/results.js';
export type { ExecutionOptions } from '../execution/run-inputs.js';
export type { Graph } from '../pipelines/graph.js';
export type { ValidationReport } from '../pipelines/report.js';
export type { PlanReport } from '../plans/load.js';
export type { PlanStatistics } from '../plans/statistics.js';
export type { RunPage } from '../runs/listing.js';
export type { Acceptance, RunRecord, RunSummary } from '../runs/record.js';
export type { ToolMetadata } from '../tools/metadata.js';
export { type ErrorCode, type TaskFailure, WavetrainError } from '../common/errors.js';
