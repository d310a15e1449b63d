import type { CheckBudget } from '../../../common/json-schema/check-budget.js';
import { isAnnotation, SchemaReview } from '../../../common/json-schema/keywords.js';
import { formatValuePath } from '../../../common/json-schema/violation.js';
import { isObject, type JsonObject } from '../../../common/json/json.js';
import { ellipsize } from '../../../common/text.js';
import type { Diagnostic, Findings } from '../../../definition/problems/diagnostic.js';
import { writeFlow } from '../../../definition/problems/hint.js';
import type { Path } from '../../../definition/problems/problem.js';
import type { Reference } from '../../../definition/template/reference.js';
import { hintForConditionText } from '../../../definition/schema/foreign-values.js';
import { isTrue } from '../../../definition/template/condition.js';
import { parseTemplate } from '../../../definition/template/parsing/parser.js';
import { readsItem, writtenTextOf } from '../../flow/conditions.js';
import { mayLackOutput } from '../../flow/unreliable-outputs.js';
import { type DraftTask, listReferences, type PipelineDraft } from '../../draft.js';
import type { ValueShape } from '../../../definition/shapes/shape.js';
import type { PipelineShapes, ResolvedTemplate } from '../../shapes/pipeline-shapes.js';
import { findContradictions } from './contradictions.js';
import { hintForKeyword, hintForNot, valueAt } from './foreign-keywords.js';
import { type ConditionPlace, findKnownValues } from './known-values.js';

type DraftCondition = DraftTask['conditions'][number];

/** The parts of a condition that a check of it alone reads. */
type CheckedCondition = Pick<DraftCondition, 'value' | 'schema' | 'path'> & {
  readonly references: readonly { readonly reference: Reference }[];
};

/**
 * Checks the conditions of tasks (D77, D83), and warns of tasks that are skipped for want of an output (D78).
 *
 * @param example of a template that is at hand
 */
export function* checkConditions(
  draft: PipelineDraft,
  definition: unknown,
  shapes: PipelineShapes,
  budget: CheckBudget,
  example?: string,
): Findings {
  const hasConditions = draft.uncertain.size > 0 || draft.tasks.some(({ until }) => until.length > 0);
  if (!hasConditions) return;
  const params = isObject(definition) && isObject(definition['params']) ? definition['params'] : {};
  const causes = new Map(draft.tasks.flatMap(toCause));
  for (const task of draft.tasks) {
    yield;
    const shapeOf = (reading: ResolvedTemplate): ValueShape => shapes.ofReading(reading, task);
    const place = { params, list: task.list, shapeOf };
    for (const condition of [...task.conditions, ...task.until]) {
      yield;
      yield* checkCondition(condition, place, budget, example);
    }
    yield* checkReads(task, causes);
  }
}

/** @param example of a template that is at hand */
export function* checkCondition(
  condition: CheckedCondition,
  place: ConditionPlace,
  budget: CheckBudget,
  example = '"{{params.NAME}}" or "{{TASK.output}}"',
): Generator<Diagnostic> {
  const { value, schema, path } = condition;
  // The schema of definitions reports another type.
  if (typeof value !== 'string') return;
  // One that cannot be parsed is reported elsewhere.
  if (parseTemplate(value)?.ok === false) return;
  if (!hasTemplate(value)) {
    const message = `a condition needs a template, and "${ellipsize(value, 80)}" has none`;
    yield {
      code: 'invalid_value',
      message,
      path,
      hint:
        hintForConditionText(value, place.list === undefined ? 'sub_pipelines' : 'tasks') ??
        `write it as in ${example}`,
    };
    return;
  }
  if (schema === undefined) {
    if (hasOtherText(value)) yield reportAlwaysHolds(value, path);
    else yield* checkAlone(condition, place);
    return;
  }
  const whole = path.slice(0, -1);
  if (Object.keys(schema).every(isAnnotation)) {
    const message = 'the condition has a value, and nothing that the value must be';
    const hint = `add a keyword, as in const: VALUE, or write only ${JSON.stringify(ellipsize(value, 80))}`;
    yield { code: 'invalid_value', message, path: whole, hint };
    return;
  }
  const problems = reviewSchema(schema, whole, budget);
  yield* problems;
  if (problems.length > 0) return;
  yield* findContradictions(schema, findKnownValues(condition, place), whole, budget);
}

