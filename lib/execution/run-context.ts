import type { HandleEvent, RunActor } from '../../machines/run.js';
import type { JsonObject } from '../common/json/json.js';
import type { Clock } from '../common/clock.js';
import type { TaskFailure } from '../common/errors.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import type { TaskPools } from '../common/scheduling/task-pools.js';
import type { ModelAccess } from '../models/models.js';
import type { CommandAccess } from '../tools/commands/command-access.js';
import type { ConnectionSource } from '../tools/connections/connection.js';
import type { NetworkAccess } from '../tools/fetching/network.js';
import type { FileAccess } from '../tools/files/access.js';
import type { PipelineCall, PipelineOutcome } from '../tools/tool.js';
import type { Journal } from './events/journal.js';
import type { PlacedHistory } from './history/run-history.js';
import type { ArtifactStore } from './invocation/files/artifact-store.js';
import type { AttemptObserver } from './invocation/attempt/attempt-observer.js';
import type { WaitingCalls } from './invocation/waiting-calls.js';
import type { OutputCache } from './invocation/cache/output-cache.js';
import type { StagedFiles } from './invocation/files/staged-files.js';
import type { MemoryBudget } from './memory-budget.js';
import type { CalledPipelines } from './nested/called-pipelines.js';
import type { NestedRunLimiter } from './nested/nested-run-limiter.js';
import type { PreparedRun } from './prepare/prepare-run.js';
import type { StepRunner } from './prepare/step-runner.js';
import type { RootRun, EndOfTasks } from './run/run-namespace.js';
import type { Session } from './session/session.js';
import type { SessionOverrides, Write } from './session/session-overrides.js';

/** The services and limits that all runs of an executor depend on. */
export interface RunDependencies {
  readonly clock: Clock;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly files: FileAccess;
  readonly network: NetworkAccess;
  /** The programs that tasks may start (D88). */
  readonly commands: CommandAccess;
  /** Undefined when there are none (D92). */
  readonly connections: ConnectionSource | undefined;
  readonly models: ModelAccess;
  /** Checks the pipelines that tasks run. */
  readonly stepRunner: StepRunner;
  /** Maximum output of one invocation. */
  readonly outputLimitBytes: number;
  /** Maximum memory of what a run makes and keeps, when there is no pool. */
  readonly runOutputLimitBytes: number;
  /** The memory that all runs share; undefined when each run has a limit of its own. */
  readonly memory: MemoryPool | undefined;
  /** The disk that large files of all runs share; undefined when it is unlimited. */
  readonly largeFiles: MemoryPool | undefined;
  /** Maximum number of nested runs of a submitted run at once, at every depth. */
  readonly maxNestedPipelines: number;
  /** The files for bytes that tools return. */
  readonly artifacts: ArtifactStore;
  /** Outputs that tasks with `cache` share (D65). */
  readonly cache: OutputCache;
  /** The pools of which calls take places (D81). */
  readonly pools: TaskPools;
  /** Returns the address of the page of a run; null when it has none. */
  readonly urlOfRun: (runId: string) => string | null;
  /** Undefined when nobody observes attempts. */
  readonly onAttempt: AttemptObserver | undefined;
}

/** The keys that a sub-pipeline may write (D46). */
export interface DeclaredStores {
  readonly subPipeline: string;
  readonly keys: ReadonlySet<string>;
  /** Finds another sub-pipeline that lists a key, which a templated store may therefore not write (D55). */
  readonly plan: { findOtherUser(key: string, subPipelineId: string): string | undefined };
}

