import type { Steps } from '../common/scheduling/steps.js';
import type { Problem } from '../definition/problems/problem.js';
import { type CheckSteps, type DefinitionInput, readInput, type Source } from '../definition/text/source.js';
import type { CheckedDefinition } from '../execution/prepare/run-inputs.js';
import { type CheckOptions, createCheckContext } from '../pipelines/check-context.js';
import { checkInSteps } from '../pipelines/check.js';
import { InvalidDefinitionError } from '../pipelines/load.js';
import type { CheckResult, RunValues } from '../pipelines/pipeline.js';
import { ValidationCache } from '../pipelines/validation-cache.js';
import { checkPlanSourceInSteps, type PlanCheckOptions, type PlanCheckResult } from '../plans/check.js';
import { type PipelineInput, toPipelineInputs } from '../plans/plan.js';
import type { RunRegistry } from '../runs/registry.js';
import type { ReviveDefinition } from '../runs/store/restore/stored-run-reader.js';
import type { Catalog } from '../tools/catalog.js';

export type DefinitionSource = PipelineSource | PlanSource;

export interface PipelineSource extends SourceOptions {
  readonly kind: 'pipeline';
}

export interface PlanSource extends SourceOptions {
  readonly kind: 'plan';
  /** The pipelines that are sent beside the plan, by sub-pipeline id. */
  readonly pipelines?: ReadonlyMap<string, PipelineInput> | undefined;
  /** Finds other pipelines, such as those in the folder of the server (D69). */
  readonly findPipelines?: ((plan: Source) => Steps<ReadonlyMap<string, PipelineInput>>) | undefined;
}

/** Makes a source of a definition that is kept: in the store, or in the folder of the server. */
export function toDefinitionSource(
  { kind, definition: value, pipelines = {} }: KeptDefinition,
  isChecked?: boolean,
): DefinitionSource {
  const source = { definition: { value }, isChecked };
  return kind === 'plan' ? { ...source, kind, pipelines: toPipelineInputs(pipelines) } : { ...source, kind };
}

interface KeptDefinition {
  readonly kind: DefinitionSource['kind'];
  readonly definition: unknown;
  /** The pipelines of a plan, by sub-pipeline id, but for those within it. */
  readonly pipelines?: Readonly<Record<string, unknown>>;
}

interface SourceOptions {
  readonly definition: DefinitionInput;
  /** True when this version checked the definition before, in another process with the same tools. Default: false. */
  readonly isChecked?: boolean | undefined;
  /** Adds the hints that only the receiver of the definition can give, such as the address for another kind. */
  readonly addHints?: ((problems: readonly Problem[]) => readonly Problem[]) | undefined;
}

/** Does the steps of a check, beside those of other tenants (D25). */
type StepRunner = Pick<RunRegistry['stepRunner'], 'check'>;

/** Checks definitions with the tools of a catalog, and caches the pipelines that are valid. */
export class DefinitionChecker {
  readonly #stepRunner: StepRunner;
  #catalog: Catalog;
  #cache = new ValidationCache();
  #hasOtherTools = false;

  constructor(stepRunner: StepRunner, catalog: Catalog) {
    this.#stepRunner = stepRunner;
    this.#catalog = catalog;
  }

  /** True when runs may have been checked with other tools than those that there are now. */
  get hasOtherTools(): boolean {
    return this.#hasOtherTools;
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** Checks definitions with other tools from now on. Those that were checked before keep theirs. */
  use(catalog: Catalog): void {
    this.#catalog = catalog;
    this.#hasOtherTools = true;
    this.#cache = new ValidationCache();
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

  /**
   * @param values of the run: with others, other things are wrong (D5)
   * @param onRead is called with the definition, as far as it can be read
   */
  async checkPipeline(
    { definition, isChecked, addHints = unchanged }: PipelineSource,
    { inputs, session }: RunValues,
    tenantId: string,
    onRead?: CheckOptions['onRead'],
  ): Promise<CheckResult> {
    const options = { catalog: this.#catalog, inputs, session, isChecked, onRead };
    const check = () => checkInSteps(definition, createCheckContext(options));
    // The result of the cache does not say what was read.
    const steps = onRead === undefined ? this.#cache.get(definition, options, check) : check();
    const result = await this.#stepRunner.check(steps, tenantId);
    return result.ok ? result : { ...result, problems: addHints(result.problems) };
  }

  /**
   * @param options `complete` requires every pipeline, as a run does; otherwise a missing one is a warning; `onRead` is that of
   *   `checkPipeline`
   */
  async checkPlan(
    source: PlanSource,
    { inputs, session }: RunValues,
    tenantId: string,
    { complete, onRead }: { readonly complete: boolean; readonly onRead?: CheckOptions['onRead'] },
  ): Promise<PlanCheckResult> {
    const { isChecked, addHints = unchanged } = source;
    const options = { catalog: this.#catalog, complete, isChecked, inputs, session, onRead };
    const check = await this.#stepRunner.check(checkPlanSource(source, options), tenantId);
    return { ...check, problems: addHints(check.problems) };
  }

  /** Checks the definition of a run again, with the tools that there are now. */
  loadKept(kept: KeptDefinition, values: RunValues, tenantId: string): Promise<CheckedDefinition> {
    return this.load(toDefinitionSource(kept), values, tenantId);
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
