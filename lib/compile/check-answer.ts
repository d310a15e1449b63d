import { COMPILE_LIMITS } from '../common/limits.js';
import { cutText, joinFirst } from '../common/text.js';
import { type CheckSteps, requestSource } from '../definition/check-steps.js';
import { formatProblem, type Problem } from '../definition/problem.js';
import type { PlanDefinition } from '../definition/schema/plan-schema.js';
import { detectKindOfText, findRoot } from '../definition/schema/root.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import { createCheckContext } from '../pipelines/check-context.js';
import { checkSourceInSteps } from '../pipelines/check.js';
import { formatErrors } from '../pipelines/report.js';
import { checkPlanSourceInSteps } from '../plans/check.js';
import type { Catalog } from '../tools/catalog.js';

/** A definition that a model has written. */
export type CompiledDefinition =
  | { readonly kind: 'pipeline'; readonly pipeline: PipelineDefinition }
  | { readonly kind: 'plan'; readonly plan: PlanDefinition };

/** What the validator says of an answer. */
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

/** The errors of an answer, or else its warnings, for its history: a sentence in each line. */
export function joinErrors(problems: readonly Problem[]): string {
  const errors = formatErrors(problems);
  return (errors.length > 0 ? errors : problems.map(formatProblem)).join('\n');
}

/**
 * Asks a model to repair an answer: every problem with its line, its path and its cure.
 *
 * @param toolNames listed when the answer names another tool
 */
export function createRepairRequest(
  yaml: string,
  problems: readonly Problem[],
  toolNames: readonly string[],
): string {
  const lines = yaml.split('\n');
  const shown = problems.slice(0, COMPILE_LIMITS.problemsSent);
  const hidden = problems.length - shown.length;
  return [
    'The validator finds mistakes in that definition:',
    ...shown.map((problem) => describeForRepair(problem, lines)),
    ...(hidden > 0 ? [`- and ${hidden} more`] : []),
    ...(problems.some(({ code }) => code === 'unknown_tool')
      ? [`The tools are: ${joinFirst(toolNames, COMPILE_LIMITS.toolsNamed)}.`]
      : []),
    'Repair all of this, and return the whole corrected YAML, with nothing around it.',
  ].join('\n');
}

/** Shows the line itself too: models count lines badly. */
function describeForRepair(problem: Problem, lines: readonly string[]): string {
  const { line, path, severity } = problem;
  const code = line === undefined ? '' : (lines[line - 1] ?? '').trim();
  const where = line === undefined || path === '' ? '' : ` [${path}]`;
  const what = severity === 'warning' ? 'warning: ' : '';
  const text = cutText(`${what}${formatProblem(problem)}${where}`, COMPILE_LIMITS.problemLength);
  return `- ${text}${code === '' ? '' : `\n    ${cutText(code, COMPILE_LIMITS.problemLength)}`}`;
}
