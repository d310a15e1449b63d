import type { CheckBudget } from '../common/json-schema/check-budget.js';
import { isObject, toJsonPointer } from '../common/json/json.js';
import {
  type Diagnostic,
  type Findings,
  ProblemList,
  withPositionInMessage,
} from '../definition/problems/diagnostic.js';
import type { Path, Problem } from '../definition/problems/problem.js';
import { detectKind } from '../definition/schema/root.js';
import { Suggestions } from '../definition/did-you-mean.js';
import {
  type CheckSteps,
  groupUnquotedByEntry,
  nestedSource,
  readInput,
  type Source,
} from '../definition/text/source.js';
import { checkSourceInSteps } from '../pipelines/check.js';
import type { CheckContext, StoredLookup } from '../pipelines/check-context.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import type { Catalog } from '../tools/catalog.js';
import { type DraftSubPipeline, type PlanDraft, uniqueSubPipelines } from './draft.js';
import { StoredKeys } from './stored-keys.js';
import type { PipelineInput } from './plan.js';
import type { KeyContext } from './rules/keys.js';

export interface PlanCheckContext extends KeyContext {
  readonly catalog: Catalog;
  /** Pipelines that are not inline in the plan, by sub-pipeline id. */
  readonly pipelines: ReadonlyMap<string, PipelineInput>;
  /** Names of the secrets that there are; undefined when unknown (D61). */
  readonly secrets: CheckContext['secrets'];
  readonly isChecked: CheckContext['isChecked'];
  /** True when every pipeline is required, as for a run (D55). */
  readonly complete: boolean;
  /** Bounds the checks of params in all pipelines (D4). */
  readonly paramBudget: CheckBudget;
  readonly onRead: CheckContext['onRead'];
}

/** With what the sub-pipelines store that were checked before. */
interface SubPipelineContext extends PlanCheckContext {
  readonly stored: StoredKeys;
}

export interface SubPipelineCheck {
  readonly subPipeline: DraftSubPipeline;
  /** Undefined when the pipeline is missing or not valid. */
  readonly pipeline: Pipeline | undefined;
  readonly file: string | undefined;
  /** Problems that are still to be located in the plan. */
  readonly diagnostics: readonly Diagnostic[];
  /** Problems of the pipeline, each located in the plan, in its file, or in the pipelines submitted with the plan. */
  readonly problems: readonly Problem[];
}

/**
 * Checks the pipeline of each sub-pipeline, inline or not, as `checkPipeline` does (D8, D46), those that store keys before those
 * that read them. `base` leads to the plan.
 *
 * @param order the names of sub-pipelines as they run; those on a cycle are not in it
 */
export function* checkSubPipelines(
  { subPipelines }: PlanDraft,
  order: readonly string[],
  source: Source,
  base: Path,
  plan: PlanCheckContext,
): CheckSteps<SubPipelineCheck[]> {
  const unquotedIn = groupUnquotedByEntry(source, base, { list: 'sub_pipelines', field: ['pipeline'] });
  const checks = new Map<DraftSubPipeline, SubPipelineCheck>();
  const found = new ProblemList<Problem>();
  const stored = new StoredKeys(subPipelines, plan.writers, plan.session);
  const context = { ...plan, stored };
  const add = (check: SubPipelineCheck): void => {
    checks.set(check.subPipeline, check);
    for (const problem of check.problems) found.add(problem);
  };
  for (const subPipeline of sortByOrder(subPipelines, order)) {
    yield;
    const { id, name, path, inline } = subPipeline;
    if (found.isFull) add(unchecked(subPipeline));
    else if (inline !== undefined && isObject(inline.value)) {
      const inlinePath = [...base, ...path, 'pipeline'];
      const nested = nestedSource(source, inlinePath, inline.value, unquotedIn(Number(path[1])));
      add(yield* checkInline(subPipeline, nested, toJsonPointer(inlinePath), context));
    } else if (inline === undefined && id === name) {
      add(yield* checkExternal(subPipeline, context.pipelines.get(id), context));
    } else {
      // The schema reports an inline pipeline that is not a map. Of several sub-pipelines with one id, the first uses the
      // pipeline of that id.
      add(unchecked(subPipeline));
    }
  }
  return subPipelines.flatMap((subPipeline) => checks.get(subPipeline) ?? []);
}

