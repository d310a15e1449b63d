import type { Problem } from '../definition/problem.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { PlanStatistics } from './statistics.js';

/**
 * A plan that has been checked, its pipelines with it: the only kind that runs. `checkPlan` alone makes one, so
 * whoever holds it knows that every key read is stored by one other sub-pipeline, that there is an order, and that
 * each pipeline keeps to what the plan says of it (Plan, rule 3; D46).
 */
export interface Plan {
  readonly definition: PlanDefinition;
  /** By id, in declared order. */
  readonly subPipelines: ReadonlyMap<string, SubPipeline>;
  readonly statistics: PlanStatistics;
  readonly warnings: readonly Problem[];
  /** What it takes in memory, in bytes, roughly. */
  readonly weight: number;
}

/** A pipeline and its part in a plan. */
export interface SubPipeline {
  readonly id: string;
  readonly pipeline: Pipeline;
  readonly reads: readonly string[];
  readonly stores: readonly string[];
  /** Keys of the plan's inputs that are handed on to it. */
  readonly inputs: readonly string[];
  /** Sub-pipelines that run before it: they store what it reads (Plan, rule 1). */
  readonly needs: readonly string[];
}

/** The pipeline of a sub-pipeline, from outside the plan; or why it could not be had. */
export type GivenPipeline =
  | {
      readonly text: string;
      /** As people name it, relative to the plan; undefined when it is no file. */
      readonly file?: string;
    }
  | { readonly value: unknown }
  | { readonly missing: { readonly message: string; readonly hint?: string } };
