import { isObject, type JsonObject } from '../../common/json/json.js';
import { CheckBudget } from '../../common/json-schema/check-budget.js';
import { SchemaReview } from '../../common/json-schema/keywords.js';
import { validate } from '../../definition/generated/test-validator.js';
import { nearest } from '../../definition/did-you-mean.js';
import { compareProblems, type Diagnostic, toProblems } from '../../definition/problems/diagnostic.js';
import { hintRename } from '../../definition/problems/hint.js';
import type { Path, Problem } from '../../definition/problems/problem.js';
import { PIPELINE_TEST_LIMITS, TEST_FIELDS } from '../../definition/schema/fields.js';
import { checkStructure, type DefinitionShape } from '../../definition/schema/structure.js';
import type { TestCaseDefinition, TestFileDefinition } from '../../definition/schema/test-schema.js';
import type { Source } from '../../definition/text/source.js';
import { isSchemaExpectation, VALUE_FIELDS } from './expectation.js';
import type { TestedDefinition } from './tested-definition.js';

/** The structure of a file of tests (D91). */
const TEST_SHAPE: DefinitionShape = {
  validate,
  kind: 'test',
  parts: 'cases',
  part: 'case',
  fieldsAt: ([first, , field, ...rest]) => {
    if (first !== 'cases') return TEST_FIELDS.file;
    if (field === 'expect') return TEST_FIELDS.expect;
    return field === 'answers' && rest.length > 0 ? TEST_FIELDS.answer : TEST_FIELDS.case;
  },
  keyLists: { skipped: '', failed: '' },
};

