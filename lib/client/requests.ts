import type { AuditEntry } from '../audit/audit-entry.js';
import type { RunTrigger } from '../common/wire/started-by.js';
import type { CompileProgress } from '../compile/result.js';
import type { ExecutionOptions, PlanInputs, RunInputs } from '../execution/prepare/run-inputs.js';
import type { RunRecord } from '../runs/record.js';
import type { EndStatus } from '../runs/store/run-archive.js';
import type { StatisticsPeriod } from '../runs/store/statistics/statistics-query.js';
import type { RunStatusFilter } from '../runs/views/run-query.js';
import type { ArtifactQuery } from '../runs/tasks/run-files.js';
import type { TaskOptions, TaskQuery } from '../runs/tasks/task-record.js';
import type { BlackboardOptions } from '../runs/views/submission-view.js';
import type {
  DefinitionTextSchema,
  NamedPipelineDetailsSchema,
  NamedPipelinePageSchema,
  NamedPipelineSchema,
  SavedFileSchema,
} from '../common/wire/named-pipeline.js';
import type { ToolListSchema } from '../common/wire/report.js';
import type { Shape } from '../common/wire/shape.js';

export interface RequestOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
}

/** A definition: an object, or its text in YAML or JSON. */
export type DefinitionOrText = string | object;

/** Starts the run of a pipeline. */
export interface RunRequest extends Omit<RunInputs, 'pipeline' | 'tenant_id'> {
  readonly pipeline: DefinitionOrText;
  readonly options?: ExecutionOptions;
}

interface TenantChoice {
  /** Namespace on the blackboard; also determines who may see the run. */
  readonly tenant_id?: string | undefined;
}

export interface AsyncRunRequest extends RunRequest, TenantChoice {}

/** Sub-pipeline id to its pipeline. */
export type SubPipelineDefinitions = Readonly<Record<string, DefinitionOrText>>;

interface OtherPipelines {
  /** The pipelines that the plan does not contain: a server reads no files. */
  readonly pipelines?: SubPipelineDefinitions;
  /** The id of a plan of the folder of the server, in whose place this one finds the other pipelines (D69). */
  readonly beside?: string | undefined;
}

/** Starts the run of a plan. */
export interface PlanRunRequest extends Omit<PlanInputs, 'plan' | 'tenant_id'>, OtherPipelines {
  readonly plan: DefinitionOrText;
}

export interface AsyncPlanRunRequest extends PlanRunRequest, TenantChoice {}

/** Has a language model write a definition. */
export interface CompileRequestOptions extends RequestOptions {
  /** `provider/model`. Default: the model that the server has for this. */
  readonly model?: string | undefined;
  /** How often the model is asked to repair its answer, 0 to 5. Default 2. */
  readonly maxRepairs?: number | undefined;
  /** Receives what the model is doing, as it begins. An error that it throws ends the request. */
  readonly onProgress?: ((progress: CompileProgress) => void) | undefined;
  readonly tenant_id?: string | undefined;
}

export interface ValidateOptions extends RequestOptions {
  /** Values that the run will get as inputs of the pipeline or plan. */
  readonly inputs?: RunInputs['inputs'];
  /** Values that the run will get as session. */
  readonly session?: RunInputs['session'];
}

export interface ValidatePlanOptions extends ValidateOptions, OtherPipelines {}

export interface SubmitOptions extends RequestOptions {
  /** Makes it safe to send the request again: the same key with the same request is one run (D36). */
  readonly idempotencyKey?: string | undefined;
}

export interface RecordOptions extends RequestOptions {
  /** Seconds, at most 60, that the server waits for the run to settle. */
  readonly wait?: number | undefined;
}

export interface ChangeOptions extends RequestOptions {
  /** Version of the last record that the caller has. */
  readonly etag?: string | undefined;
  /** Seconds, at most 60, that the server waits for a change. */
  readonly wait?: number | undefined;
}

export interface VersionedRecord {
  /** Null when the record has not changed. */
  readonly record: RunRecord | null;
  readonly etag: string;
}

