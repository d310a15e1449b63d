import { isObject, kindOf } from '../../common/json.js';
import type { Path } from '../problem.js';
import { readSource, type Source } from '../text/source.js';
import { PIPELINE_FIELDS, PLAN_FIELDS } from './fields.js';
import type { Finding } from './structure.js';

/** What a definition defines. */
export type DefinitionKind = 'pipeline' | 'plan';

export type Root =
  | {
      readonly ok: true;
      readonly definition: unknown;
      readonly path: Path;
      readonly findings: readonly Finding[];
    }
  | { readonly ok: false; readonly finding: Finding };

/** What was given, by the list that it has, or else by its root key; undefined when neither tells. */
export function kindOfRoot(value: unknown): DefinitionKind | undefined {
  if (!isObject(value)) return undefined;
  const kind = bareKindOf(value);
  if (kind !== undefined) return kind;
  const key = KINDS.find((known) => Object.hasOwn(value, known));
  return key && (bareKindOf(value[key]) ?? key);
}

/**
 * Finds the definition in what was given: `{pipeline: {...}}`, `{plan: {...}}` or the bare object (D3, D44). One of
 * the other kind is refused as what it is.
 */
export function rootOf(value: unknown, wanted: DefinitionKind): Root {
  if (!isObject(value)) return refused('wrong_type', `a definition is a map, not ${kindOf(value)}`);
  if (Object.hasOwn(value, wanted)) return underItsKey(value, wanted);
  const found = kindOfRoot(value);
  if (found === wanted && bareKindOf(value) === undefined) return misnamed(found);
  if (found !== undefined && found !== wanted) return mistaken(found, wanted);
  if (FIELDS[wanted].some((field) => Object.hasOwn(value, field))) {
    return { ok: true, definition: value, path: [], findings: [] };
  }
  return refused('missing_field', `there is no ${wanted} in it`, [], `start with "${wanted}:"`);
}

const KINDS = ['pipeline', 'plan'] as const;

const LISTS = { pipeline: 'tasks', plan: 'sub_pipelines' } as const;

const FIELDS = { pipeline: PIPELINE_FIELDS, plan: PLAN_FIELDS } as const;

function bareKindOf(value: unknown): DefinitionKind | undefined {
  if (!isObject(value)) return undefined;
  const [hasTasks, hasSubPipelines] = [Object.hasOwn(value, 'tasks'), Object.hasOwn(value, 'sub_pipelines')];
  if (hasTasks === hasSubPipelines) return undefined;
  return hasTasks ? 'pipeline' : 'plan';
}

function underItsKey(value: Record<string, unknown>, kind: DefinitionKind): Root {
  const definition = value[kind];
  const bare = bareKindOf(definition);
  if (bare !== undefined && bare !== kind) return misnamed(bare);
  const strangers = Object.keys(value).filter((key) => key !== kind);
  return { ok: true, definition, path: [kind], findings: strangers.map((key) => stranger(key, kind)) };
}

/** Found beside the definition. */
function stranger(key: string, kind: DefinitionKind): Finding {
  const hint = `move it under "${kind}", or away`;
  return { code: 'unknown_field', message: `"${key}" stands beside "${kind}"`, path: [key], hint, at: 'key' };
}

function mistaken(found: DefinitionKind, wanted: DefinitionKind): Root {
  const message = `this is a ${found}, not a ${wanted}`;
  return refused('invalid_value', message, [], `run and validate it as a ${found}`);
}

/** The key of one kind stands over the list of the other. */
function misnamed(held: DefinitionKind): Root {
  const key = held === 'plan' ? 'pipeline' : 'plan';
  const message = `it begins with "${key}:" but holds "${LISTS[held]}"`;
  return refused('invalid_value', message, [key], `begin with "${held}:"`);
}

function refused(code: Finding['code'], message: string, path: Path = [], hint?: string): Root {
  return { ok: false, finding: { code, message, path, ...(hint === undefined ? {} : { hint }) } };
}

/** A key of a plan at the left margin, where a root key stands. */
const BEGINS_LIKE_A_PLAN = /^["']?(?:plan|sub_pipelines)["']?\s*:/m;

/**
 * Does a text define a plan or a pipeline? What is neither counts as a pipeline. Never throws.
 *
 * @param source what was read of the text, when that is at hand
 */
export function kindOfDefinition(
  text: string,
  { value }: Pick<Source, 'value'> = readSource(text),
): DefinitionKind {
  // A text that cannot be read has lost its root; its problems are the same either way.
  if (value === undefined) return BEGINS_LIKE_A_PLAN.test(text) ? 'plan' : 'pipeline';
  return kindOfRoot(value) ?? 'pipeline';
}
