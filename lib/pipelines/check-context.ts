import { CheckBudget } from '../common/json-schema/check-budget.js';
import type { ValueShape } from '../definition/shapes/shape.js';
import type { Catalog } from '../tools/catalog.js';
import type { PipelineDraft } from './draft.js';
import type { Pipeline, RunValues } from './pipeline.js';

export interface CheckOptions extends RunValues {
  readonly catalog: Catalog;
  /** Names of the secrets that there are (D61): a warning names those that are missing. Default: unknown. */
  readonly secrets?: KeyLookup | undefined;
  /** Leaves out checks and warnings: the definition passed the checks before, with this catalog. Default: false. */
  readonly isChecked?: boolean | undefined;
  readonly onRead?: CheckContext['onRead'];
}

/** A pipeline, or the handlers of a plan, as far as it can be read: it may have errors. */
export interface ReadDefinition {
  readonly definition: unknown;
  readonly draft: PipelineDraft;
  /** The inline pipelines of tasks, by task id. */
  readonly nested: ReadonlyMap<string, Pipeline>;
  readonly catalog: Catalog;
}

/** A set of keys that may be infinite. */
export interface KeyLookup {
  has(key: string): boolean;
}

/** The value of a session key that is stored before the pipeline runs. */
export interface EarlierValue {
  readonly shape: ValueShape;
  /** As in `task "rows" of sub-pipeline "ingest"`. */
  readonly storedBy: string;
}

/** The session keys that the tasks of a pipeline store. */
export interface StoredLookup {
  /** Returns the value that a key has when the tasks have ended; undefined unless one of them is certain to store it. */
  valueOf(key: string): EarlierValue | undefined;
}

/** The check of a definition depends on these besides the definition. */
export interface CheckContext {
  readonly catalog: Catalog;
  /** Keys of the run's inputs (D5); undefined when they are unknown before the run. */
  readonly inputKeys: Iterable<string> | undefined;
  /** Keys of the inputs that the caller passed for this definition; the check reports those that are not used. */
  readonly suppliedInputs: readonly string[];
  /** How to fix a reference to an input that is neither supplied nor declared. */
  readonly inputHint: string;
  /** Session keys that exist when the run starts (D9). */
  readonly session: KeyLookup;
  /** Session keys that other pipelines of the plan store before, as far as their shapes are known. */
  readonly earlier?: ReadonlyMap<string, EarlierValue> | undefined;
  /** Names of secrets; undefined when nobody knows before the run (D61). */
  readonly secrets: KeyLookup | undefined;
  /** The same as in {@link CheckOptions}. */
  readonly isChecked: boolean;
  /** Number of pipelines around this one, each in a task of the next. */
  readonly depth: number;
  /** The pool of the task that runs this pipeline, or of one further out; undefined when none has one (D81). */
  readonly heldPool: string | undefined;
  /** Bounds the checks of params in this definition and all that are checked with it (D4). */
  readonly paramBudget: CheckBudget;
  /** Is called with the definition, and with those within a plan, when it has been read. Default: nothing is called. */
  readonly onRead?: ((read: ReadDefinition, subPipeline?: string) => void) | undefined;
  /** Is called with the session keys that the tasks store, when their waves are known. Default: nothing is called. */
  readonly onStored?: ((stored: StoredLookup) => void) | undefined;
}

/** Creates the context of a definition that is not part of another one. */
export function createCheckContext({
  catalog,
  inputs = {},
  session = {},
  secrets,
  isChecked = false,
  onRead,
}: CheckOptions): CheckContext {
  const inputKeys = Object.keys(inputs);
  return {
    catalog,
    inputKeys,
    suppliedInputs: inputKeys,
    inputHint: 'give it a default under "inputs", or pass it with --inputs',
    session: new Set(Object.keys(session)),
    secrets,
    isChecked,
    depth: 0,
    heldPool: undefined,
    paramBudget: new CheckBudget(),
    onRead,
  };
}
