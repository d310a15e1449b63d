import type { RunStatus } from '../../machines/types.js';
import type { ExecutionOptions, PlanInputs, RunInputs } from '../execution/run-inputs.js';
import type { RunRecord } from '../runs/record.js';
import type { ToolMetadata } from '../tools/metadata.js';

/** Ends the waiting for a request, and the request. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

/** A definition: text in YAML or JSON, or the object that it stands for. */
export type GivenDefinition = string | object;

/** What a run that is waited for starts from. A definition as text travels alone: see {@link Submission}. */
export interface RunRequest extends Omit<RunInputs, 'pipeline' | 'tenant_id'> {
  /** A definition as an object; parse YAML first when something else goes with it. */
  readonly pipeline: object;
  readonly options?: ExecutionOptions;
}

export interface AsyncRunRequest extends RunRequest {
  /** Namespace on the blackboard, and who may see the run. */
  readonly tenant_id?: string | undefined;
}

/** Sub-pipeline id to its pipeline: an object, or text in YAML or JSON. */
export type GivenPipelines = Readonly<Record<string, GivenDefinition>>;

/** What a run of a plan that is waited for starts from. */
export interface PlanRunRequest extends Omit<PlanInputs, 'plan' | 'tenant_id'> {
  /** A plan as an object; parse YAML first when something else goes with it. */
  readonly plan: object;
  /** The pipelines that do not stand in the plan: a server reads no files. */
  readonly pipelines?: GivenPipelines;
}

export interface AsyncPlanRunRequest extends PlanRunRequest {
  /** Namespace on the blackboard, and who may see the run. */
  readonly tenant_id?: string | undefined;
}

/** A request, or the text of a definition in YAML or JSON that needs nothing beside it. */
export type Submission<T extends object> = string | T;

export interface CheckOptions extends RequestOptions {
  /** Values that the run will be given for the inputs of the pipeline or plan. */
  readonly inputs?: RunInputs['inputs'];
  /** Values that the run will be given as session. */
  readonly session?: RunInputs['session'];
}

export interface PlanCheckOptions extends CheckOptions {
  /** The pipelines that do not stand in the plan. */
  readonly pipelines?: GivenPipelines;
}

export interface SubmitOptions extends RequestOptions {
  /** Makes it safe to submit again: the same key and request answer the same run (D36). */
  readonly idempotencyKey?: string | undefined;
}

export interface RecordOptions extends RequestOptions {
  /** Seconds, at most 60, that the server waits for the run to settle before it answers. */
  readonly wait?: number | undefined;
}

export interface ChangeOptions extends RequestOptions {
  /** Of the record that is known already. */
  readonly etag?: string | undefined;
  /** Seconds, at most 60, that the server waits for any change. */
  readonly wait?: number | undefined;
}

/** A record and the version of it; `record` is null when it is the one that was known already. */
export interface VersionedRecord {
  readonly record: RunRecord | null;
  readonly etag: string;
}

/** Which runs are wanted. */
export interface ListQuery extends RequestOptions {
  readonly status?: RunStatus | undefined;
  readonly pipeline_id?: string | undefined;
  readonly tenant_id?: string | undefined;
  /** Runs on one page, 1 to 500. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface CancelOptions extends RequestOptions {
  /** Also tell the tools in flight to stop. */
  readonly force?: boolean | undefined;
}

export interface RerunOptions extends RequestOptions {
  /** `failed`, or the id of a task, or of a sub-pipeline of a plan; without it all of it runs again (D35). */
  readonly from?: string | undefined;
}

export interface ToolList {
  /** Names. */
  readonly tools: readonly string[];
  readonly metadata: readonly ToolMetadata[];
}
