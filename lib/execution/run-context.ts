import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunActor } from '../../machines/run.js';
import type { Clock } from '../common/clock.js';
import type { TaskFailure } from '../common/errors.js';
import type { PipelineCall, PipelineOutcome } from '../tools/pipeline-call.js';
import type { FileAccess } from '../tools/tool.js';
import type { Journal } from './events/journal.js';
import type { AttemptObserver } from './invocation/attempt-observer.js';
import type { OutputBudget } from './memory-budget.js';
import type { Options } from './prepare/options.js';
import type { Write } from './session/given-values.js';
import type { Session } from './session/session.js';

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

/** Where a run stands that is part of another: what it shares with that one. */
export interface RunSetting {
  /** Made by the machine above it; undefined when it has none there. */
  readonly actor: RunActor | undefined;
  readonly journal: Journal;
  /** Of all outputs of the whole. */
  readonly budget: OutputBudget;
  /** Below those of the whole. */
  readonly artifacts: ArtifactFolder;
  /** Told of each failure as it happens; undefined when nobody above it counts them. */
  readonly onFailure: ((failure: TaskFailure) => void) | undefined;
  /** The keys that its tasks may write, and whose they are; undefined when they may write any. */
  readonly stores: DeclaredStores | undefined;
  /** Names of the pipelines that run inside each other, the outermost first, this one last. */
  readonly way: readonly string[];
  /** Told when an attempt fails of what no further one would mend: to run all of it anew would go no better. */
  readonly onFinal: (() => void) | undefined;
}

interface DeclaredStores {
  readonly subPipeline: string;
  readonly keys: ReadonlySet<string>;
}

/** Where the bytes go that the tools of one run return. Most return none: it is named and made when first needed. */
export class ArtifactFolder {
  readonly #names: readonly string[];
  #count = 0;

  /** @param names from the outermost folder on */
  constructor(...names: readonly string[]) {
    this.#names = names;
  }

  /** One below it. */
  within(name: string): ArtifactFolder {
    return new ArtifactFolder(...this.#names, name);
  }

  /** A path that no other call of this run gets. */
  next(taskId: string): string {
    const folder = join(...this.#names);
    if (this.#count === 0) mkdirSync(folder, { recursive: true });
    return join(folder, `${taskId}-${++this.#count}.bin`);
  }
}
