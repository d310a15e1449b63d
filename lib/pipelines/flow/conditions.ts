import { durationToMs } from '../../common/duration.js';
import { isObject, type Json, type JsonObject, toList } from '../../common/json/json.js';
import { assertDefined } from '../../definition/assert.js';
import type { Path } from '../../definition/problems/problem.js';
import { MAX_CONDITIONS, REPEAT_LIMITS } from '../../definition/schema/fields.js';
import { hintForConditionText } from '../../definition/schema/foreign-values.js';
import type { RepeatDefinition } from '../../definition/schema/conditions.js';
import type { DroppableTemplates } from '../../definition/template/droppable-templates.js';
import type { Reference } from '../../definition/template/reference.js';
import type { Condition } from '../../definition/template/condition.js';
import type { Template } from '../../definition/template/template.js';

/** A condition as it stands in a definition, which may be wrong (D77). */
export interface WrittenCondition {
  /** The template, or what stands in its place. */
  readonly value: Json;
  /** Keywords of JSON Schema that the value must satisfy; undefined for a template alone. */
  readonly schema: JsonObject | undefined;
  /** Of the value. */
  readonly path: Path;
}

/** Lists the conditions of a `when`: one, or a list of them. */
export function listConditions(when: unknown, path: Path): readonly WrittenCondition[] {
  if (when === undefined || when === null) return [];
  if (!Array.isArray(when)) return [readCondition(when, path)];
  return toList(when)
    .slice(0, MAX_CONDITIONS + 1)
    .map((condition, index) => readCondition(condition, [...path, index]));
}

/** Lists the conditions of `repeat.until` (D83). */
export function listUntil(repeat: unknown, path: Path): readonly WrittenCondition[] {
  return isObject(repeat) ? listConditions(repeat['until'], path) : [];
}

function readCondition(condition: unknown, path: Path): WrittenCondition {
  if (!isObject(condition)) return { value: condition as Json, schema: undefined, path };
  const { value = null, ...schema } = condition;
  return { value: value as Json, schema: schema as JsonObject, path: [...path, 'value'] };
}

/** The template of a condition as it was written, for messages. */
export function writtenTextOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Says how to write a condition that is no template. */
export function hintForBrokenCondition(value: unknown): string | undefined {
  return typeof value === 'string' ? hintForConditionText(value) : undefined;
}

/** A condition whose template is compiled. */
interface CompiledCondition extends WrittenCondition {
  readonly template: Template;
  readonly references: readonly { readonly reference: Reference }[];
}

/** The conditions of a task, and those that each of its items answers by itself (D77). */
interface Conditions {
  readonly conditions: readonly Condition[];
  readonly itemConditions: readonly Condition[];
}

const NO_CONDITIONS: Conditions = { conditions: [], itemConditions: [] };

/** @param templates of the pipeline, which drop the compiled ones while no run needs them */
export function toConditions(
  compiled: readonly CompiledCondition[],
  templates: DroppableTemplates,
): Conditions {
  if (compiled.length === 0) return NO_CONDITIONS;
  return {
    conditions: compiled.filter((each) => !readsItem(each)).map((each) => toCondition(each, templates)),
    itemConditions: compiled.filter(readsItem).map((each) => toCondition(each, templates)),
  };
}

function toCondition(
  { template, value, schema }: CompiledCondition,
  templates: DroppableTemplates,
): Condition {
  return { template: templates.add(template, value), text: writtenTextOf(value), schema };
}

/** Calls the tool of a task again until conditions hold of its output (D83). */
export interface Repeat {
  readonly until: readonly Condition[];
  /** The wait between two rounds. */
  readonly everyMs: number;
  /** The number of rounds after which the task fails. */
  readonly atMost: number;
}

/** @param compiled the conditions of `until` */
export function toRepeat(
  repeat: RepeatDefinition | undefined,
  compiled: readonly CompiledCondition[],
  templates: DroppableTemplates,
): Repeat | undefined {
  if (repeat === undefined) return undefined;
  const { every = REPEAT_LIMITS.defaultEvery, at_most: atMost = REPEAT_LIMITS.defaultRounds } = repeat;
  const everyMs = assertDefined(durationToMs(every), 'a duration that was checked');
  return { until: compiled.map((each) => toCondition(each, templates)), everyMs, atMost };
}

/** Returns true for a condition that each item of a fan-out answers by itself. */
export function readsItem({ references }: Pick<CompiledCondition, 'references'>): boolean {
  return references.some(({ reference }) => reference.kind === 'item');
}
