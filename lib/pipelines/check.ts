import {
  collectFindings,
  compareProblems,
  type Diagnostic,
  type Findings,
  limitProblems,
  toProblem,
  toProblems,
} from '../definition/problems/diagnostic.js';
import { validate } from '../definition/generated/pipeline-validator.js';
import { abbreviate, type Path } from '../definition/problems/problem.js';
import { checkKeep } from '../definition/run-fields/keep.js';
import { checkLabels } from '../definition/run-fields/labels.js';
import { checkTimeLimits } from '../definition/run-fields/time-limit.js';
import { checkRunLimits } from '../definition/run-fields/run-limits.js';
import { checkStart } from '../definition/triggers/start.js';
import { isObject } from '../common/json/json.js';
import {
  HANDLER_LISTS,
  KEEP_FIELDS,
  PARAM_FIELDS,
  PIPELINE_FIELDS,
  REPEAT_FIELDS,
  TASK_FIELDS,
  WEBHOOK_FIELDS,
} from '../definition/schema/fields.js';
import { findRoot } from '../definition/schema/root.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import { checkStructure, type DefinitionShape } from '../definition/schema/structure.js';
import { Suggestions } from '../definition/did-you-mean.js';
import { groupBy } from '../definition/group-by.js';
import {
  type CheckSteps,
  checkToEnd,
  type DefinitionInput,
  readInput,
  type Source,
} from '../definition/text/source.js';
import type { Catalog } from '../tools/catalog.js';
import { type CheckContext, type CheckOptions, createCheckContext } from './check-context.js';
import { type PipelineDraft, readDraft } from './draft.js';
import { checkNestedPipelines } from './nested-pipelines.js';
import { assemblePipeline, type CheckNestedPipeline, type CheckResult, type Pipeline } from './pipeline.js';
import { checkConditions } from './rules/conditions/conditions.js';
import { checkParamDefinitions } from './rules/params.js';
import { checkPipelineCalls } from './rules/pipeline-calls.js';
import { checkOutputPaths } from './rules/output-paths.js';
import { checkPools } from './rules/pools.js';
import { checkRepeats } from './rules/repeats.js';
import { checkReferences, checkUnusedInputs, type NameHints } from './rules/references.js';
import { checkSecrets } from './rules/secrets.js';
import { checkScripts } from './rules/code/scripts.js';
import { checkStatements } from './rules/code/statements.js';
import { checkSessions } from './rules/sessions.js';
import { listStores } from './rules/stores.js';
import { checkTasks } from './rules/tasks.js';
import { checkTemplateKeys } from './rules/template-keys.js';
import { PipelineShapes } from './shapes/pipeline-shapes.js';
import { shapeSourceOfDraft } from './shapes/shape-source.js';
import { StoredShapes } from './shapes/stored-shapes.js';
import { joinWaves, layerLists, type ListedLayering } from './flow/handlers.js';
import { findUnreliable } from './flow/unreliable-outputs.js';
import { numberWaves } from './flow/waves.js';
import { checkHandlers } from './rules/handlers.js';

/** The fields of the parts that stand in a field. */
const PART_FIELDS: Readonly<Record<string, readonly string[]>> = {
  tasks: TASK_FIELDS,
  ...Object.fromEntries(HANDLER_LISTS.map((list) => [list, TASK_FIELDS])),
  params: PARAM_FIELDS,
  webhook: WEBHOOK_FIELDS,
  keep: KEEP_FIELDS,
};

/** The structure of a pipeline (Pipeline definition, D1-D4). */
const PIPELINE_SHAPE: DefinitionShape = {
  validate,
  kind: 'pipeline',
  parts: 'tasks',
  part: 'task',
  fieldsAt: ([first, , field]) =>
    field === 'repeat' ? REPEAT_FIELDS : (PART_FIELDS[String(first)] ?? PIPELINE_FIELDS),
  keyLists: { reads: '', await: '' },
};

