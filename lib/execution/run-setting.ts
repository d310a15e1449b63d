import type { RunActor } from '../../machines/plan-work.js';
import type { TaskFailure } from '../common/errors.js';
import type { ArtifactFolder } from './artifact-folder.js';
import type { Journal } from './journal.js';
import type { OutputBudget } from './output-budget.js';

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

export interface DeclaredStores {
  readonly subPipeline: string;
  readonly keys: ReadonlySet<string>;
}
