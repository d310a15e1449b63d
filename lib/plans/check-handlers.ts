import { isObject } from '../common/json/json.js';
import type { Steps } from '../common/scheduling/steps.js';
import { Suggestions } from '../definition/did-you-mean.js';
import { collectFindings, type Findings, toProblems } from '../definition/problems/diagnostic.js';
import type { Path, Problem } from '../definition/problems/problem.js';
import { HANDLER_LISTS } from '../definition/schema/fields.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import { plainGoal } from '../definition/template/goal.js';
import type { CheckSteps, Source } from '../definition/text/source.js';
import {
  checkHandlerStructure,
  checkSourceInSteps,
  checkTaskRules,
  createNestedCheck,
} from '../pipelines/check.js';
import type { CheckContext } from '../pipelines/check-context.js';
import { type Contract, deriveContract } from '../pipelines/contract.js';
import { type PipelineDraft, readDraft } from '../pipelines/draft.js';
import { layerLists, type ListedLayering } from '../pipelines/flow/handlers.js';
import { checkNestedPipelines } from '../pipelines/nested-pipelines.js';
import { assemblePipeline, type Pipeline } from '../pipelines/pipeline.js';
import type { Catalog } from '../tools/catalog.js';
import type { PlanCheckContext, SubPipelineCheck } from './check-sub-pipelines.js';
import type { PlanDraft } from './draft.js';
import { checkHandlerIds, checkHandlerKeys, createNameHints } from './rules/handlers.js';
import { DECLARE_INPUT } from './rules/keys.js';
import type { SkipRule } from './skip-rules.js';

/** The handlers of a plan as far as they can be read (D80). */
export interface HandlersCheck {
  readonly draft: PipelineDraft;
  readonly layering: ListedLayering;
  /** Inline pipelines of handlers, by handler id. */
  readonly nested: ReadonlyMap<string, Pipeline>;
  readonly contract: Contract;
  /** Located in the text of the plan. */
  readonly problems: readonly Problem[];
}

/** A plan whose sub-pipelines have been checked. */
interface CheckedPlan {
  readonly definition: unknown;
  readonly source: Source;
  /** Leads to the plan in the source. */
  readonly base: Path;
  readonly draft: PlanDraft;
  readonly checks: readonly SubPipelineCheck[];
  /** The sub-pipelines that may be skipped, by id. */
  readonly skipRules: ReadonlyMap<string, SkipRule>;
}

/** Checks the handlers of a plan as those of a pipeline, but for what they can read (D80). Undefined without handlers. */
export function* checkPlanHandlers(
  plan: CheckedPlan,
  context: PlanCheckContext,
): CheckSteps<HandlersCheck | undefined> {
  const { definition, source, base } = plan;
  if (!hasHandlers(definition)) return undefined;
  const suggestions = new Suggestions();
  const draft = yield* readHandlers(definition, context.catalog, suggestions);
  const layering = yield* layerLists(draft);
  const checkContext = createContext(context);
  const nested = yield* checkNestedPipelines(draft, source, base, checkContext, checkSourceInSteps);
  const { inputs } = definition;
  context.onRead?.({ definition: { inputs }, draft, catalog: context.catalog, nested: nested.pipelines });
  const contract = deriveContract({ id: '', goal: '', tasks: [] }, draft, nested.pipelines);
  function* applyRules(): Findings {
    const nameHints = createNameHints(plan.checks, context);
    yield* checkHandlerStructure(definition);
    const ruleContext = { ...checkContext, suggestions, nameHints, nested: nested.pipelines };
    yield* checkTaskRules({}, draft, layering, ruleContext);
    yield* checkHandlerIds(draft, plan);
    yield* checkHandlerKeys(draft, contract, plan, context);
  }
  const diagnostics = context.isChecked ? [] : yield* collectFindings(applyRules());
  const problems = [...toProblems(diagnostics, source, base), ...nested.problems];
  return { draft, layering, nested: nested.pipelines, contract, problems };
}

function hasHandlers(definition: unknown): definition is Record<string, unknown> {
  return isObject(definition) && HANDLER_LISTS.some((list) => Array.isArray(definition[list]));
}

/** Reads the lists of handlers as those of a pipeline without tasks. */
function* readHandlers(
  definition: Record<string, unknown>,
  catalog: Catalog,
  suggestions: Suggestions,
): Steps<PipelineDraft> {
  const { goal, inputs } = definition;
  const lists = HANDLER_LISTS.map((list) => [list, definition[list]]);
  const draft = yield* readDraft({ inputs, ...Object.fromEntries(lists) }, catalog, suggestions);
  return { ...draft, goal: plainGoal(typeof goal === 'string' ? goal : '') };
}

/** The keys of the blackboard are checked with the plan, which knows who stores them. */
function createContext({ catalog, inputs, secrets, isChecked, paramBudget }: PlanCheckContext): CheckContext {
  return {
    catalog,
    inputKeys: inputs,
    suppliedInputs: [],
    inputHint: DECLARE_INPUT,
    session: { has: () => true },
    secrets,
    isChecked,
    depth: 0,
    heldPool: undefined,
    paramBudget,
  };
}

/** Makes a pipeline of the handlers of a plan without errors; undefined without handlers. */
export function* assembleHandlers(
  plan: PlanDefinition,
  check: HandlersCheck | undefined,
  catalog: Catalog,
): Steps<Pipeline | undefined> {
  if (check === undefined || !check.layering.ok) return undefined;
  const { draft, layering, nested, contract } = check;
  return yield* assemblePipeline({
    definition: toDefinition(plan, contract),
    draft,
    waves: [],
    handlers: layering.handlers,
    nested,
    catalog,
    warnings: [],
    checkNestedPipeline: createNestedCheck(catalog),
  });
}

function toDefinition(plan: PlanDefinition, { reads }: Contract): PipelineDefinition {
  const { id, goal = '', inputs, handler_timeout: timeout } = plan;
  const lists = HANDLER_LISTS.flatMap((list) => (plan[list] === undefined ? [] : [[list, plan[list]]]));
  return {
    id,
    goal,
    ...(inputs !== undefined && { inputs }),
    reads: [...reads.keys()],
    ...(timeout !== undefined && { handler_timeout: timeout }),
    ...(Object.fromEntries(lists) as Pick<PipelineDefinition, (typeof HANDLER_LISTS)[number]>),
    tasks: [],
  };
}
