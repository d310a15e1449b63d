import type { JsonObject } from '../../../../lib/common/json/json.js';
import type { ParamDeclaration } from '../../shell/param-values.js';
import { child, namesIn, toJson, type YamlNode } from './yaml-tree.js';

/** The declarations of a definition, as far as they are written. */
export interface Outline {
  readonly kind: 'pipeline' | 'plan';
  /** The map of the pipeline or the plan; undefined for an empty text. */
  readonly root: YamlNode | undefined;
  readonly id: string;
  /** Of a pipeline its tasks, of a plan its sub-pipelines. */
  readonly parts: readonly OutlinePart[];
  readonly params: readonly string[];
  readonly inputs: readonly string[];
  /** Keys of the blackboard that the definition names anywhere. */
  readonly sessionKeys: readonly string[];
}

/** A task or a sub-pipeline, and its place in the text. */
export interface OutlinePart {
  readonly id: string;
  readonly tool: string;
  readonly isFanOut: boolean;
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
  const list = child(root, kind === 'plan' ? 'sub_pipelines' : 'tasks');
  const parts = (list?.entries ?? []).map(({ value, from, to }) => partOf(value, from, to));
  const stored = (list?.entries ?? []).flatMap(({ value }) => keysOf(value));
  const keys = [...namesIn(child(root, 'reads')), ...stored];
  return {
    kind,
    root,
    id: child(root, 'id')?.text ?? '',
    parts,
    params: namesIn(child(root, 'params')),
    inputs: namesIn(child(root, 'inputs')),
    sessionKeys: [...new Set(keys)],
  };
}

function partOf(value: YamlNode | undefined, from: number, to: number): OutlinePart {
  const inline = child(value, 'pipeline');
  return {
    id: child(value, 'id')?.text ?? '',
    tool: child(value, 'tool')?.text ?? '',
    isFanOut: child(value, 'parallel_over') !== undefined,
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

/** Returns the task or sub-pipeline at an offset. */
export function partAt({ parts }: Outline, offset: number): OutlinePart | undefined {
  return parts.find(({ from, to }) => from <= offset && offset <= to);
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
  const declared = isObject(params) ? Object.entries(params) : [];
  return {
    params: Object.fromEntries(declared.map(([name, param]) => [name, toDeclaration(param)])),
    inputs: isObject(inputs) ? inputs : {},
  };
}

const TYPES: readonly unknown[] = ['string', 'integer', 'number', 'boolean', 'list', 'object'];

function toDeclaration(value: unknown): ParamDeclaration {
  if (!isObject(value)) return {};
  const { type, description, default: usual, enum: choices } = value;
  return {
    ...(TYPES.includes(type) && { type: type as NonNullable<ParamDeclaration['type']> }),
    ...(typeof description === 'string' && { description }),
    ...(usual !== undefined && { default: usual }),
    ...(Array.isArray(choices) && { enum: choices }),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
