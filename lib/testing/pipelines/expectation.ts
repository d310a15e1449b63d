import { BoundedSchema } from '../../common/json-schema/bounded-schema.js';
import { CheckBudget, TOO_MANY_STEPS } from '../../common/json-schema/check-budget.js';
import { ALLOWED_KEYWORDS, isAnnotation } from '../../common/json-schema/keywords.js';
import { describeViolation, formatValuePath } from '../../common/json-schema/violation.js';
import { isObject, type Json, type JsonObject } from '../../common/json/json.js';
import { writeStart } from '../../common/json/json-writer.js';
import { formatCount, formatMebibytes } from '../../common/text.js';
import { PIPELINE_TEST_LIMITS } from '../../definition/schema/fields.js';
import type { TestExpectation } from '../../definition/schema/test-schema.js';
import type { CaseOutcome } from './run-case.js';

/** The fields of an expectation that have a value for each of several names. */
export const VALUE_FIELDS = ['outputs', 'handlers', 'blackboard'] as const;

type Key = string | number;

/** A part of what came out that a case does not expect. */
export interface Difference {
  /** Keys and indexes from `expect` to the part. */
  readonly path: readonly Key[];
  /** A sentence for people, with the path. */
  readonly message: string;
  /** Absent for what is not expected at all, and for a value that a schema refuses. */
  readonly expected?: Json;
  /** Absent for what did not come out. */
  readonly received?: Json;
  /** The whole entry of `expect` with what came out instead; undefined where a person has to decide. */
  readonly update?: { readonly path: readonly Key[]; readonly value: Json } | undefined;
}

const CHECKED_KEYWORDS = new Set(ALLOWED_KEYWORDS.filter((keyword) => !isAnnotation(keyword)));

/** Returns true for an expectation that is a schema: a map of which each key is a keyword that checks something (D91). */
export function isSchemaExpectation(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => CHECKED_KEYWORDS.has(key));
}

/** Finds where an outcome differs from what a case expects: the first places, for a value may have very many. */
export function findDifferences(
  expect: TestExpectation,
  outcome: CaseOutcome,
  most: number = PIPELINE_TEST_LIMITS.differences,
): Difference[] {
  const found: Difference[] = [];
  for (const difference of compareAll(expect, outcome)) {
    if (found.length === most) break;
    found.push(difference);
  }
  return found;
}

function* compareAll(expect: TestExpectation, outcome: CaseOutcome): Iterable<Difference> {
  yield* compareStatus(expect, outcome);
  yield* compareError(expect, outcome);
  for (const field of VALUE_FIELDS) yield* compareValues(field, expect[field] ?? {}, outcome);
  yield* compareCalls(expect, outcome);
  yield* compareNames('skipped', expect.skipped, [...outcome.skipped.keys()]);
  yield* compareNames('failed', expect.failed, failedNames(expect.failed ?? [], outcome));
  yield* compareWaves(expect, outcome);
}

const END_STATUSES = ['succeeded', 'failed'] as const;

function* compareStatus({ status, error }: TestExpectation, outcome: CaseOutcome): Iterable<Difference> {
  const mayFail = error !== undefined && error !== null;
  const expected = status ?? END_STATUSES[mayFail ? 1 : 0];
  if (outcome.status === expected) return;
  const reason = outcome.error === null ? '' : `: ${outcome.error}`;
  const message = `the run must end as ${expected}, and has ${outcome.status}${reason}`;
  const update = { path: ['status'], value: outcome.status };
  yield { path: ['status'], message, expected, received: outcome.status, update };
}

function* compareError({ error: expected }: TestExpectation, outcome: CaseOutcome): Iterable<Difference> {
  if (expected === undefined || expected === null) return;
  yield* compareValue(expected, outcome.error, ['error']);
}

function* compareValues(
  field: (typeof VALUE_FIELDS)[number],
  expected: Readonly<Record<string, Json>>,
  outcome: CaseOutcome,
): Iterable<Difference> {
  for (const [name, value] of Object.entries(expected)) {
    const path = [field, name];
    const received = outcome[field].get(name);
    if (received !== undefined) yield* compareValue(value, received, path);
    else
      yield {
        path,
        message: `${shownPath(path)} is missing${whyMissing(field, name, outcome)}`,
        expected: value,
      };
  }
}

function whyMissing(field: string, name: string, { skipped, failed }: CaseOutcome): string {
  const reason = skipped.get(name);
  if (reason !== undefined) return `: the task was skipped, because ${reason}`;
  const failure = failed.find(({ task }) => task === name);
  if (failure !== undefined) return `: the task has failed: ${failure.error}`;
  return field === 'blackboard' ? ': nothing was stored there' : ': the task did not run';
}

function* compareCalls({ calls }: TestExpectation, outcome: CaseOutcome): Iterable<Difference> {
  for (const [task, expected] of Object.entries(calls ?? {})) {
    const { count, inputs } = outcome.calls.get(task) ?? { count: 0, inputs: [] };
    const path = ['calls', task];
    const wanted = typeof expected === 'number' ? expected : expected.length;
    if (count !== wanted) {
      const why = count === 0 ? whyMissing('calls', task, outcome) : '';
      const message = `${task} must be called ${formatCount(wanted, 'time')}, and was called ${formatCount(count, 'time')}${why}`;
      yield { path, message, expected: wanted, received: count };
    }
    if (typeof expected === 'number') continue;
    const both = Math.min(wanted, inputs.length);
    for (let i = 0; i < both; i++) yield* compareInputs(expected[i] ?? {}, inputs[i], [...path, i]);
  }
}

