/** A client for Wavetrain servers, imported as `wavetrain/client`. */
export { type ClientOptions, WavetrainClient } from './client.js';
export type { EventOptions, GapNotice, StreamedEvent } from './event-feed.js';
export type { PipelinesClient } from './pipelines.js';
export { FailedRunError, RequestError } from './errors.js';
export type * from './requests.js';

// The types of responses
export type { RunStatus, TaskStatus } from '../../machines/types.js';
export type { CompileProgress, CompileResult, RepairStep } from '../compile/result.js';
export type { EventList as ListedEvents, LiveEvent, TaskEvent } from '../execution/events/event.js';
export type { ErrorCause, ErrorRecord } from '../execution/invocation/thrown-error.js';
export type { AuditEntry, AuditPage } from '../audit/audit-entry.js';
export type { RunTrigger, StartedBy } from '../common/wire/started-by.js';
export type { PlanOutcome, PlanResult, RunArtifact, RunOutcome, RunResult } from '../execution/results.js';
export type { ExecutionOptions } from '../execution/prepare/run-inputs.js';
export type { Graph } from '../pipelines/drawing/graph.js';
export type { ValidationReport } from '../pipelines/report.js';
export type { DefinitionGraph, PlanGraph } from '../plans/graph.js';
export type { PlanReport } from '../plans/report.js';
export type { PlanStatistics } from '../plans/statistics.js';
export type {
  ActorStatus,
  InspectionEntry,
  InspectionList,
  InspectionOrigin,
} from '../runs/inspection/entry.js';
export type { RunQueue } from '../runs/queue/admission.js';
export type { RunCounts, RunPage } from '../runs/views/run-listing.js';
export type { PipelineStatistics, StatisticsPeriod } from '../runs/store/statistics/statistics-query.js';
export type { StatisticsPage } from '../runs/store/statistics/statistics-request.js';
export type { RunStatusFilter } from '../runs/views/run-query.js';
export type { BlackboardView, EditableDefinition } from '../runs/views/submission-view.js';
export type { AcceptedRun, RunRecord } from '../runs/record.js';
export type { RunSummary } from '../common/wire/run-summary.js';
export type { ArtifactPage } from '../runs/tasks/run-files.js';
export type { AcceptedRerun, RerunningTask, RerunReport, RerunTask } from '../runs/rerun/rerun-report.js';
export type {
  AttemptRecord,
  ItemCounts,
  ItemPage,
  ItemRecord,
  TaskPage,
  TaskRecord,
} from '../runs/tasks/task-record.js';
export type { ToolMetadata } from '../tools/catalog.js';
export { type ErrorCode, type ErrorDetail, type TaskFailure, WavetrainError } from '../common/errors.js';
