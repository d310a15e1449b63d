import type { LiveEvent } from '../../execution/events/event.js';
import type { OpenInspection } from '../../runs/inspection/inspection.js';
import type { Plan } from '../../plans/plan.js';
import type { RunRecord } from '../../runs/record.js';
import type { QueriesApi, RegistryApi } from '../context.js';
import type { StopSignals } from '../input/process-events.js';
import { PipelineRunView, type RunView } from '../progress/run-view.js';
import type { ShellHistory } from './local/history.js';
import type { FormatFailures } from './run-end.js';
import type { TaskReader } from './task-reader.js';
import type { WrittenFiles } from './written-files.js';

/** A run of a pipeline or a plan, ready to be submitted, and how the terminal displays it. */
export interface DisplayedRun extends RunDisplay {
  readonly backend: RunBackend;
  /** The files that the run was read from, which `--events` must not overwrite. */
  readonly filesRead: readonly string[];
  /** Replaces the secrets that the run has used, in what tools print and throw outside of their tasks (D61). */
  readonly mask?: ((text: string) => string) | undefined;
  readonly formatFailures: FormatFailures;
  /** The folder of this machine for the files of the run; undefined when they stay on a server. */
  readonly outputFolder: string | undefined;
  /** True when the run may pause at breakpoints. */
  readonly mayPause?: boolean | undefined;
  /** Keeps the run; undefined when this machine does not. */
  readonly history?: ShellHistory | undefined;
}

/** Executes a run, by the registry of this process or on a server. */
export interface RunBackend extends Pick<RegistryApi, 'cancel'>, Pick<QueriesApi, 'settled'> {
  /** Shows the tasks of the run. */
  readonly reader: TaskReader & Pick<QueriesApi, 'items'>;
  /** The record of the run, and its calls that have failed; undefined for a run of a server. */
  readonly queries?: Pick<QueriesApi, 'record' | 'failedCalls'> | undefined;
  /** Lets a paused run go on. Rejects with `run_not_paused`. */
  resume(runId: string, by: 'continue' | 'step'): Promise<void>;
  /** Starts the run. Resolves with the run id. */
  start(options: StartOptions): Promise<string>;
  /** Finds the files of a settled run, or downloads them until a signal comes. Call before `release`. */
  writtenFiles(record: RunRecord, signals: Pick<StopSignals, 'first'>): Promise<WrittenFiles>;
  /** Call when nobody needs the run any more. Resolves when the process may end. */
  release(runId: string): Promise<void>;
}

export interface StartOptions {
  /** Receives each event; undefined when nobody wants them, so that the run need not create any. */
  readonly onEvent: ((event: LiveEvent) => void) | undefined;
  /** Receives what the actors do, for a recording; undefined when nobody wants it. Only in this process. */
  readonly onInspection?: ((inspection: OpenInspection, record: RunRecord) => void) | undefined;
  /** Prints a line among the events. */
  readonly print: (line: string) => void;
}

interface RunDisplay {
  /** Several sub-pipelines, and so several waves, may run at once (D45). */
  readonly hasParallelWaves: boolean;
  readonly createView: () => RunView;
  /** The names that `--output` takes; undefined if they are not known before the run. */
  readonly listOutputs: (() => string[]) | undefined;
}

type Waves = readonly (readonly string[])[];

/** @param waves the task ids of each wave */
export function displayPipeline(waves: Waves): RunDisplay {
  return {
    hasParallelWaves: false,
    createView: () => new PipelineRunView(waves),
    listOutputs: () => waves.flat(),
  };
}

/** @param concurrency what a flag says, if there is one */
export function displayPlan(
  { subPipelines, definition }: Plan,
  concurrency: number = definition.plan_concurrency ?? 1,
): Promise<RunDisplay> {
  const waves = new Map([...subPipelines].map(([id, { pipeline }]) => [id, pipeline.waves]));
  return displaySubPipelines(waves.size, concurrency, waves);
}

/** @param waves the task ids of each wave of each sub-pipeline; undefined for a run on a server */
export async function displaySubPipelines(
  size: number,
  concurrency: number,
  waves?: ReadonlyMap<string, Waves>,
): Promise<RunDisplay> {
  const { PlanRunView } = await import('../progress/plan-view.js');
  return {
    hasParallelWaves: size > 1 && concurrency > 1,
    createView: () => new PlanRunView(size, waves),
    listOutputs:
      waves && (() => [...waves].flatMap(([id, ofPart]) => ofPart.flat().map((taskId) => `${id}/${taskId}`))),
  };
}
