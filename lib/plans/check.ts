import { byPosition, firstProblems, notToldAlready, placed } from '../definition/placing.js';
import type { Problem } from '../definition/problem.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import { PLAN_SHAPE } from '../definition/schema/plan-shape.js';
import { rootOf } from '../definition/schema/root.js';
import { type Finding, structureFindings } from '../definition/schema/structure.js';
import { readSource, type Source, sourceOfValue } from '../definition/text/source.js';
import type { CheckOptions } from '../pipelines/check.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import { superfluousInputs } from '../pipelines/rules/unused-inputs.js';
import { Suggestions } from '../pipelines/suggestions.js';
import { layer, type Upstream } from '../pipelines/waves.js';
import { assemblePlan } from './assemble.js';
import { type DraftSubPipeline, type PlanDraft, planDraftOf } from './draft.js';
import { cycleFinding, needsOf, orderOf, Writers } from './order.js';
import { checkPipelines, type KnownOfPipelines, type PipelineCheck } from './pipeline-checks.js';
import type { GivenPipeline, Plan } from './plan.js';
import { contractFindings } from './rules/contract.js';
import { keyFindings } from './rules/keys.js';
import { superfluousPipelines } from './rules/unused-pipelines.js';
import { type PlanStatistics, planStatisticsOf } from './statistics.js';

export interface PlanCheckOptions extends CheckOptions {
  /** Pipelines that do not stand in the plan itself, by sub-pipeline id. */
  readonly pipelines?: ReadonlyMap<string, GivenPipeline>;
  /**
   * Every pipeline must be at hand, as it must to run. Default true. When false, a sub-pipeline without one is
   * checked by what the plan says of it, with a warning.
   */
  readonly complete?: boolean;
}

/** A sound plan, and the plan itself when all its pipelines are at hand; or all that is wrong with it. */
export type PlanCheck =
  | {
      readonly ok: true;
      readonly plan: Plan | undefined;
      readonly statistics: PlanStatistics;
      readonly problems: readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The validator of plans (Plan, rule 3; D44, D46): parses YAML or JSON, checks all there is to check, runs nothing. */
export function checkPlan(text: string, options: PlanCheckOptions): PlanCheck {
  return checkPlanSource(readSource(text), options);
}

/** The same for a definition that came as an object: problems have no line. */
export function checkPlanDefinition(value: unknown, options: PlanCheckOptions): PlanCheck {
  return checkPlanSource(sourceOfValue(value), options);
}

/** The same for a text that has been read. */
export function checkPlanSource(source: Source, options: PlanCheckOptions): PlanCheck {
  if (source.value === undefined) return { ok: false, problems: source.problems };
  const root = rootOf(source.value, 'plan');
  if (!root.ok) return { ok: false, problems: [...source.problems, placed(root.finding, source, [])] };
  const draft = planDraftOf(root.definition);
  const writers = new Writers(draft);
  const needs = needsOf(draft, writers);
  const layering = layer(needs);
  const known = knownOf(draft, writers, options);
  const checks = checkPipelines(draft, source, root.path, known);
  const cycle = layering.ok ? [] : [cycleFinding(layering, draft, writers)];
  const findings = [...findingsOf(root.definition, draft, checks, known), ...cycle];
  const ofPlan = [
    ...source.problems,
    ...root.findings.map((finding) => placed(finding, source, [])),
    ...findings
      .filter(notToldAlready(source, root.path))
      .map((finding) => placed(finding, source, root.path)),
    ...superfluousPipelines(draft, known.given),
    ...superfluousInputs(Object.keys(options.inputs ?? {}), takenBy(draft)),
  ];
  const problems = inOrder(ofPlan, checks);
  if (problems.some(({ severity }) => severity === 'error') || !layering.ok) return { ok: false, problems };
  return soundPlan(root.definition as PlanDefinition, needs, layering.waves, checks, problems);
}

/** What is handed on is read by some pipeline, or told where it is not. */
function takenBy({ inputKeys, subPipelines }: PlanDraft): Parameters<typeof superfluousInputs>[1] {
  const handedOn = subPipelines.flatMap(({ inputs }) => inputs.map(({ key }) => key));
  const why = 'the plan neither declares it nor hands it on to a sub-pipeline';
  return { inputs: new Set([...inputKeys, ...handedOn]), why };
}

function findingsOf(
  definition: unknown,
  draft: PlanDraft,
  checks: readonly PipelineCheck[],
  known: KnownOfPipelines,
): Finding[] {
  const structure = structureFindings(definition, PLAN_SHAPE);
  return [
    ...structure,
    ...keyFindings(draft, known),
    ...checks.flatMap((check) => check.findings),
    ...comparisons(checks, structure, known),
  ];
}

function soundPlan(
  definition: PlanDefinition,
  needs: Upstream,
  waves: readonly (readonly string[])[],
  checks: readonly PipelineCheck[],
  problems: readonly Problem[],
): PlanCheck {
  const pipelines = pipelinesById(checks);
  const statistics = planStatisticsOf(definition, orderOf(needs), waves, pipelines.values());
  const plan = assemblePlan(definition, pipelines, needs, statistics, problems);
  return { ok: true, plan, statistics, problems };
}

function knownOf(draft: PlanDraft, writers: Writers, options: PlanCheckOptions): KnownOfPipelines {
  const { catalog, inputs = {}, session = {}, pipelines = new Map(), complete = true } = options;
  return {
    catalog,
    writers,
    session: new Set(Object.keys(session)),
    inputs: new Set([...draft.inputKeys, ...Object.keys(inputs)]),
    suggestions: new Suggestions(),
    given: pipelines,
    complete,
  };
}

/** Of those whose own fields are in order: what else the plan says of the others may be what was misspelt. */
function comparisons(
  checks: readonly PipelineCheck[],
  structure: readonly Finding[],
  known: KnownOfPipelines,
): Finding[] {
  const broken = new Set(structure.map(({ path }) => path[1]));
  return checks.flatMap(({ subPipeline, pipeline, file }) =>
    pipeline === undefined || broken.has(subPipeline.path[1])
      ? []
      : contractFindings({ subPipeline, pipeline, file }, known),
  );
}

/** Those of the plan's own text by position, then those of each other pipeline; errors before warnings. */
function inOrder(ofPlan: readonly Problem[], checks: readonly PipelineCheck[]): Problem[] {
  const inPlan = checks.filter(({ subPipeline }) => isInline(subPipeline));
  const elsewhere = checks.filter(({ subPipeline }) => !isInline(subPipeline));
  const text = [...ofPlan, ...inPlan.flatMap(({ problems }) => problems)].sort(byPosition);
  const all = [...text, ...elsewhere.flatMap(({ problems }) => problems)];
  return firstProblems([
    ...all.filter(({ severity }) => severity === 'error'),
    ...all.filter(({ severity }) => severity === 'warning'),
  ]);
}

function isInline({ inline }: DraftSubPipeline): boolean {
  return inline !== undefined;
}

function pipelinesById(checks: readonly PipelineCheck[]): Map<string, Pipeline> {
  return new Map(
    checks.flatMap(({ subPipeline: { id }, pipeline }) => (pipeline === undefined ? [] : [[id, pipeline]])),
  );
}