/** Filters and pages the list of runs. */
export interface ListQuery extends RequestOptions {
  readonly status?: RunStatusFilter | undefined;
  readonly pipeline_id?: string | undefined;
  readonly tenant_id?: string | undefined;
  /** Only runs that a schedule, or a webhook, has started. */
  readonly trigger?: RunTrigger | undefined;
  /** Only runs that were started so: a kind such as `schedule`, or a kind and a name, as in `key:ci`. */
  readonly started_by?: string | undefined;
  /** Only runs with all these labels, as in `team:billing`. */
  readonly label?: readonly string[] | undefined;
  /** Only runs whose id begins or ends with these characters, at least four. */
  readonly id?: string | undefined;
  /**
   * Only runs with this text in the id of their pipeline, their goal, their error or a label, in any case, or at the beginning or
   * end of their id, from six characters on.
   */
  readonly text?: string | undefined;
  /** Only runs that were submitted at this time or later, as in `2026-01-31T08:00:00Z`. */
  readonly created_after?: string | undefined;
  /** Only runs that were submitted earlier. */
  readonly created_before?: string | undefined;
  /** Also returns `counts`, the runs by status on all pages together, and `queue`, what queued ones wait for. */
  readonly counts?: boolean | undefined;
  /** Page size, 1 to 500. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** Selects the settled runs to delete: by one filter at least. */
export interface RemoveQuery extends RequestOptions {
  /** Only runs that settled earlier, as in `2026-01-31T08:00:00Z`. */
  readonly finished_before?: string | undefined;
  readonly pipeline_id?: string | undefined;
  readonly status?: EndStatus | undefined;
  readonly tenant_id?: string | undefined;
  /** Only runs with all these labels, as in `team:billing`. */
  readonly label?: readonly string[] | undefined;
  /** Only runs with this text, as the list of runs finds them. */
  readonly text?: string | undefined;
}

/** Selects and pages the statistics of pipelines. */
export interface StatsQuery extends RequestOptions {
  /** The beginning of the time that is counted, as in `2026-01-31T08:00:00Z`. Default: 7 days, by hour 24 hours, before `to`. */
  readonly from?: string | undefined;
  /** Its end. Default: now. */
  readonly to?: string | undefined;
  /** The time of a row. Default `day`. */
  readonly by?: StatisticsPeriod | undefined;
  readonly pipeline_id?: string | undefined;
  readonly tenant_id?: string | undefined;
  /** Page size, 1 to 5,000. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** Filters and pages the audit (D95). */
export interface AuditListQuery extends RequestOptions {
  /** Only entries of these: a kind such as `schedule`, or a kind and a name, as in `key:ci`. */
  readonly who?: string | undefined;
  readonly action?: AuditEntry['action'] | undefined;
  /** Only entries about these: a kind such as `pipeline`, or a kind and an id, as in `pipeline:hello`. */
  readonly object?: string | undefined;
  readonly result?: AuditEntry['result'] | undefined;
  readonly tenant_id?: string | undefined;
  /** Only entries of this time or later, as in `2026-01-31T08:00:00Z`. */
  readonly from?: string | undefined;
  /** Only earlier entries. */
  readonly to?: string | undefined;
  /** Page size, 1 to 500. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** Filters and pages the tasks of a run, or the items of a fan-out. */
export interface TaskListQuery extends RequestOptions, TaskQuery {}

export interface TaskRequestOptions extends RequestOptions, TaskOptions {}

export interface BlackboardRequest extends RequestOptions, BlackboardOptions {}

/** Pages the files of a run. */
export interface ArtifactListQuery extends RequestOptions, ArtifactQuery {}

interface SequenceQuery extends RequestOptions {
  /** Number of the last entry or event that the caller has. Default 0. */
  readonly after?: number | undefined;
  /** Largest number of entries or events; default 1000, at most 10,000. */
  readonly limit?: number | undefined;
}

/** Pages the entries of an inspection. */
export interface InspectionQuery extends SequenceQuery {}

export interface EventListQuery extends SequenceQuery {}

/** The snapshot of one actor, with those of its children. */
export interface ActorSnapshot {
  readonly status: string;
  readonly value?: unknown;
  readonly children?: Readonly<Record<string, { readonly src: string; readonly snapshot: ActorSnapshot }>>;
}

export interface CancelOptions extends RequestOptions {
  /** Also stops the tools in flight. */
  readonly force?: boolean | undefined;
}

/** Runs a settled run again, with changes if there are any (D60). */
export interface RerunOptions
  extends SubmitOptions,
    Pick<RunInputs, 'params' | 'inputs' | 'session' | 'options' | 'labels'>,
    Pick<PlanInputs, 'plan_concurrency'> {
  /**
   * `failed`, or the id of a task, or of a sub-pipeline of a plan, or `SUB_PIPELINE/TASK`; or items of a fan-out:
   * `fetch[22]`, `fetch[3,7-9]`, of a plan `load/fetch[22]` (D60). By default everything runs again (D35), or with changes
   * what has not succeeded and what has changed.
   */
  readonly from?: string | undefined;
  /** The changed definition of a pipeline. */
  readonly pipeline?: DefinitionOrText | undefined;
  /** The changed definition of a plan, with its `pipelines`. */
  readonly plan?: DefinitionOrText | undefined;
  readonly pipelines?: SubPipelineDefinitions | undefined;
}

/** Names one definition in the folder of a server. */
export interface NamedOptions extends RequestOptions, TenantChoice {}

/** Filters and pages the definitions in the folder of a server. */
export interface PipelineListQuery extends RequestOptions, TenantChoice {
  /** Page size, 1 to 500. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** The values of a run of a definition in the folder of a server, besides its params. */
export interface NamedRunOptions
  extends SubmitOptions,
    TenantChoice,
    Pick<RunInputs, 'inputs' | 'session' | 'options' | 'breakpoints' | 'labels' | 'collect_events'>,
    Pick<PlanInputs, 'plan_concurrency'> {}

/** A pipeline or a plan in the folder of a server. */
export interface FolderPipeline extends Shape<typeof NamedPipelineSchema> {}

export interface FolderPipelineDetails extends Shape<typeof NamedPipelineDetailsSchema> {}

export interface FolderPipelinePage extends Shape<typeof NamedPipelinePageSchema> {}

/** The text of a file of that folder. */
export interface DefinitionText extends Shape<typeof DefinitionTextSchema> {}

/** A file of that folder that was changed. */
export interface SavedPipeline extends Shape<typeof SavedFileSchema> {}

/** A rerun of which is only asked what it would do. */
export type RerunPreviewOptions = Omit<RerunOptions, 'idempotencyKey'>;

export interface ToolList extends Shape<typeof ToolListSchema> {}
