import { describeKind, isObject } from '../../common/json/json.js';
import type { Diagnostic } from '../problems/diagnostic.js';
import { MAX_PROBLEMS, type Path } from '../problems/problem.js';
import { readSource, type Source } from '../text/source.js';
import { HANDLER_LISTS, PIPELINE_FIELDS, PLAN_FIELDS, SUB_PIPELINE_FIELDS, TASK_FIELDS } from './fields.js';
import { hintForForeignField } from './foreign-fields.js';

export type DefinitionKind = 'pipeline' | 'plan';

const KINDS = ['pipeline', 'plan'] as const;
const PARTS = { pipeline: 'tasks', plan: 'pipelines' } as const;
const LISTS = { pipeline: 'tasks', plan: 'sub_pipelines' } as const;
const FIELDS = { pipeline: PIPELINE_FIELDS, plan: PLAN_FIELDS } as const;
const PART_FIELDS = { pipeline: TASK_FIELDS, plan: SUB_PIPELINE_FIELDS } as const;

/** The definition within a document, and the path to it. */
export type Root =
  | {
      readonly ok: true;
      /** Without the fields that have nothing behind them (D53). */
      readonly definition: unknown;
      readonly path: Path;
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/**
 * Finds the definition in a document: `{pipeline: {...}}`, `{plan: {...}}` or the bare object (D3, D44). Fails on a
 * definition of the other kind, and says which it is.
 */
export function findRoot(value: unknown, wanted: DefinitionKind): Root {
  if (!isObject(value)) {
    const kind = typeof value === 'string' ? 'text' : describeKind(value);
    return failure('wrong_type', `a definition must be a map, not ${kind}`, [], `start with "${wanted}:"`);
  }
  if (Object.hasOwn(value, wanted)) return rootUnderKey(value, wanted);
  const found = detectKind(value);
  if (found === wanted && detectBareKind(value) === undefined) return wrongKey(found);
  if (found !== undefined && found !== wanted) {
    const hint = `run and validate it as a ${found}`;
    return failure('invalid_value', `this is a ${found}, not a ${wanted}`, [], hint);
  }
  if (FIELDS[wanted].some((field) => Object.hasOwn(value, field)) && !isOfOtherProduct(value)) {
    return { ok: true, definition: omitEmptyFields(value, wanted), path: [], diagnostics: [] };
  }
  return failure('missing_field', `the definition contains no ${wanted}`, [], hintForStart(value, wanted));
}

/** Keys at the top of the files of Dagu, GitHub Actions and Argo Workflows. */
const FILE_KEYS = ['steps', 'jobs', 'apiVersion'];

/** Some keys, such as `description`, are fields here too; but every definition of ours has an id or a goal. */
function isOfOtherProduct(value: Record<string, unknown>): boolean {
  const has = (key: string): boolean => Object.hasOwn(value, key);
  return !has('id') && !has('goal') && FILE_KEYS.some(has);
}

function hintForStart(value: Record<string, unknown>, wanted: DefinitionKind): string {
  const start = `start with "${wanted}:"`;
  if (Object.hasOwn(value, 'cases')) return 'these are tests of a definition: `wavetrain test` runs them';
  const isForeign =
    isOfOtherProduct(value) ||
    Object.keys(value).some((key) => hintForForeignField(key, FIELDS[wanted], value) !== undefined);
  if (!isForeign) return start;
  const hasSteps = Object.hasOwn(value, 'steps') || Object.hasOwn(value, 'jobs');
  const parts = hasSteps ? `, and list the ${PARTS[wanted]} under "${LISTS[wanted]}"` : '';
  return `${start}${parts}; docs/other-products.md says what the words of other products are called here`;
}

function rootUnderKey(value: Record<string, unknown>, kind: DefinitionKind): Root {
  const definition = value[kind];
  const bareKind = detectBareKind(definition);
  if (bareKind !== undefined && bareKind !== kind) return wrongKey(bareKind);
  const diagnostics = Object.keys(value)
    .filter((key) => key !== kind)
    .slice(0, MAX_PROBLEMS + 1)
    .map((key) => misplacedField(key, value, kind));
  return { ok: true, definition: omitEmptyFields(definition, kind), path: [kind], diagnostics };
}

/** Leaves out the known fields that are null, of a definition and of its parts. Copies only what has any. */
function omitEmptyFields(definition: unknown, kind: DefinitionKind): unknown {
  if (!isObject(definition)) return definition;
  const whole = omitEmptyPartFields(omitNulls(definition, FIELDS[kind]), LISTS[kind], PART_FIELDS[kind]);
  return HANDLER_LISTS.reduce((kept, list) => omitEmptyPartFields(kept, list, TASK_FIELDS), whole);
}

/** Leaves out the known fields that are null, of the parts in a list. */
function omitEmptyPartFields(
  whole: Readonly<Record<string, unknown>>,
  list: string,
  fields: readonly string[],
): typeof whole {
  const parts = whole[list];
  if (!Array.isArray(parts)) return whole;
  const kept = parts.map((part: unknown) => (isObject(part) ? omitNulls(part, fields) : part));
  return kept.every((part, index) => part === parts[index]) ? whole : { ...whole, [list]: kept };
}

function omitNulls(object: Readonly<Record<string, unknown>>, fields: readonly string[]): typeof object {
  if (!Object.values(object).includes(null)) return object;
  const isKept = ([field, value]: [string, unknown]): boolean => value !== null || !fields.includes(field);
  return Object.fromEntries(Object.entries(object).filter(isKept));
}

function misplacedField(key: string, owner: unknown, kind: DefinitionKind): Diagnostic {
  const message = `"${key}" is beside "${kind}"`;
  const hint = hintForForeignField(key, FIELDS[kind], owner) ?? `move it under "${kind}" or remove it`;
  return { code: 'unknown_field', message, path: [key], hint, at: 'key' };
}

/** The key of one kind, with the list of the other under it. */
function wrongKey(kind: DefinitionKind): Root {
  const key = kind === 'plan' ? 'pipeline' : 'plan';
  const message = `it starts with "${key}:" but contains "${LISTS[kind]}"`;
  return failure('invalid_value', message, [key], `start with "${kind}:"`);
}

function failure(code: Diagnostic['code'], message: string, path: Path, hint: string): Root {
  return { ok: false, diagnostic: { code, message, path, hint } };
}

/** A key of a plan at the left margin, where a root key is written. */
const PLAN_KEY = /^["']?(?:plan|sub_pipelines)["']?\s*:/m;

type HasValue = Pick<Source, 'value'>;

/** Detects whether a text defines a plan or a pipeline; anything else counts as a pipeline. Never throws. */
export function detectKindOfText(text: string, { value }: HasValue = readSource(text)): DefinitionKind {
  // A text that cannot be parsed has no root; its problems are the same for both kinds.
  if (value === undefined) return PLAN_KEY.test(text) ? 'plan' : 'pipeline';
  return detectKind(value) ?? 'pipeline';
}

/** Detects the kind by the list of parts, or else by the root key; undefined when there is neither. */
export function detectKind(value: unknown): DefinitionKind | undefined {
  if (!isObject(value)) return undefined;
  const kind = detectBareKind(value);
  if (kind !== undefined) return kind;
  const key = KINDS.find((known) => Object.hasOwn(value, known));
  return key && (detectBareKind(value[key]) ?? key);
}

function detectBareKind(value: unknown): DefinitionKind | undefined {
  if (!isObject(value)) return undefined;
  const [hasTasks, hasSubPipelines] = [Object.hasOwn(value, 'tasks'), Object.hasOwn(value, 'sub_pipelines')];
  if (hasTasks === hasSubPipelines) return undefined;
  return hasTasks ? 'pipeline' : 'plan';
}