/** A list of handlers as a pipeline of its own: each handler has the structure of a task. */
const HANDLER_SHAPE: DefinitionShape = { ...PIPELINE_SHAPE, part: 'handler' };

export function* checkHandlerStructure(definition: unknown): Findings {
  for (const list of HANDLER_LISTS) {
    const handlers = isObject(definition) ? definition[list] : undefined;
    // The schema of the definition reports a list without entries, and entries that are no maps.
    if (!Array.isArray(handlers) || handlers.length === 0 || !handlers.every(isObject)) continue;
    const found = checkStructure({ id: 'handlers', goal: '', tasks: handlers }, HANDLER_SHAPE);
    for (const diagnostic of found) yield moveToList(diagnostic, list);
  }
}

/** Leads a diagnostic, and the change of its hint, from `tasks` to another list. */
function moveToList({ path, hint, ...rest }: Diagnostic, list: string): Diagnostic {
  const move = (of: Path): Path => [list, ...of.slice(1)];
  if (typeof hint !== 'object' || !('path' in hint.change)) return { ...rest, path: move(path), hint };
  const change = { ...hint.change, path: move(hint.change.path) };
  return { ...rest, path: move(path), hint: { ...hint, change } };
}

/** The validator (D8): parses YAML or JSON, runs every check and computes the waves, but runs nothing (rule 11). */
export function checkPipeline(text: string, options: CheckOptions): CheckResult {
  return checkToEnd(checkInSteps({ text }, createCheckContext(options)));
}

/** Checks a definition that came as an object; its problems have no line. */
export function checkDefinition(value: unknown, options: CheckOptions): CheckResult {
  return checkToEnd(checkInSteps({ value }, createCheckContext(options)));
}

/** Checks a definition that has been parsed. */
export function checkSource(source: Source, context: CheckContext): CheckResult {
  return checkToEnd(checkSourceInSteps(source, context));
}

/** Checks a definition as `checkPipeline` and `checkDefinition` do, in steps. */
export function* checkInSteps(input: DefinitionInput, context: CheckContext): CheckSteps<CheckResult> {
  return yield* checkSourceInSteps(yield* readInput(input), context);
}

/** Checks a parsed definition, which may be nested in another one. */
export function* checkSourceInSteps(source: Source, context: CheckContext): CheckSteps<CheckResult> {
  if (source.value === undefined) return { ok: false, problems: limitProblems([...source.problems]) };
  const root = findRoot(source.value, 'pipeline');
  if (!root.ok) return { ok: false, problems: [...source.problems, toProblem(root.diagnostic, source)] };
  const { catalog, suppliedInputs } = context;
  const suggestions = new Suggestions();
  const draft = yield* readDraft(root.definition, catalog, suggestions);
  const layering = yield* layerLists(draft);
  const nested = yield* checkNestedPipelines(draft, source, root.path, context, checkSourceInSteps);
  const ruleContext = { ...context, suggestions, nested: nested.pipelines };
  context.onRead?.({ definition: root.definition, draft, catalog, nested: nested.pipelines });
  const rules = applyRules(root.definition, draft, layering, ruleContext);
  const diagnostics = context.isChecked ? [] : yield* collectFindings(rules);
  const reason = 'the pipeline neither declares nor reads it';
  const used = { inputs: draft.usedInputs, params: draft.paramNames, reason };
  const unusedInputs = yield* collectFindings(checkUnusedInputs(suppliedInputs, used));
  const all = [
    ...source.problems,
    ...root.diagnostics.map((diagnostic) => toProblem(diagnostic, source)),
    ...toProblems(diagnostics, source, root.path),
    ...nested.problems,
    ...unusedInputs.map((diagnostic) => toProblem(diagnostic)),
  ];
  const problems = limitProblems(all.sort(compareProblems));
  if (problems.some(({ severity }) => severity === 'error') || !layering.ok) return { ok: false, problems };
  const pipeline = yield* assemblePipeline({
    definition: root.definition as PipelineDefinition,
    draft,
    waves: layering.waves,
    handlers: layering.handlers,
    nested: nested.pipelines,
    catalog,
    warnings: problems,
    checkNestedPipeline: createNestedCheck(catalog),
  });
  return { ok: true, pipeline, problems };
}

