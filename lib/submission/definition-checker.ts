import { type CheckSteps, readInput } from '../definition/check-steps.js';
import type { CheckedDefinition } from '../execution/run-inputs.js';
import { InvalidDefinitionError } from '../pipelines/load.js';
import type { CheckResult, RunValues } from '../pipelines/pipeline.js';
import { ValidationCache } from '../pipelines/validation-cache.js';
import { checkPlanSourceInSteps, type PlanCheckOptions, type PlanCheckResult } from '../plans/check.js';
import type { RunRegistry } from '../runs/registry.js';
import type { ReviveDefinition } from '../runs/run-factory.js';
import type { Catalog } from '../tools/catalog.js';
import {
  type DefinitionSource,
  type PipelineSource,
  type PlanSource,
  toDefinitionSource,
} from './submission.js';

/** Does the steps of a check, beside those of other tenants (D25). */
type StepRunner = Pick<RunRegistry['stepRunner'], 'check'>;

/** Checks definitions with the tools of a catalog, and caches the pipelines that are valid. */
export class DefinitionChecker {
  readonly #stepRunner: StepRunner;
  readonly #catalog: Catalog;
  readonly #cache: ValidationCache;

  constructor(stepRunner: StepRunner, catalog: Catalog) {
    this.#stepRunner = stepRunner;
    this.#catalog = catalog;
    this.#cache = new ValidationCache(catalog);
  }

  /** Checks a definition that must have no errors. Rejects with an InvalidDefinitionError with every problem. */
  async load(source: DefinitionSource, values: RunValues, tenantId: string): Promise<CheckedDefinition> {
    if (source.kind === 'pipeline') return this.loadPipeline(source, values, tenantId);
    const check = await this.checkPlan(source, values, tenantId, { complete: true });
    if (check.ok && check.plan !== undefined) return { kind: 'plan', plan: check.plan };
    throw new InvalidDefinitionError(check.problems);
  }

  /** Checks a pipeline that must have no errors, as `load` does. */
  async loadPipeline(
    source: PipelineSource,
    values: RunValues,
    tenantId: string,
  ): Promise<CheckedDefinition & { readonly kind: 'pipeline' }> {
    const check = await this.checkPipeline(source, values, tenantId);
    if (check.ok) return { kind: 'pipeline', pipeline: check.pipeline };
    throw new InvalidDefinitionError(check.problems);
  }

  /** @param values of the run: with others, other things are wrong (D5) */
  async checkPipeline(
    { definition, isChecked, addHints = unchanged }: PipelineSource,
    { inputs, session }: RunValues,
    tenantId: string,
  ): Promise<CheckResult> {
    const steps = this.#cache.check(definition, { inputs, session }, isChecked);
    const check = await this.#stepRunner.check(steps, tenantId);
    return check.ok ? check : { ...check, problems: addHints(check.problems) };
  }

  /** @param options `complete` requires every pipeline, as a run does; otherwise a missing one is a warning */
  async checkPlan(
    source: PlanSource,
    { inputs, session }: RunValues,
    tenantId: string,
    { complete }: { readonly complete: boolean },
  ): Promise<PlanCheckResult> {
    const { isChecked, addHints = unchanged } = source;
    const options = { catalog: this.#catalog, complete, isChecked, inputs, session };
    const check = await this.#stepRunner.check(checkPlanSource(source, options), tenantId);
    return { ...check, problems: addHints(check.problems) };
  }

  /** Checks the definitions of runs of the store again, with the tools that there are now (D68). */
  readonly revive: ReviveDefinition = (stored, values) => {
    const { tenant_id: tenantId, isForSettledRun, isChecked } = values;
    const source = toDefinitionSource(stored, isChecked);
    return isForSettledRun
      ? this.#loadSettled(source, values, tenantId)
      : this.load(source, values, tenantId);
  };

  /** Checks the definition of a run that has settled: its tools may have changed since, or may not be there any more. */
  async #loadSettled(
    source: DefinitionSource,
    values: RunValues,
    tenantId: string,
  ): Promise<CheckedDefinition> {
    try {
      return await this.load(source, values, tenantId);
    } catch (error) {
      if (!(error instanceof InvalidDefinitionError)) throw error;
      const placeholders = this.#catalog.withPlaceholders(listDefinitions(source));
      return new DefinitionChecker(this.#stepRunner, placeholders).load(source, values, tenantId);
    }
  }
}

function listDefinitions(source: DefinitionSource): unknown[] {
  const pipelines = source.kind === 'plan' ? (source.pipelines ?? []) : [];
  return [source.definition, ...[...pipelines].map(([, pipeline]) => pipeline)];
}

function* checkPlanSource(
  { definition, pipelines = new Map(), findPipelines }: PlanSource,
  options: PlanCheckOptions,
): CheckSteps<PlanCheckResult> {
  const plan = yield* readInput(definition);
  const found = findPipelines === undefined ? [] : yield* findPipelines(plan);
  return yield* checkPlanSourceInSteps(plan, { ...options, pipelines: new Map([...found, ...pipelines]) });
}

function unchanged<T>(problems: T): T {
  return problems;
}