/** The cases of a file without errors of its own; or its problems. */
export type TestFileCheck =
  | { readonly ok: true; readonly cases: readonly TestCaseDefinition[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Checks the text of a file of tests, and that the definition has the tasks that it names. */
export function checkTestFile(source: Source, tested: TestedDefinition | undefined): TestFileCheck {
  if (source.value === undefined) return { ok: false, problems: source.problems };
  const structure = checkStructure(source.value, TEST_SHAPE);
  const file = source.value as TestFileDefinition;
  const found = structure.length > 0 ? structure : [...checkCases(file, tested)];
  const problems = [...source.problems, ...toProblems(found, source, [])].sort(compareProblems);
  if (problems.some(({ severity }) => severity === 'error')) return { ok: false, problems };
  return { ok: true, cases: file.cases };
}

function* checkCases(
  { cases }: TestFileDefinition,
  tested: TestedDefinition | undefined,
): Iterable<Diagnostic> {
  const names = new Set<string>();
  for (const [index, each] of cases.entries()) {
    const path = ['cases', index];
    if (names.has(each.name)) {
      const message = `another case is called "${each.name}", too`;
      yield {
        code: 'duplicate_id',
        message,
        path: [...path, 'name'],
        hint: 'give each case a name of its own',
      };
    }
    names.add(each.name);
    yield* checkAnswers(each, path);
    yield* checkExpectation(each, path);
    if (tested !== undefined) yield* checkNames(each, path, tested);
  }
}

function* checkAnswers({ answers }: TestCaseDefinition, base: Path): Iterable<Diagnostic> {
  for (const [task, answer] of Object.entries(answers ?? {})) {
    const path = [...base, 'answers', task];
    yield* checkAnswer(answer, path, ['output', 'error', 'items']);
    const items = isObject(answer) ? answer['items'] : undefined;
    if (!Array.isArray(items)) continue;
    for (const [index, item] of items.entries())
      yield* checkAnswer(item, [...path, 'items', index], ['output', 'error']);
  }
}

function* checkAnswer(answer: unknown, path: Path, fields: readonly string[]): Iterable<Diagnostic> {
  if (Array.isArray(answer)) {
    for (const [index, each] of answer.entries())
      yield* checkAnswer(each, [...path, index], ['output', 'error']);
    return;
  }
  const given = isObject(answer) ? Object.keys(answer) : [];
  if (given.length === 1) return;
  const message = given.length === 0 ? 'an answer must not be empty' : `an answer has ${given.join(' and ')}`;
  yield { code: 'invalid_value', message, path, hint: `write one of ${fields.join(', ')}` };
}

/** Checks the schemas among the expected values. */
function* checkExpectation({ expect }: TestCaseDefinition, base: Path): Iterable<Diagnostic> {
  if (expect === undefined || expect === null) return;
  const path = [...base, 'expect'];
  yield* checkSchema(expect.error, [...path, 'error']);
  for (const field of VALUE_FIELDS) {
    for (const [key, value] of Object.entries(expect[field] ?? {}))
      yield* checkSchema(value, [...path, field, key]);
  }
  for (const [task, calls] of Object.entries(expect.calls ?? {})) {
    if (typeof calls === 'number') continue;
    for (const [index, inputs] of calls.entries())
      for (const [name, value] of Object.entries(inputs))
        yield* checkSchema(value, [...path, 'calls', task, index, name]);
  }
}

const SCHEMA_HINT =
  'a map of nothing but keywords of JSON Schema says what is valid; write {const: VALUE} for a value that is equal';

function* checkSchema(value: unknown, path: Path): Iterable<Diagnostic> {
  if (!isSchemaExpectation(value)) return;
  const review = new SchemaReview(new CheckBudget(), PIPELINE_TEST_LIMITS.cases);
  review.visit(value, path);
  for (const error of review.errors)
    yield {
      code: 'invalid_value',
      message: `"${String(error.path.at(-1))}" ${error.message}`,
      path: error.path,
      hint: SCHEMA_HINT,
    };
}

/** Checks that the definition has what a case names. */
function* checkNames(
  { answers, expect, params }: TestCaseDefinition,
  base: Path,
  { kind, tasks, parts, handlers }: TestedDefinition,
): Iterable<Diagnostic> {
  const noun = kind === 'plan' ? 'plan' : 'pipeline';
  if (kind === 'plan' && Object.keys(params ?? {}).length > 0)
    yield {
      code: 'invalid_value',
      message: 'a plan has no params',
      path: [...base, 'params'],
      hint: 'use inputs',
    };
  for (const name of Object.keys(answers ?? {}))
    if (!isTaskOf(name, tasks))
      yield unknownTask(name, tasks.keys(), noun, [...base, 'answers', name], 'key');
  const path = [...base, 'expect'];
  for (const name of Object.keys(expect?.calls ?? {}))
    if (!isTaskOf(name, tasks)) yield unknownTask(name, tasks.keys(), noun, [...path, 'calls', name], 'key');
  for (const name of Object.keys(expect?.outputs ?? {}))
    if (!tasks.has(name)) yield unknownTask(name, tasks.keys(), noun, [...path, 'outputs', name], 'key');
  for (const name of Object.keys(expect?.handlers ?? {}))
    if (!handlers.has(name)) yield unknownTask(name, handlers, noun, [...path, 'handlers', name], 'key');
  const all = [...tasks.keys(), ...parts];
  for (const field of ['skipped', 'failed'] as const) {
    for (const [index, name] of (expect?.[field] ?? []).entries())
      if (!all.includes(name.replace(/\[\d+\]$/, '')))
        yield unknownTask(name, all, noun, [...path, field, index]);
  }
}

/** Returns true for a task, and for one of a pipeline that a task runs: that may be known only when it runs. */
function isTaskOf(name: string, tasks: TestedDefinition['tasks']): boolean {
  if (tasks.has(name)) return true;
  const segments = name.split('/').map((segment) => segment.replace(/\[\d+\]$/, ''));
  return segments.some((_, depth) => {
    const outer = depth === 0 ? undefined : tasks.get(segments.slice(0, depth).join('/'));
    return outer?.tool.name === 'run_pipeline' || (outer !== undefined && outer.tool.pure !== true);
  });
}

function unknownTask(
  name: string,
  known: Iterable<string>,
  noun: string,
  path: Path,
  at?: 'key',
): Diagnostic {
  const names = [...known];
  const meant = nearest(name, names);
  const list = names.length === 0 ? 'it has none' : `its tasks are ${names.slice(0, 20).join(', ')}`;
  const hint = meant === undefined ? list : hintRename(name, meant);
  return {
    code: 'unknown_reference',
    message: `the ${noun} has no task "${name}"`,
    path,
    hint,
    ...(at !== undefined && { at }),
  };
}

/** The values that the cases give together: the check of a definition depends on the names of inputs and session values. */
export function valuesOfCases(cases: readonly TestCaseDefinition[]): {
  inputs: JsonObject;
  session: JsonObject;
} {
  const inputs: JsonObject = {};
  const session: JsonObject = {};
  for (const each of cases) {
    Object.assign(inputs, each.inputs);
    Object.assign(session, each.session);
  }
  return { inputs, session };
}
