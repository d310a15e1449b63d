import { type JsonObject, setOwn } from '../../common/json/json.js';
import { writeJsonInSteps } from '../../common/json/json-writer.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { Shape } from '../../common/wire/shape.js';
import type { BlackboardSchema, EditableDefinitionSchema } from '../../common/wire/submission.js';
import type { ReadableRun } from '../../execution/run/readable-run.js';
import { copyToJsonInSteps } from '../../execution/invocation/json-output.js';
import { StoredValues } from '../../execution/session/stored-values.js';
import type { Write } from '../../execution/session/session-overrides.js';
import type { ExecutionOptions } from '../../execution/prepare/run-inputs.js';
import { cutValueInSteps } from '../tasks/cut-value.js';
import { type HoldMemory, VALUE_LENGTH, WHOLE } from '../tasks/task-pages.js';
import type { TaskOptions } from '../tasks/task-record.js';
import { definitionOf, wholeDefinition } from './whole-definition.js';

/** Writes a definition as YAML; null when the text would be too long. @param hold takes memory for the text while it grows */
export type WriteYaml = (definition: JsonObject, hold: HoldMemory) => Steps<string | null>;

/** The submission of a run, as a rerun takes it: of a plan, with its pipelines in it (D60). */
export interface EditableDefinition extends Omit<Shape<typeof EditableDefinitionSchema>, 'options'> {
  readonly options: ExecutionOptions;
}

/** The session values with which a run began, and those that it has now (D59). */
export interface BlackboardView extends Shape<typeof BlackboardSchema> {}

export type BlackboardOptions = Pick<TaskOptions, 'whole'>;

/** Shows the submission of a run, in steps. Values of secrets are masked (D61). */
export function* showDefinition(
  run: ReadableRun,
  writeYaml: WriteYaml,
  hold: HoldMemory,
): Steps<EditableDefinition> {
  const { prepared } = run;
  const { inputs, session, submittedKeys, submittedOptions: options } = prepared;
  const definition = yield* mask(run, yield* toDefinition(run), hold);
  const submitted = yield* showText(run, definition);
  const isPlan = 'plan' in prepared;
  const ownConcurrency = isPlan ? (prepared.plan.definition.plan_concurrency ?? 1) : undefined;
  return {
    kind: run.kind,
    definition,
    yaml: submitted ?? (yield* writeYaml(definition, hold)),
    yaml_source: submitted === undefined ? 'generated' : 'submitted',
    params: isPlan ? {} : yield* mask(run, pick(prepared.params, submittedKeys.params), hold),
    inputs: yield* mask(run, pick(inputs, submittedKeys.inputs), hold),
    session: yield* mask(run, session, hold),
    options,
    ...(isPlan && prepared.concurrency !== ownConcurrency && { plan_concurrency: prepared.concurrency }),
  };
}

/**
 * The text of the definition as it was submitted; undefined when there is none, or it has the value of a secret, perhaps in
 * characters that YAML reads as others.
 *
 * @param shown the definition with its secrets masked
 */
function* showText(run: ReadableRun, shown: JsonObject): Steps<string | undefined> {
  const { submittedText: text, secrets } = run.prepared;
  if (text === undefined || secrets.masker === undefined) return text;
  if (secrets.masker.mask(text) !== text) return undefined;
  const [before, after] = [yield* writeJsonInSteps(yield* toDefinition(run)), yield* writeJsonInSteps(shown)];
  return before === after ? text : undefined;
}

function pick(values: JsonObject, keys: readonly string[]): JsonObject {
  const picked: JsonObject = {};
  for (const key of keys) if (Object.hasOwn(values, key)) setOwn(picked, key, values[key]);
  return picked;
}

function toDefinition(run: ReadableRun): Steps<JsonObject> {
  return wholeDefinition(definitionOf(run));
}

/** The session of a run before and after, in steps: its tasks may have stored very much. */
export function* showBlackboard(
  run: ReadableRun,
  { whole = false }: BlackboardOptions,
  hold: HoldMemory,
): Steps<BlackboardView> {
  const limit = whole ? WHOLE : VALUE_LENGTH;
  const before = yield* mask(run, run.prepared.session, hold);
  const stored = new StoredValues(before, undefined);
  let count = 0;
  for (const write of listWrites(run)) {
    stored.apply(write);
    if (++count % WRITES_PER_STEP === 0) yield;
  }
  hold(stored.bytes);
  const cut: string[] = [];
  return {
    before: (yield* cutValueInSteps(before, limit, '/before', cut)) as JsonObject,
    after: (yield* cutValueInSteps(stored.values, limit, '/after', cut)) as JsonObject,
    cut,
  };
}

const WRITES_PER_STEP = 5000;

/** In order: no two sub-pipelines of a plan store the same key, and its handlers are last. */
function* listWrites(run: ReadableRun): Iterable<Write> {
  const runs = run.kind === 'plan' ? [...run.subRuns.begun.values(), run.subRuns.handlers] : [run];
  for (const found of runs) {
    if (found === undefined) continue;
    const { work } = found;
    for (const writes of work.writesBefore(Number.POSITIVE_INFINITY)) yield* writes;
  }
}

/** A run may have been given the value of a secret in another way, such as in its params. */
function* mask(run: ReadableRun, values: JsonObject, hold: HoldMemory): Steps<JsonObject> {
  const { masker } = run.prepared.secrets;
  if (masker === undefined) return values;
  const { json, sizeBytes } = yield* copyToJsonInSteps(values, masker);
  hold(sizeBytes);
  return json as JsonObject;
}
