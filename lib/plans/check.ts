import { CheckBudget } from '../common/json-schema/check-budget.js';
import { estimateBytesInSteps } from '../common/json/json.js';
import { getOrThrow } from '../definition/assert.js';
import {
  collectFindings,
  compareProblems,
  type Diagnostic,
  type Findings,
  limitProblems,
  toProblem,
  toProblems,
} from '../definition/problems/diagnostic.js';
import { validate } from '../definition/generated/plan-validator.js';
import type { Problem } from '../definition/problems/problem.js';
import { checkKeep } from '../definition/run-fields/keep.js';
import { checkLabels } from '../definition/run-fields/labels.js';
import { checkTimeLimits } from '../definition/run-fields/time-limit.js';
import { checkRunLimits } from '../definition/run-fields/run-limits.js';
import { checkStart } from '../definition/triggers/start.js';
import {
  KEEP_FIELDS,
  PLAN_FIELDS,
  SUB_PIPELINE_FIELDS,
  WEBHOOK_FIELDS,
} from '../definition/schema/fields.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import { findRoot } from '../definition/schema/root.js';
import { checkStructure, type DefinitionShape } from '../definition/schema/structure.js';
import { Suggestions } from '../definition/did-you-mean.js';
import {
  type CheckSteps,
  checkToEnd,
  type DefinitionInput,
  readInput,
  type Source,
} from '../definition/text/source.js';
import type { CheckOptions } from '../pipelines/check-context.js';
import type { Steps } from '../common/scheduling/steps.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { Catalog } from '../tools/catalog.js';
import { checkUnusedInputs } from '../pipelines/rules/references.js';
import { computeWaves, type Upstream } from '../pipelines/flow/waves.js';
import {
  checkSubPipelines,
  checkUnusedPipelines,
  type PlanCheckContext,
  type SubPipelineCheck,
} from './check-sub-pipelines.js';
import { type PlanDraft, readPlanDraft } from './draft.js';
import { assembleHandlers, checkPlanHandlers, type HandlersCheck } from './check-handlers.js';
import { computeNeeds, computeOrder, describeCycle, KeyWriters, listReadKeys } from './order.js';
import type { PipelineInput, Plan, SubPipeline } from './plan.js';
import { findSkipRules, type SkipRule } from './skip-rules.js';
import { checkPlanConditions, warnOfSkips } from './rules/conditions.js';
import { checkContract } from './rules/contract.js';
import { checkKeys } from './rules/keys.js';
import { computePlanStatistics, type PlanStatistics } from './statistics.js';

export interface PlanCheckOptions extends CheckOptions {
  /** Pipelines that are not inline in the plan, by sub-pipeline id. */
  readonly pipelines?: ReadonlyMap<string, PipelineInput>;
  /**
   * Requires every pipeline, as a run does. Default false: a sub-pipeline whose pipeline is not there yet is checked by
   * its declaration in the plan, with a warning (D55).
   */
  readonly complete?: boolean;
}

