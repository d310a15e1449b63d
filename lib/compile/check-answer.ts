import { type CheckSteps, requestSource } from '../definition/text/source.js';
import type { Problem, ProblemCode } from '../definition/problems/problem.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import { detectKindOfText, findRoot } from '../definition/schema/root.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import { createCheckContext } from '../pipelines/check-context.js';
import { checkSourceInSteps } from '../pipelines/check.js';
import { checkPlanSourceInSteps } from '../plans/check.js';
import type { Catalog } from '../tools/catalog.js';

/** A definition that a model has written. */
export type CompiledDefinition =
  | { readonly kind: 'pipeline'; readonly pipeline: PipelineDefinition }
  | { readonly kind: 'plan'; readonly plan: PlanDefinition };

/** The verdict of the validator on an answer. */
export type CheckedAnswer =
  | { readonly ok: true; readonly definition: CompiledDefinition; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks an answer with the one validator (D8): whatever `validate` accepts of this text is accepted. Runs nothing. */
export function* checkAnswer(yaml: string, catalog: Catalog): CheckSteps<CheckedAnswer> {
  const source = yield* requestSource(yaml);
  if (detectKindOfText(yaml, source) === 'pipeline') {
    const check = yield* checkSourceInSteps(source, createCheckContext({ catalog }));
    if (!check.ok) return check;
    const { pipeline, problems } = check;
    return { ok: true, definition: { kind: 'pipeline', pipeline: pipeline.definition }, problems };
  }
  const { ok, problems } = yield* checkPlanSourceInSteps(source, { catalog });
  const root = findRoot(source.value, 'plan');
  if (!ok || !root.ok) return { ok: false, problems };
  return { ok: true, definition: { kind: 'plan', plan: root.definition as PlanDefinition }, problems };
}

/** Warnings that, in a model's answer, usually mean a mistake; the model is asked once to fix them. */
const PROBABLE_MISTAKES: ReadonlySet<ProblemCode> = new Set([
  'output_omitted',
  'stray_dollar',
  'stray_braces',
  'template_in_key',
  'session_never_stored',
  'session_race',
]);

export function findMistakes(problems: readonly Problem[]): Problem[] {
  return problems.filter(({ code }) => PROBABLE_MISTAKES.has(code));
}
