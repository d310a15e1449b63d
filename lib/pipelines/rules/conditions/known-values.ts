import { isObject, type Json, toList } from '../../../common/json/json.js';
import { writeStart } from '../../../common/json/json-writer.js';
import { ellipsize, joinFirst } from '../../../common/text.js';
import { isParamType } from '../../../definition/params.js';
import type { Expression } from '../../../definition/template/expressions/expression.js';
import { parseTemplate } from '../../../definition/template/parsing/parser.js';
import type { Reference } from '../../../definition/template/reference.js';
import { nameTypes } from '../../../definition/shapes/missing-member.js';
import { typesOf, type ValueShape } from '../../../definition/shapes/shape.js';
import type { ResolvedTemplate } from '../../shapes/pipeline-shapes.js';
import type { TaskList } from '../../flow/handlers.js';

/** The values that the template of a condition may have, as far as the definition says. */
export interface KnownValues {
  /** As in `param "kind"`. */
  readonly name: string;
  /** As in `one of "invoice", "receipt"`. */
  readonly describe: () => string;
  /** Types of JSON Schema. */
  readonly types: readonly string[];
  /** The bounds of a number. */
  readonly bounds: Readonly<Record<string, number>>;
  /** All of them, when they are few. */
  readonly values: readonly Json[] | undefined;
  /** Words of other products for these values. */
  readonly words?: ReadonlyMap<string, string>;
}

/** The template of a condition, with what it reads. */
interface ReadingCondition {
  readonly value: Json;
  readonly references: readonly { readonly reference: Reference }[];
}

/** The place of a condition: its pipeline declares the params, its list says how the run may have ended. */
export interface ConditionPlace {
  readonly params: Readonly<Record<string, unknown>>;
  /** Undefined for a sub-pipeline. */
  readonly list?: TaskList | undefined;
  /** The shape of the value of a template; undefined for a sub-pipeline. */
  readonly shapeOf?: (reading: ResolvedTemplate) => ValueShape;
}

/** The most values that are tried: more would take long. */
export const MAX_CHOICES = 100;

/** Values that a message lists. */
const MAX_LISTED = 10;

/** Returns the values that a condition may see; undefined when the definition says nothing of them. */
export function findKnownValues(
  { value, references }: ReadingCondition,
  { params, list, shapeOf }: ConditionPlace,
): KnownValues | undefined {
  if (typeof value !== 'string') return undefined;
  const parsed = parseTemplate(value);
  if (parsed?.ok !== true) return undefined;
  if (!parsed.whole) return ofText(`"${ellipsize(value, 80)}"`);
  const [expression] = parsed.parts.flatMap((part) => (typeof part === 'string' ? [] : part.expression));
  const [first] = references;
  if (expression === undefined || first === undefined || expression.fallback !== undefined) return undefined;
  const { reference } = first;
  const known = ofReference(reference, expression, params, list);
  return known ?? (shapeOf && ofShape(shapeOf({ reference, expression }), expression));
}

function ofReference(
  reference: Reference,
  { source, path }: Expression,
  params: ConditionPlace['params'],
  list: TaskList | undefined,
): KnownValues | undefined {
  if (path.length !== 1) return undefined;
  const name = `{{${ellipsize(source, 80)}}}`;
  if (reference.kind === 'param') return ofParam(reference.name, params);
  if (reference.kind === 'task' && reference.member === 'status') return ofStatus(name, TASK_STATUSES);
  if (reference.kind === 'run' && reference.member === 'status' && list !== undefined && list !== 'tasks')
    return ofStatus(list === 'finally' ? name : `in "${list}", ${name}`, RUN_STATUSES[list]);
  return undefined;
}

/** The types of what a tool returns, and its choices. A value that the definition writes is known by its type only. */
function ofShape(shape: ValueShape, { source }: Expression): KnownValues | undefined {
  const types = typesOf(shape);
  if (types === undefined || types.size === 0) return undefined;
  const choices = typeof shape === 'object' && Array.isArray(shape['enum']) ? (shape['enum'] as Json[]) : [];
  const values = choices.length > 0 && choices.length <= MAX_CHOICES ? choices : undefined;
  const describe = (): string => (values === undefined ? nameTypes(types) : describeChoices(values));
  return { name: `{{${ellipsize(source, 80)}}}`, describe, types: [...types], bounds: {}, values };
}

