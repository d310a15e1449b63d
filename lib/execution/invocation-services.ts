import type { Clock } from '../clock.js';
import type { FileAccess } from '../tools/tool.js';
import type { AttemptObserver } from './attempt-observer.js';
import type { Journal } from './journal.js';
import type { Options } from './options.js';
import type { OutputBudget } from './output-budget.js';
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
  /** Where the bytes that a tool returned go. */
  artifactPath(taskId: string): string;
  /** A tool is about to be called for the first time by an invocation (D20). */
  countInvocation(): void;
}