/** The services and values that a sub-run or nested run shares with the run that contains it. */
export interface ParentRunContext {
  /** The run that was submitted. */
  readonly origin: RootRun;
  /** Set for the handlers of a plan (D80): how it has ended, and the event with which they begin. */
  readonly handledPlan?: { readonly end: EndOfTasks; readonly event: HandleEvent };
  /** The actor that the plan's machine created; undefined for a nested run, which creates its own. */
  readonly actor: RunActor | undefined;
  readonly journal: Journal;
  /** The `keyPath` of the run's services. */
  readonly keyPath: string;
  /** Undefined when nothing of the run is kept for another process (D68). */
  readonly history: PlacedHistory | undefined;
  /** The submitted session values at the start of a sub-run; undefined for a nested run, which is given its own. */
  readonly overrides: SessionOverrides | undefined;
  /** Called with each failure as it happens; undefined when the parent does not count failures. */
  readonly onFailure: ((failure: TaskFailure) => void) | undefined;
  /** The keys that tasks may write; undefined when they may write any. */
  readonly stores: DeclaredStores | undefined;
  /** Names of the pipelines that run inside each other, the outermost first, this one last. */
  readonly pipelinePath: readonly string[];
  /** Called when an attempt fails with a non-retryable error, so that the calling task does not retry the nested run. */
  readonly onPermanentFailure: (() => void) | undefined;
  readonly nestedRunLimiter: NestedRunLimiter;
  /** Undefined for a sub-run, which checks the pipelines that it calls itself. */
  readonly calledPipelines: CalledPipelines | undefined;
  /** The pool of the task that runs this pipeline, or of one further out; undefined when none has one (D81). */
  readonly heldPool: string | undefined;
  /** The attempt that runs this pipeline inside its task; undefined for a sub-run. */
  readonly callingAttempt: CallingAttempt | undefined;
}

/** The services that the invocations of one run share. */
export interface InvocationServices {
  readonly prepared: PreparedRun;
  readonly dependencies: RunDependencies;
  /** Undefined for a submitted run. */
  readonly parent: ParentRunContext | undefined;
  readonly journal: Journal;
  /** Undefined when nothing of the run is kept for another process (D68). */
  readonly history: PlacedHistory | undefined;
  readonly session: Session;
  /** Values that tools share for the life of the run. */
  readonly memory: Map<string, unknown>;
  /** The memory of the run, which a sub-run shares with its plan. */
  readonly budget: MemoryBudget;
  /** Runs pipelines inside tasks. */
  readonly nestedRuns: {
    /** Rejects with a ToolError. @param models that the pipeline asks */
    run(call: PipelineCall, attempt: CallingAttempt, models: ModelAccess): Promise<PipelineOutcome>;
  };
  /** The calls that wait for places of pools (D81). */
  readonly waitingCalls: WaitingCalls;
  /** Why calls are stopped, when neither a person nor the end of the run's time is the cause (D80). */
  readonly stopReason: string | undefined;
  /** The namespace `run` of templates (D80); undefined where a task is called so. */
  readonly runNamespace: JsonObject | undefined;
  /** The run that was submitted. */
  readonly origin: RootRun;
  /** Tool invocations started (D20). */
  invocations: number;
  /** Counts a call of a tool, and returns how many there were (D68). */
  countCalls(tool: string, calls: number): number;
  /** Names the calls of this run within the submitted one: empty for the submitted run (D68). */
  readonly keyPath: string;
}

/** The part of a nested run that its attempt uses. */
export interface StoppableRun {
  readonly isSettled: boolean;
  readonly settled: Promise<void>;
  cancel(force: boolean): void;
}

/** The part of an attempt that its nested runs use. */
export interface CallingAttempt {
  readonly task_id: string;
  readonly item_index: number | null;
  /** From 1. */
  readonly attempt: number;
  readonly isOver: boolean;
  /** Files and objects that its tool may read. */
  readonly files: FileAccess;
  /** The files of the attempt, and those of its nested runs. */
  readonly stagedFiles: StagedFiles;
  /** Stops a nested run by force when the attempt ends, or at once when it is over; its invocation settles after it. */
  addNestedRun(run: StoppableRun): void;
  /** Call when a nested run has settled. */
  deleteNestedRun(run: StoppableRun): void;
  /** The number of the pipelines that the attempt has run, from 0. */
  countCall(): number;
  /** Adds writes of a nested run to those of the attempt. */
  addWrites(writes: readonly Write[]): void;
}
