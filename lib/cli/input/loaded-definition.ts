import type { JsonObject } from '../../common/json.js';
import type { Check } from '../../pipelines/check.js';
import type { PlanCheck } from '../../plans/check.js';

/** The flags that say which pipeline or plan is meant and what is known about its run. */
export interface DefinitionFlags {
  readonly file: string;
  readonly tools?: string[] | undefined;
  readonly inputs?: string | undefined;
  readonly params?: string | undefined;
  readonly session?: string | undefined;
  readonly sessionFile?: string | undefined;
  readonly envFile?: string | undefined;
}

/** A text as people name it. */
export interface NamedText {
  /** The file as it was named, or `standard input`. */
  readonly name: string;
  readonly text: string;
}

/** What was read for a definition, besides its check. */
export interface Given extends NamedText {
  readonly inputs: JsonObject | undefined;
  readonly session: JsonObject | undefined;
}

interface Prepared extends Given {
  /** Where tools may read files: the definition's folder first, then the working directory (D51). */
  readonly fileRoots: readonly string[];
  /** Further files that problems stand in, by the name that problems give them. */
  readonly files: ReadonlyMap<string, NamedText>;
}

/** A pipeline file that was read and checked. */
export interface PipelinePreparation extends Prepared {
  readonly kind: 'pipeline';
  readonly check: Check;
}

/** A plan file that was read and checked, its pipelines with it. */
export interface PlanPreparation extends Prepared {
  readonly kind: 'plan';
  readonly check: PlanCheck;
}

/** A definition that was read and checked, whichever it is (D42). */
export type Preparation = PipelinePreparation | PlanPreparation;
