import type { Blackboard } from '../../blackboard/blackboard.js';
import type { Clock } from '../../common/clock.js';
import type { JsonObject } from '../../common/json.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { FileAccess } from '../../tools/tool.js';
import type { AttemptObserver } from '../invocation/attempt-observer.js';
import type { ExecutionOptions } from '../run-inputs.js';
import type { Outcome } from '../run/task-work.js';
import type { Options } from './options.js';

/** What surrounds all runs of an executor. */
export interface RunSurroundings {
  readonly clock: Clock;
  readonly random: () => number;
  readonly files: FileAccess;
  readonly outputLimitBytes: number;
  /** Of all outputs of a run together. */
  readonly runOutputLimitBytes: number;
  /** Folder for the bytes that tools return; made when first needed. */
  readonly artifactFolder: string;
  /** Hears of every attempt; without one nothing is spent on telling. */
  readonly onAttempt: AttemptObserver | undefined;
}

/** Run inputs that were checked: values of every parameter, inputs merged, options read. */
export interface PreparedRun {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly tenantId: string;
  readonly params: JsonObject;
  readonly inputs: JsonObject;
  readonly session: JsonObject;
  readonly goal: string;
  readonly options: Options;
  /** The options as they were given, for a rerun. */
  readonly given: ExecutionOptions;
  /** What it takes in memory, in bytes, roughly. */
  readonly weight: number;
  readonly collectEvents: boolean;
  /** Undefined: a fresh one. */
  readonly blackboard: Blackboard | undefined;
  /** Nobody brought it along: it is made for this run, or for the plan that the run is part of. */
  readonly isOurs: boolean;
  /** The run that this one repeats in part (D35). */
  readonly origin: Origin | undefined;
}

/** An earlier run that a rerun takes over from (D35). */
export interface Origin {
  readonly runId: string;
  /** By task id: these tasks publish what they published then, instead of calling their tools again. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
}

/** An earlier run of a plan: what is taken over from each of its sub-pipelines, by id. */
export interface PlanOrigin {
  readonly runId: string;
  readonly subRuns: ReadonlyMap<string, Origin>;
}