/** A valid plan, which can run when all its pipelines are available; or all its problems. */
export type PlanCheckResult =
  | {
      readonly ok: true;
      readonly plan: Plan | undefined;
      readonly statistics: PlanStatistics;
      readonly problems: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

type PlanCheckSteps = CheckSteps<PlanCheckResult>;

/** The fields of the parts that stand in a field. */
const PART_FIELDS: Readonly<Record<string, readonly string[]>> = {
  sub_pipelines: SUB_PIPELINE_FIELDS,
  webhook: WEBHOOK_FIELDS,
  keep: KEEP_FIELDS,
};

/** The structure of a plan (Plan, D44). */
const PLAN_SHAPE: DefinitionShape = {
  validate,
  kind: 'plan',
  parts: 'sub_pipelines',
  part: 'sub-pipeline',
  fieldsAt: ([first]) => PART_FIELDS[String(first)] ?? PLAN_FIELDS,
  keyLists: {
    reads: '',
    stores: '',
    inputs: ', a list of the plan\'s inputs; values go under the plan\'s own "inputs"',
  },
};

/** The validator of plans (Plan, rule 3; D44, D46): parses YAML or JSON and runs every check, but runs nothing. */
export function checkPlan(text: string, options: PlanCheckOptions): PlanCheckResult {
  return checkToEnd(checkPlanInSteps({ text }, options));
}

/** Checks a plan that came as an object; its problems have no line. */
export function checkPlanDefinition(value: unknown, options: PlanCheckOptions): PlanCheckResult {
  return checkToEnd(checkPlanInSteps({ value }, options));
}

/** Checks a plan that has been parsed. */
export function checkPlanSource(source: Source, options: PlanCheckOptions): PlanCheckResult {
  return checkToEnd(checkPlanSourceInSteps(source, options));
}

/** Checks a plan as `checkPlan` and `checkPlanDefinition` do, in steps. */
export function* checkPlanInSteps(input: DefinitionInput, options: PlanCheckOptions): PlanCheckSteps {
  return yield* checkPlanSourceInSteps(yield* readInput(input), options);
}

/** Checks a parsed plan in steps. */
export function* checkPlanSourceInSteps(source: Source, options: PlanCheckOptions): PlanCheckSteps {
  if (source.value === undefined) return { ok: false, problems: limitProblems([...source.problems]) };
  const root = findRoot(source.value, 'plan');
  if (!root.ok) return { ok: false, problems: [...source.problems, toProblem(root.diagnostic, source)] };
  const draft = yield* readPlanDraft(root.definition);
  const writers = new KeyWriters(draft);
  const needs = computeNeeds(draft, writers);
  const layering = yield* computeWaves(needs);
  const context = createContext(draft, writers, options);
  const order = computeOrder(needs);
  const checks = yield* checkSubPipelines(draft, order, source, root.path, context);
  const cycle = layering.ok ? [] : [describeCycle(layering, draft, writers)];
  const skipRules = findRules(draft, order, checks, writers);
  const rules = applyRules(root.definition, draft, checks, skipRules, context);
  const diagnostics = context.isChecked ? [] : yield* collectFindings(rules);
  const handlers = yield* checkPlanHandlers(
    { definition: root.definition, source, base: root.path, draft, checks, skipRules },
    context,
  );
  const unused = yield* collectFindings(findUnused(draft, handlers, context, options));
  const ofPlan = [
    ...source.problems,
    ...root.diagnostics.map((diagnostic) => toProblem(diagnostic, source)),
    ...toProblems([...diagnostics, ...cycle], source, root.path),
    ...(handlers?.problems ?? []),
    ...unused.map((diagnostic) => toProblem(diagnostic)),
  ];
  const problems = sortProblems(ofPlan, checks);
  if (problems.some(({ severity }) => severity === 'error') || !layering.ok) return { ok: false, problems };
  return yield* toValidResult(
    {
      definition: root.definition as PlanDefinition,
      draft,
      needs,
      order,
      waves: layering.waves,
      skipRules,
      handlers,
      catalog: context.catalog,
    },
    checks,
    problems,
  );
}

function createContext(draft: PlanDraft, writers: KeyWriters, options: PlanCheckOptions): PlanCheckContext {
  const { catalog, inputs = {}, session = {}, secrets, isChecked = false, onRead } = options;
  const { pipelines = new Map(), complete = false } = options;
  return {
    catalog,
    writers,
    session: new Set(Object.keys(session)),
    inputs: new Set([...draft.inputKeys, ...Object.keys(inputs)]),
    suggestions: new Suggestions(),
    pipelines,
    secrets,
    isChecked,
    complete,
    paramBudget: new CheckBudget(),
    onRead,
  };
}

function* applyRules(
  definition: unknown,
  draft: PlanDraft,
  checks: readonly SubPipelineCheck[],
  skipRules: ReadonlyMap<string, SkipRule>,
  context: PlanCheckContext,
): Findings {
  const structure = checkStructure(definition, PLAN_SHAPE);
  yield* structure;
  yield* checkStart(definition, 'plan');
  yield* checkKeep(definition);
  yield* checkLabels(definition);
  yield* checkTimeLimits(definition);
  yield* checkRunLimits(definition, 'plan');
  yield* checkKeys(draft, context);
  yield* checkPlanConditions(draft, context, context.paramBudget);
  yield* warnOfSkips(draft, skipRules, context);
  for (const { diagnostics } of checks) yield* diagnostics;
  yield* checkContracts(checks, structure, context);
}

/** Skips sub-pipelines whose own fields are invalid: a missing declaration may only be misspelt. */
function* checkContracts(
  checks: readonly SubPipelineCheck[],
  structure: readonly Diagnostic[],
  context: PlanCheckContext,
): Findings {
  const invalid = new Set(structure.map(({ path }) => path[1]));
  for (const { subPipeline, pipeline, file } of checks) {
    yield;
    if (pipeline === undefined || invalid.has(subPipeline.path[1])) continue;
    yield* checkContract({ subPipeline, pipeline, file }, context);
  }
}

/** Finds pipelines and inputs that were submitted with the plan and are not used. */
function* findUnused(
  { inputKeys, subPipelines }: PlanDraft,
  handlers: HandlersCheck | undefined,
  { pipelines }: PlanCheckContext,
  { inputs = {} }: PlanCheckOptions,
): Findings {
  const passedInputs = subPipelines.flatMap((subPipeline) => subPipeline.inputs.map(({ key }) => key));
  yield* checkUnusedPipelines({ inputKeys, subPipelines }, pipelines);
  yield* checkUnusedInputs(Object.keys(inputs), {
    inputs: new Set([...inputKeys, ...passedInputs, ...(handlers?.draft.usedInputs ?? [])]),
    reason: 'the plan neither declares it nor passes it to a sub-pipeline',
  });
}

/** Sorts the problems of the plan's own text by position, then those of each other pipeline; errors before warnings. */
function sortProblems(ofPlan: readonly Problem[], checks: readonly SubPipelineCheck[]): Problem[] {
  const inPlan = checks.filter(({ subPipeline }) => subPipeline.inline !== undefined);
  const elsewhere = checks.filter(({ subPipeline }) => subPipeline.inline === undefined);
  const text = [...ofPlan, ...inPlan.flatMap(({ problems }) => problems)].sort(compareProblems);
  const all = [...text, ...elsewhere.flatMap(({ problems }) => problems)];
  return limitProblems([
    ...all.filter(({ severity }) => severity === 'error'),
    ...all.filter(({ severity }) => severity === 'warning'),
  ]);
}

/** A plan without errors of its own. */
interface OrderedPlan {
  readonly definition: PlanDefinition;
  readonly draft: PlanDraft;
  readonly needs: Upstream;
  readonly order: readonly string[];
  readonly waves: readonly (readonly string[])[];
  readonly skipRules: ReadonlyMap<string, SkipRule>;
  readonly handlers: HandlersCheck | undefined;
  readonly catalog: Catalog;
}

function* toValidResult(
  ordered: OrderedPlan,
  checks: readonly SubPipelineCheck[],
  problems: readonly Problem[],
): Steps<PlanCheckResult> {
  const { definition, draft, order, waves, handlers } = ordered;
  const pipelines = toPipelines(checks);
  const reads = new Map(draft.subPipelines.map((each) => [each.id, listReadKeys(each)]));
  const statistics = computePlanStatistics(
    definition,
    reads,
    order,
    waves,
    pipelines.values(),
    handlers?.layering.ok ? handlers.layering.handlers : undefined,
  );
  const plan = yield* assemblePlan(ordered, pipelines, statistics, problems);
  return { ok: true, plan, statistics, problems };
}

function toPipelines(checks: readonly SubPipelineCheck[]): ReadonlyMap<string, Pipeline> {
  const pipelines = new Map<string, Pipeline>();
  for (const { subPipeline, pipeline } of checks) {
    if (pipeline !== undefined) pipelines.set(subPipeline.id, pipeline);
  }
  return pipelines;
}

/** Finds the sub-pipelines that may be skipped. Those on a cycle are not in the order, and are left out. */
function findRules(
  draft: PlanDraft,
  order: readonly string[],
  checks: readonly SubPipelineCheck[],
  writers: KeyWriters,
): ReadonlyMap<string, SkipRule> {
  const byName = new Map(draft.subPipelines.map((each) => [each.name, each]));
  const ordered = order.map((name) => getOrThrow(byName, name));
  return findSkipRules(ordered, toPipelines(checks), writers);
}

/** Returns undefined when a pipeline is missing. */
function* assemblePlan(
  { definition, draft, needs, skipRules, handlers: handlersCheck, catalog }: OrderedPlan,
  pipelines: ReadonlyMap<string, Pipeline>,
  statistics: PlanStatistics,
  warnings: readonly Problem[],
): Steps<Plan | undefined> {
  const subPipelines = new Map<string, SubPipeline>();
  let sizeBytes = yield* estimateBytesInSteps(definition);
  const drafts = new Map(draft.subPipelines.map((each) => [each.id, each]));
  for (const { id, stores, inputs } of definition.sub_pipelines) {
    const pipeline = pipelines.get(id);
    if (pipeline === undefined) return undefined;
    yield;
    subPipelines.set(id, {
      id,
      pipeline,
      reads: [...new Set(listReadKeys(getOrThrow(drafts, id)))],
      stores: [...new Set(stores)],
      inputs: [...new Set(inputs)],
      needs: [...getOrThrow(needs, id)],
      ...(skipRules.has(id) && { skipRule: skipRules.get(id) }),
    });
    const { conditions } = getOrThrow(drafts, id);
    sizeBytes += pipeline.sizeBytes + conditions.reduce((sum, each) => sum + each.sizeBytes, 0);
  }
  const handlers = yield* assembleHandlers(definition, handlersCheck, catalog);
  sizeBytes += handlers?.sizeBytes ?? 0;
  return { definition, subPipelines, handlers, statistics, warnings, sizeBytes };
}