/** Finds a template alone that none of its values makes false, such as a status. */
function* checkAlone(condition: CheckedCondition, place: ConditionPlace): Generator<Diagnostic> {
  const { path, value } = condition;
  const known = findKnownValues(condition, place);
  const { values = [] } = known ?? {};
  const [first] = values;
  if (first === undefined || !values.every(isTrue)) return;
  const message = `the condition always holds: ${known?.name} is ${known?.describe()}`;
  const hint = `write {value: ${writeFlow(value, true)}, const: ${writeFlow(first, false)}}`;
  yield { code: 'invalid_value', message, path, hint };
}

function hasTemplate(text: string): boolean {
  return parseTemplate(text)?.parts.some((part) => typeof part !== 'string') ?? false;
}

/** True of a text around templates, which is never empty. */
function hasOtherText(text: string): boolean {
  return parseTemplate(text)?.parts.some((part) => typeof part === 'string' && part.trim() !== '') ?? false;
}

function reportAlwaysHolds(text: string, path: Path): Diagnostic {
  const hint =
    hintForConditionText(text) ??
    'write the template alone, or {value: "{{params.NAME}}", const: VALUE}, with not: {const: VALUE} for the opposite';
  const message = `the condition always holds: ${JSON.stringify(ellipsize(text, 80))} is a text, which is not computed`;
  return { code: 'invalid_value', message, path, hint };
}

function reviewSchema(schema: JsonObject, path: Path, budget: CheckBudget): Diagnostic[] {
  const review = new SchemaReview(budget);
  review.visitKeywords(schema, Object.keys(schema), []);
  return review.errors.map(({ path: place, unknownKeyword, message }) => {
    const code = 'invalid_value';
    const operand = valueAt(schema, place);
    if (unknownKeyword === undefined) {
      const hint = place.at(-1) === 'not' ? hintForNot(operand) : undefined;
      return { code, message: `"${formatValuePath(place)}" ${message}`, path: [...path, ...place], hint };
    }
    const hint = hintForKeyword(unknownKeyword, operand);
    const problem = `a condition has no keyword "${ellipsize(unknownKeyword, 80)}"`;
    return { code, message: problem, path: [...path, ...place], at: 'key', hint };
  });
}

/** Why the run may lack the output of a task, as the end of a sentence. */
function toCause(task: DraftTask): [string, string][] {
  if (!mayLackOutput(task)) return [];
  const condition = task.conditions.find((each) => !readsItem(each));
  if (condition === undefined) return [[task.id, 'has failed']];
  return [[task.id, `is, by its condition ${ellipsize(writtenTextOf(condition.value), 80)}`]];
}

/** Warns once of each task whose output is read without a default, although there may be none. */
function* checkReads(task: DraftTask, causes: ReadonlyMap<string, string>): Generator<Diagnostic> {
  const warned = new Set(tasksOfConditions(task));
  for (const { reference, hasFallback, source, path, at } of listReferences(task)) {
    if (reference.kind !== 'task' || reference.member !== undefined || hasFallback) continue;
    const { taskId } = reference;
    const cause = causes.get(taskId);
    if (cause === undefined || warned.has(taskId) || taskId === task.id) continue;
    warned.add(taskId);
    const message = `task "${task.id}" is skipped when "${taskId}" ${cause}`;
    const hint = `if it is to run then, write {{${source} ?? null}}`;
    yield { code: 'may_be_skipped', severity: 'warning', message, path, at, hint };
  }
}

/** The tasks that the conditions of a task read: their author knows that an output of these may be missing. */
export function tasksOfConditions({ conditions }: DraftTask): readonly string[] {
  return conditions.flatMap(({ references }) =>
    references.flatMap(({ reference }) => (reference.kind === 'task' ? reference.taskId : [])),
  );
}