function* compareInputs(
  expected: JsonObject,
  received: JsonObject | undefined,
  path: readonly Key[],
): Iterable<Difference> {
  if (received === undefined) {
    const most = formatMebibytes(PIPELINE_TEST_LIMITS.callsLength);
    yield {
      path,
      message: `${shownPath(path)} is too long: at most ${most} of inputs of a case are compared`,
    };
    return;
  }
  for (const [name, value] of Object.entries(expected)) {
    const member = [...path, name];
    const given = Object.hasOwn(received, name) ? received[name] : undefined;
    if (given !== undefined) yield* compareValue(value, given, member);
    else yield missingMember(member, value);
  }
}

function missingMember(path: readonly Key[], expected: Json): Difference {
  return { path, message: `${shownPath(path)} is missing; it must be ${shown(expected)}`, expected };
}

function* compareValue(expected: Json, received: Json, path: readonly Key[]): Iterable<Difference> {
  if (isSchemaExpectation(expected)) yield* compareWithSchema(expected, received, path);
  else {
    for (const found of compareEqual(expected, received, path))
      yield { ...found, update: { path, value: received } };
  }
}

function* compareWithSchema(schema: JsonObject, received: Json, path: readonly Key[]): Iterable<Difference> {
  const budget = new CheckBudget();
  const nouns = { one: `${shownPath(path)}: field`, all: shownPath(path) };
  for (const violation of new BoundedSchema(schema, budget, 1, 'implied').findViolations(received))
    yield { path, message: describeViolation(violation, nouns), received };
  if (budget.isExceeded) yield { path, message: `${shownPath(path)} ${TOO_MANY_STEPS}`, received };
}

function entries({ length }: readonly Json[]): string {
  return length === 1 ? '1 entry' : `${length} entries`;
}

/** Finds the smallest parts that differ. */
function* compareEqual(expected: Json, received: Json, path: readonly Key[]): Iterable<Difference> {
  if (Array.isArray(expected) && Array.isArray(received)) {
    if (expected.length !== received.length) {
      const message = `${shownPath(path)} must have ${entries(expected)}, and has ${received.length}`;
      yield { path, message, expected, received };
    }
    const both = Math.min(expected.length, received.length);
    for (let i = 0; i < both; i++)
      yield* compareEqual(expected[i] ?? null, received[i] ?? null, [...path, i]);
  } else if (isObject(expected) && isObject(received)) yield* compareMaps(expected, received, path);
  else if (expected !== received) {
    const message = `${shownPath(path)} must be ${shown(expected)}, not ${shown(received)}`;
    yield { path, message, expected, received };
  }
}

function* compareMaps(
  expected: JsonObject,
  received: JsonObject,
  path: readonly Key[],
): Iterable<Difference> {
  for (const [key, value] of Object.entries(expected)) {
    const member = [...path, key];
    const found = Object.hasOwn(received, key) ? received[key] : undefined;
    if (found !== undefined) yield* compareEqual(value, found, member);
    else yield missingMember(member, value);
  }
  for (const [key, value] of Object.entries(received)) {
    if (Object.hasOwn(expected, key)) continue;
    const member = [...path, key];
    yield { path: member, message: `${shownPath(member)} is not expected: ${shown(value)}`, received: value };
  }
}

function* compareNames(
  field: 'skipped' | 'failed',
  expected: readonly string[] | null | undefined,
  received: readonly string[],
): Iterable<Difference> {
  if (expected === undefined || expected === null) return;
  const missing = expected.filter((name) => !received.includes(name));
  const more = received.filter((name) => !expected.includes(name));
  if (missing.length === 0 && more.length === 0) return;
  const verb = field === 'skipped' ? 'was' : 'has';
  const parts = [
    ...missing.map((name) => `"${name}" ${verb} not ${field}`),
    ...more.map((name) => `"${name}" ${verb} ${field}`),
  ];
  const update = { path: [field], value: [...received] };
  const message = `${field}: ${parts.join(', ')}`;
  yield { path: [field], message, expected: [...expected], received: [...received], update };
}

/** Names items only where the case does. */
function failedNames(expected: readonly string[], { failed }: CaseOutcome): readonly string[] {
  const byItem = new Set(
    expected.filter((name) => name.endsWith(']')).map((name) => name.replace(/\[\d+\]$/, '')),
  );
  const names = failed.map(({ task, item }) =>
    item !== undefined && byItem.has(task) ? `${task}[${item}]` : task,
  );
  return [...new Set(names)];
}

function* compareWaves(
  { waves: expected }: TestExpectation,
  { waves: received }: CaseOutcome,
): Iterable<Difference> {
  if (expected === undefined || expected === null || expected === received) return;
  const message = `waves must be ${expected}, not ${received}`;
  yield { path: ['waves'], message, expected, received, update: { path: ['waves'], value: received } };
}

/** As in `outputs.total.lines[2]`. */
function shownPath(path: readonly Key[]): string {
  return formatValuePath(path);
}

function shown(value: Json): string {
  return writeStart(value, PIPELINE_TEST_LIMITS.shownLength);
}
