import type { Clock } from '../common/clock.js';
import type { TaskFailure } from '../common/errors.js';
import type { PipelineCall, PipelineOutcome } from '../tools/pipeline-call.js';
import type { FileAccess } from '../tools/tool.js';
import type { AttemptObserver } from './attempt-observer.js';
import type { Journal } from './journal.js';
import type { Options } from './options.js';
import type { OutputBudget } from './output-budget.js';
import type { DeclaredStores } from './run-setting.js';
import type { Session } from './session.js';
import type { Write } from './write.js';

/** What an invocation needs of its run. */
export interface InvocationServices {
  readonly runId: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly options: Options;
  readonly journal: Journal;
  readonly session: Session;
  readonly memory: Map<string, unknown>;
  readonly files: FileAccess;
  readonly outputLimitBytes: number;
  /** Of the whole run. */
  readonly budget: OutputBudget;
  readonly onAttempt: AttemptObserver | undefined;
  /** Told of each failure as it happens, where the run is part of another. */
  readonly onFailure: ((failure: TaskFailure) => void) | undefined;
  /** The keys that tools may write; undefined: any. */
  readonly stores: DeclaredStores | undefined;
  /** Names of the pipelines that run inside each other, the outermost first, this run's last. */
  readonly way: readonly string[];
  /** Told of a failure that no further attempt would mend. */
  readonly onFinal: (() => void) | undefined;
  /** Where the bytes that a tool returned go. */
  artifactPath(taskId: string): string;
  /** A tool is about to be called for the first time by an invocation (D20). */
  countInvocation(): void;
  /** Runs another pipeline for an attempt. Rejects with a ToolError. */
  runPipeline(call: PipelineCall, attempt: CallingAttempt): Promise<PipelineOutcome>;
}

/** An attempt, as the pipelines that it runs know it. */
export interface CallingAttempt {
  readonly task_id: string;
  readonly item_index: number | null;
  readonly isOver: boolean;
  /** Calls back when the attempt ends, unless what is returned was called before. */
  whenOver(end: () => void): () => void;
  /** Writes that are applied as the attempt's own. */
  take(writes: readonly Write[]): void;
}