function sortByOrder(
  subPipelines: readonly DraftSubPipeline[],
  order: readonly string[],
): readonly DraftSubPipeline[] {
  const places = new Map(order.map((name, place) => [name, place]));
  const placeOf = ({ name }: DraftSubPipeline): number => places.get(name) ?? order.length;
  return subPipelines.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function unchecked(subPipeline: DraftSubPipeline): SubPipelineCheck {
  return { subPipeline, pipeline: undefined, file: undefined, diagnostics: [], problems: [] };
}

function* checkInline(
  subPipeline: DraftSubPipeline,
  source: Source,
  pointer: string,
  context: SubPipelineContext,
): CheckSteps<SubPipelineCheck> {
  const { id, file, path } = subPipeline;
  const locate = (problem: Problem): Problem => ({ ...problem, path: `${pointer}${problem.path}` });
  const check = yield* checkSubPipeline(subPipeline, source, [...path, 'pipeline'], context, locate);
  if (file === undefined) return check;
  const message = `sub-pipeline "${id}" has both "file" and "pipeline"`;
  const hint = 'keep one of them';
  const diagnostic = { code: 'invalid_value', message, path: [...path, 'file'], hint } as const;
  return { ...check, diagnostics: [diagnostic, ...check.diagnostics] };
}

function* checkExternal(
  subPipeline: DraftSubPipeline,
  input: PipelineInput | undefined,
  context: SubPipelineContext,
): CheckSteps<SubPipelineCheck> {
  const { id, path, file } = subPipeline;
  const planPath = file === undefined ? path : [...path, 'file'];
  if (input === undefined || 'missing' in input) {
    const diagnostic = missingPipeline(subPipeline, input, planPath, context.complete);
    return { ...unchecked(subPipeline), diagnostics: [diagnostic] };
  }
  if ('unreadable' in input) {
    const diagnostic = { code: 'missing_pipeline', path: planPath, ...input.unreadable } as const;
    return { ...unchecked(subPipeline), diagnostics: [diagnostic] };
  }
  const shownFile = 'text' in input ? input.file : undefined;
  const locate = (problem: Problem): Problem =>
    shownFile === undefined
      ? { ...withPositionInMessage(problem), path: `${toJsonPointer(['pipelines', id])}${problem.path}` }
      : { ...problem, file: shownFile };
  const check = yield* checkSubPipeline(subPipeline, yield* readInput(input), planPath, context, locate);
  return { ...check, file: shownFile };
}

function* checkSubPipeline(
  subPipeline: DraftSubPipeline,
  source: Source,
  planPath: Path,
  context: SubPipelineContext,
  locate: (problem: Problem) => Problem,
): CheckSteps<SubPipelineCheck> {
  const empty = unchecked(subPipeline);
  if (detectKind(source.value) === 'plan') {
    const message = `sub-pipeline "${subPipeline.id}" is a plan, but a plan can only contain pipelines`;
    const hint = 'move its sub-pipelines into this plan';
    return { ...empty, diagnostics: [{ code: 'nested_plan', message, path: planPath, hint }] };
  }
  const reads = new Set(subPipeline.reads.map(({ key }) => key));
  const earlier = yield* context.stored.readBy(subPipeline);
  let stored: StoredLookup | undefined;
  const check = yield* checkSourceInSteps(source, {
    catalog: context.catalog,
    inputKeys: listAvailableInputs(subPipeline, context),
    suppliedInputs: [],
    inputHint: `give it a default under "inputs", or pass it in the "inputs" of sub-pipeline "${subPipeline.id}"`,
    session: { has: (key) => reads.has(key) || context.session.has(key) },
    earlier,
    secrets: context.secrets,
    isChecked: context.isChecked,
    depth: 0,
    heldPool: undefined,
    paramBudget: context.paramBudget,
    onRead: subPipeline.inline && ((read) => context.onRead?.(read, subPipeline.id)),
    onStored: (lookup) => {
      stored = lookup;
    },
  });
  if (check.ok && stored !== undefined) yield* context.stored.add(subPipeline, stored);
  // When the pipeline is valid, comparing it with the plan reports the keys that nothing stores.
  const kept = check.problems.filter(({ code }) => !check.ok || code !== 'session_never_stored');
  return { ...empty, pipeline: check.ok ? check.pipeline : undefined, problems: kept.map(locate) };
}

/**
 * Lists the inputs that the pipeline may read. The plan reports the unknown ones; here they count as available, and so
 * do the inputs that were probably meant.
 */
function listAvailableInputs({ inputs }: DraftSubPipeline, context: KeyContext): string[] {
  const { inputs: known, suggestions } = context;
  return inputs.flatMap(({ key }) => (known.has(key) ? key : [key, suggestions.nearest(key, known) ?? key]));
}

function missingPipeline(
  { id, file }: DraftSubPipeline,
  input: Extract<PipelineInput, { missing: unknown }> | undefined,
  path: Path,
  complete: boolean,
): Diagnostic {
  const { message, hint } = input?.missing ?? {
    message: `the pipeline ${file === undefined ? '' : `"${file}" `}of sub-pipeline "${id}" is missing`,
    hint: 'write it in the plan under "pipeline", or submit it with the plan',
  };
  if (complete) return { code: 'missing_pipeline', message, path, hint };
  const warning = `${message}, so only the declaration of "${id}" in the plan was checked`;
  return { code: 'missing_pipeline', severity: 'warning', message: warning, path, hint };
}

/** Warns of pipelines submitted with the plan that no sub-pipeline uses. Their paths are not in the plan. */
export function* checkUnusedPipelines(
  draft: PlanDraft,
  pipelines: ReadonlyMap<string, PipelineInput>,
): Findings {
  const byId = new Map(uniqueSubPipelines(draft).map((subPipeline) => [subPipeline.id, subPipeline]));
  const suggestions = new Suggestions();
  for (const id of pipelines.keys()) {
    const subPipeline = byId.get(id);
    if (subPipeline !== undefined && subPipeline.inline === undefined) continue;
    const isUnknown = subPipeline === undefined;
    const reason = isUnknown ? 'has no sub-pipeline of that id' : 'contains that pipeline';
    const message = `the submitted pipeline "${id}" is not used: the plan ${reason}`;
    const hint = isUnknown ? suggestions.hint(id, byId.keys()) : undefined;
    yield { code: 'unknown_reference', message, path: ['pipelines', id], severity: 'warning', hint };
  }
}
