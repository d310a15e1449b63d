import type { Clock } from '../clock.js';
import type { TaskFailure } from '../errors.js';
import type { FileAccess } from '../tools/tool.js';
import type { AttemptObserver } from './attempt-observer.js';
import type { Journal } from './journal.js';
import type { Options } from './options.js';
import type { OutputBudget } from './output-budget.js';
import type { DeclaredStores } from './run-place.js';
import type { Session } from './session.js';

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
  /** How many runs stand above this one. */
  readonly depth: number;
  /** Where the bytes that a tool returned go. */
  artifactPath(taskId: string): string;
  /** A tool is about to be called for the first time by an invocation (D20). */
  countInvocation(): void;
}