function ofText(name: string): KnownValues {
  return { name, describe: () => 'a text', types: ['string'], bounds: {}, values: undefined };
}

const TASK_STATUSES = ['succeeded', 'failed', 'skipped'];

/** How a run may have ended when the handlers of a list run (D80). */
const RUN_STATUSES: Readonly<Record<Exclude<TaskList, 'tasks'>, readonly string[]>> = {
  on_success: ['succeeded'],
  on_failure: ['failed'],
  on_cancel: ['cancelled'],
  finally: ['succeeded', 'failed', 'cancelled'],
};

/** Statuses as other products call them. */
const STATUS_WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    succeeded: ['success', 'successful', 'ok', 'completed', 'complete', 'done', 'passed', 'finished'],
    failed: ['failure', 'fail', 'error', 'errored'],
    skipped: ['skip', 'omitted'],
    cancelled: ['cancel', 'aborted', 'killed', 'terminated'],
  }).flatMap(([status, words]) => words.map((word) => [word, status] as const)),
);

function ofStatus(name: string, values: readonly string[]): KnownValues {
  const describe = (): string => describeChoices(values);
  return { name, describe, types: ['string'], bounds: {}, values, words: STATUS_WORDS };
}

/** The types of params, with the names that JSON Schema has for them. */
const PARAM_TYPES = {
  string: ['string', 'a text'],
  integer: ['integer', 'a whole number'],
  number: ['number', 'a number'],
  boolean: ['boolean', 'true or false'],
  list: ['array', 'a list'],
  object: ['object', 'an object'],
} as const;

/** Undefined for a param whose declaration is wrong: its check says so. */
function ofParam(name: string, params: ConditionPlace['params']): KnownValues | undefined {
  const param = Object.hasOwn(params, name) ? params[name] : undefined;
  if (!isObject(param)) return undefined;
  const { type = 'string', minimum, maximum, enum: choices } = param;
  if (!isParamType(type)) return undefined;
  const [jsonType, noun] = PARAM_TYPES[type];
  const mayBeNull = param['default'] === null;
  const values = listValues(type, choices, mayBeNull);
  const bounds = { ...toBound('minimum', minimum), ...toBound('maximum', maximum) };
  const isChosen = Array.isArray(choices) && values !== undefined;
  return {
    name: `param "${name}"`,
    describe: () =>
      isChosen ? describeChoices(values) : `${noun}${describeBounds(bounds)}${mayBeNull ? ' or null' : ''}`,
    types: mayBeNull ? [jsonType, 'null'] : [jsonType],
    bounds,
    values,
  };
}

function listValues(type: string, choices: unknown, mayBeNull: boolean): readonly Json[] | undefined {
  const listed = Array.isArray(choices) ? (toList(choices) as readonly Json[]) : undefined;
  const values = listed ?? (type === 'boolean' ? [true, false] : undefined);
  if (values === undefined || values.length > MAX_CHOICES) return undefined;
  return mayBeNull ? [...values, null] : values;
}

function toBound(keyword: string, bound: unknown): KnownValues['bounds'] {
  return typeof bound === 'number' ? { [keyword]: bound } : {};
}

function describeBounds({ minimum, maximum }: KnownValues['bounds']): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return ` of at least ${minimum}`;
  return maximum === undefined ? '' : ` of at most ${maximum}`;
}

function describeChoices(values: readonly Json[]): string {
  // A choice may be a large list, and many conditions may read it.
  const shown = values.map((choice, index) => (index < MAX_LISTED ? writeStart(choice, 80) : ''));
  return values.length === 1 ? `always ${shown.join('')}` : `one of ${joinFirst(shown, MAX_LISTED)}`;
}
