import type { Problem } from '../definition/problems/problem.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { SkipRule } from './skip-rules.js';
import type { PlanStatistics } from './statistics.js';

/**
 * A checked plan, the only kind that runs. Only `checkPlan` creates one, which guarantees that one other sub-pipeline
 * stores each key that is read, that an order exists, and that each pipeline matches its declaration in the plan
 * (Plan, rule 3; D46).
 */
export interface Plan {
  readonly definition: PlanDefinition;
  /** By id, in declared order. */
  readonly subPipelines: ReadonlyMap<string, SubPipeline>;
  /**
   * A checked pipeline that has only handlers (D80): no `tasks` and no `waves`. Its `definition` has the id, the goal, the
   * inputs, the `handler_timeout` and the lists of the plan, and `reads` with the keys of the blackboard that its handlers
   * read, of which some may be missing. Undefined for a plan without handlers.
   */
  readonly handlers: Pipeline | undefined;
  readonly statistics: PlanStatistics;
  readonly warnings: readonly Problem[];
  /** Estimated memory with that of the pipelines and the handlers, in bytes. */
  readonly sizeBytes: number;
}

/** A pipeline within a plan, with the keys it reads and stores. */
export interface SubPipeline {
  readonly id: string;
  readonly pipeline: Pipeline;
  /** The keys that it reads, also those of its conditions. */
  readonly reads: readonly string[];
  readonly stores: readonly string[];
  /** Keys of the plan's inputs that are passed to the sub-pipeline. */
  readonly inputs: readonly string[];
  /** Sub-pipelines that run before this one, because they store what it reads (Plan, rule 1). */
  readonly needs: readonly string[];
  /** Why it may be skipped; undefined for one that never is (D77). */
  readonly skipRule?: SkipRule | undefined;
}

/** The pipeline of a sub-pipeline, from outside the plan; or the reason why there is none. */
export type PipelineInput =
  | {
      readonly text: string;
      /** The path that messages show, relative to the plan; undefined when the text is not from a file. */
      readonly file?: string;
    }
  | { readonly value: unknown }
  /** There is no such file, yet: a run rejects the plan, `validate` warns (D55). */
  | { readonly missing: AbsenceReason }
  /** The file cannot be read, now or later. */
  | { readonly unreadable: AbsenceReason };

/** The pipelines of a plan that are values, by sub-pipeline id, as the check of a plan takes them. */
export function toPipelineInputs(
  pipelines: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, PipelineInput> {
  return new Map(Object.entries(pipelines).map(([id, value]) => [id, { value }]));
}

interface AbsenceReason {
  readonly message: string;
  readonly hint?: string;
}
