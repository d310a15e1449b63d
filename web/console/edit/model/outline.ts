import type { JsonObject } from '../../../../lib/common/json/json.js';
import { HANDLER_LISTS } from '../../../../lib/definition/schema/fields.js';
import type { ParamDeclaration } from '../../shell/param-values.js';
import { isHandlerList } from './vocabulary.js';
import { child, namesIn, toJson, type YamlEntry, type YamlNode } from './yaml-tree.js';

/** The declarations of a definition, as far as they are written. */
export interface Outline {
  readonly kind: 'pipeline' | 'plan';
  /** The map of the pipeline or the plan; undefined for an empty text. */
  readonly root: YamlNode | undefined;
  readonly id: string;
  /** Of a pipeline its tasks, of a plan its sub-pipelines. */
  readonly parts: readonly OutlinePart[];
  /** The tasks that run at the end, in the order of their lists (D80). */
  readonly handlers: readonly OutlinePart[];
  readonly params: readonly string[];
  readonly inputs: readonly string[];
  /** Keys of the blackboard that the definition names anywhere. */
  readonly sessionKeys: readonly string[];
}

/** A task or a sub-pipeline, and its place in the text. */
export interface OutlinePart {
  readonly id: string;
  readonly tool: string;
  /** The field that lists it, such as `tasks` or `finally`. */
  readonly list: string;
  readonly isFanOut: boolean;
  /** It may be skipped, or fail without its run: its state can be read (D79). */
  readonly isUncertain: boolean;
  readonly from: number;
  readonly to: number;
  /** The pipeline that a plan has in place. */
  readonly pipeline: Outline | undefined;
}

export const EMPTY_OUTLINE: Outline = {
  kind: 'pipeline',
  root: undefined,
  id: '',
  parts: [],
  handlers: [],
  params: [],
  inputs: [],
  sessionKeys: [],
};

/** Reads the outline of a text from its parts. */
export function readOutline(document: YamlNode | undefined): Outline {
  if (document === undefined) return EMPTY_OUTLINE;
  const plan = child(document, 'plan');
  const root = plan ?? child(document, 'pipeline') ?? document;
  const isPlan = plan !== undefined || child(root, 'sub_pipelines') !== undefined;
  return outlineOf(root, isPlan ? 'plan' : 'pipeline');
}

function outlineOf(root: YamlNode, kind: Outline['kind']): Outline {
  const tasks = listOf(root, kind === 'plan' ? 'sub_pipelines' : 'tasks');
  const handlers = HANDLER_LISTS.flatMap((list) => listOf(root, list));
  const stored = [...tasks, ...handlers].flatMap(({ value }) => keysOf(value));
  const keys = [...namesIn(child(root, 'reads')), ...stored];
  return {
    kind,
    root,
    id: child(root, 'id')?.text ?? '',
    parts: tasks.map(partOf),
    handlers: handlers.map(partOf),
    params: namesIn(child(root, 'params')),
    inputs: namesIn(child(root, 'inputs')),
    sessionKeys: [...new Set(keys)],
  };
}

interface ListedEntry extends YamlEntry {
  readonly list: string;
}

function listOf(root: YamlNode, list: string): ListedEntry[] {
  return (child(root, list)?.entries ?? []).map((entry) => ({ ...entry, list }));
}

function partOf({ value, from, to, list }: ListedEntry): OutlinePart {
  const inline = child(value, 'pipeline');
  return {
    id: child(value, 'id')?.text ?? '',
    tool: child(value, 'tool')?.text ?? '',
    list,
    isFanOut: child(value, 'parallel_over') !== undefined,
    isUncertain: child(value, 'when') !== undefined || child(value, 'on_error')?.text === 'continue',
    from,
    to,
    pipeline: inline?.kind === 'map' ? outlineOf(inline, 'pipeline') : undefined,
  };
}

/** The keys that a task of the tool `store` or a sub-pipeline names. */
function keysOf(part: YamlNode | undefined): string[] {
  if (child(part, 'tool')?.text === 'store') {
    const key = child(child(part, 'inputs'), 'key')?.text;
    return key === undefined || key === '' || key.includes('{{') ? [] : [key];
  }
  return [...namesIn(child(part, 'reads')), ...namesIn(child(part, 'stores'))];
}

/** Returns the outline of the pipeline within a plan, or else of the definition itself. @param subPipeline its index */
export function scopeOf(
  { subPipeline }: { readonly subPipeline: number | undefined },
  outline: Outline,
): Outline {
  return subPipeline === undefined ? outline : (outline.parts[subPipeline]?.pipeline ?? outline);
}

/** Returns the tasks of a list, or the sub-pipelines. */
export function partsIn({ parts, handlers }: Outline, list: unknown): readonly OutlinePart[] {
  return isHandlerList(list) ? handlers.filter((part) => part.list === list) : parts;
}

/** Returns the task or sub-pipeline at an offset. */
export function partAt({ parts, handlers }: Outline, offset: number): OutlinePart | undefined {
  return [...parts, ...handlers].find(({ from, to }) => from <= offset && offset <= to);
}

/** The ids of the sub-pipelines whose pipelines a plan has in place, where another text of it takes them from files. */
export function inlinedParts(plan: Outline, other: Outline): string[] {
  if (plan.kind !== 'plan' || other.kind !== 'plan') return [];
  const named = new Set(other.parts.filter(({ pipeline }) => pipeline === undefined).map(({ id }) => id));
  return plan.parts.filter(({ id, pipeline }) => pipeline !== undefined && named.has(id)).map(({ id }) => id);
}

/** Reads the declarations of the params, and the default inputs, as far as they are written. */
export function readDefaults({ root }: Outline): {
  readonly params: Readonly<Record<string, ParamDeclaration>>;
  readonly inputs: JsonObject;
} {
  const params = toJson(child(root, 'params'));
  const inputs = toJson(child(root, 'inputs'));
  const declared = isJsonObject(params) ? Object.entries(params) : [];
  return {
    params: Object.fromEntries(declared.map(([name, param]) => [name, toDeclaration(param)])),
    inputs: isJsonObject(inputs) ? inputs : {},
  };
}

const TYPES: readonly unknown[] = ['string', 'integer', 'number', 'boolean', 'list', 'object'];

function toDeclaration(value: unknown): ParamDeclaration {
  if (!isJsonObject(value)) return {};
  const { type, description, default: usual, enum: choices } = value;
  return {
    ...(TYPES.includes(type) && { type: type as NonNullable<ParamDeclaration['type']> }),
    ...(typeof description === 'string' && { description }),
    ...(usual !== undefined && { default: usual }),
    ...(Array.isArray(choices) && { enum: choices }),
  };
}

/** Returns true for an object with keys: neither null nor a list. */
function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