/** The context of the rules for tasks: that of their definition, and who suggests names. */
interface RuleContext extends CheckContext {
  readonly suggestions: Suggestions;
  /** The inline pipelines of tasks, by task id. */
  readonly nested: ReadonlyMap<string, Pipeline>;
  /** How to fix names that a definition other than a pipeline does not have. */
  readonly nameHints?: NameHints;
}

function* applyRules(
  definition: unknown,
  draft: PipelineDraft,
  layering: ListedLayering,
  context: RuleContext,
): Findings {
  yield* checkStructure(definition, PIPELINE_SHAPE);
  yield* checkHandlerStructure(definition);
  yield* checkParamDefinitions(definition, context.paramBudget);
  yield* checkStart(definition, 'pipeline');
  yield* checkKeep(definition);
  yield* checkLabels(definition);
  yield* checkTimeLimits(definition);
  yield* checkRunLimits(definition, 'pipeline');
  yield* checkTaskRules(definition, draft, layering, context);
}

/** Checks that tasks and handlers can run, wherever their lists stand: their tools, references, conditions and order. */
export function* checkTaskRules(
  definition: unknown,
  draft: PipelineDraft,
  layering: ListedLayering,
  context: RuleContext,
): Findings {
  const { catalog, inputKeys, inputHint, nameHints, session, earlier, secrets, depth, heldPool } = context;
  const { paramBudget, suggestions, nested, onStored } = context;
  const inputs = inputKeys === undefined ? draft.usedInputs : new Set([...draft.inputKeys, ...inputKeys]);
  yield* checkTasks(draft, catalog, suggestions);
  yield* checkPipelineCalls(draft, depth);
  yield* checkPools(draft, { known: catalog.pools, held: heldPool, suggestions });
  yield* draft.diagnostics;
  yield* checkHandlers(draft);
  yield* checkReferences({ draft, inputs, inputHint, nameHints, suggestions });
  const shapes = new PipelineShapes(shapeSourceOfDraft(draft, definition, catalog, nested));
  yield* checkConditions(draft, definition, shapes, paramBudget, nameHints?.example);
  yield* checkRepeats(draft);
  yield* checkTemplateKeys(draft, catalog);
  yield* checkSecrets(draft, definition, catalog, secrets);
  yield* checkStatements(draft, catalog);
  yield* checkScripts(draft);
  if (layering.ok) {
    const waves = joinWaves(layering.waves, layering.handlers);
    const waveOf = numberWaves(waves);
    const stores = groupBy(listStores(draft, waveOf), ({ key }) => key);
    const order = { waveOf, stores, session, earlier };
    yield* checkSessions(draft, order);
    const unreliable =
      stores.size === 0 ? new Map<string, string>() : yield* findUnreliable(draft, () => undefined);
    const stored = new StoredShapes(draft, shapes, order, unreliable);
    onStored?.(stored);
    yield* checkOutputPaths(draft, shapes, waves, stored, suggestions);
  } else yield describeCycle(layering, draft);
}

function describeCycle({ cycle }: ListedLayering & { ok: false }, draft: PipelineDraft): Diagnostic {
  const first = draft.tasks.find(({ id }) => id === cycle[0]);
  return {
    code: 'cycle',
    message: `tasks wait for each other: ${abbreviate(cycle).join(' -> ')}`,
    path: first?.path ?? ['tasks'],
    hint: 'each needs the next; remove one reference or await',
  };
}

/** A function of its own, so that the pipeline keeps the catalog alive but not the parsed text. */
export function createNestedCheck(catalog: Catalog): CheckNestedPipeline {
  return (input, values) =>
    checkInSteps(input, { ...createCheckContext({ ...values, catalog }), suppliedInputs: [] });
}
