import type { Problem } from '../definition/problem.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import type { Template } from '../definition/template/template.js';
import type { JsonObject } from '../common/json.js';
import type { Tool } from '../tools/tool.js';
import type { Statistics } from './waves.js';
import type { Contract } from './contract.js';

/**
 * A pipeline that has been checked: the only kind that runs. `checkPipeline` alone makes one, so whoever holds it
 * knows that its references resolve, its tools exist and its waves are computed (rule 11).
 */
export interface Pipeline {
  readonly definition: PipelineDefinition;
  readonly goal: Template;
  /** In declared order. */
  readonly tasks: ReadonlyMap<string, Task>;
  /** Task ids, wave by wave, in declared order within a wave (rule 1). */
  readonly waves: readonly (readonly string[])[];
  readonly statistics: Statistics;
  /** What a plan that runs it must know of it. */
  readonly contract: Contract;
  readonly warnings: readonly Problem[];
  /** What it takes in memory, in bytes, roughly. */
  readonly weight: number;
  /** Checks a pipeline that one of its tasks is to run: against the same tools. */
  readonly checkAnother: CheckAnother;
}

/** A pipeline that may run, with warnings; or all that keeps it from running. */
export type Check =
  | { readonly ok: true; readonly pipeline: Pipeline; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** What is known of a run when its pipeline is checked. */
export interface KnownOfRun {
  /** Inputs given for the run; reading one that neither they nor the definition provide is an error (D5). */
  readonly inputs?: JsonObject;
  /** Session values given for the run; reading a key that nothing provides is a warning (D9). */
  readonly session?: JsonObject;
}

/** A definition as text, or as a value. */
export type GivenDefinition = { readonly text: string } | { readonly value: unknown };

export type CheckAnother = (given: GivenDefinition, known: KnownOfRun) => Check;

/** A task made ready to run: its templates are compiled, its tool is found (D15). */
export interface Task {
  readonly id: string;
  readonly tool: Tool;
  readonly inputs: Template;
  /** The template of `parallel_over`; undefined for a task that calls its tool once. */
  readonly over: Template | undefined;
  /** Attempts beyond the first (D2). */
  readonly retries: number;
  /** Limit of one attempt; undefined leaves it to the run's options. */
  readonly timeoutMs: number | undefined;
  /** Index of its wave, from 0. */
  readonly wave: number;
  /** Ids of the tasks that run before it: by template and by `await` (rules 5 and 6). */
  readonly upstream: readonly string[];
}
