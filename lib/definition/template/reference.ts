import type { Json } from '../../common/json.js';
import { nearest } from '../suggest.js';
import type { Expression, Segment } from './expression.js';
import type { Scope } from './scope.js';
import { shortened, spell, TemplateError } from './template-error.js';

/** What an expression reads (rule 8): the ground of checking and ordering (rule 5). */
export type Reference =
  | {
      readonly kind: 'task';
      readonly taskId: string;
      /** `.output` was left out (D11). */
      readonly omitted: boolean;
    }
  | { readonly kind: 'input'; readonly key: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'session'; readonly key: string }
  | { readonly kind: 'item' }
  | { readonly kind: 'goal' }
  | { readonly kind: 'unknown'; readonly message: string; readonly hint?: string };

const NAMESPACES = ['params', 'session', 'item', 'pipeline'] as const;

/** The meaning of an expression in a pipeline with these tasks. */
export function referenceOf(expression: Expression, taskIds: ReadonlySet<string>): Reference {
  const { root, path } = expression;
  switch (root) {
    case 'params':
      return keyed(root, path[0], (name) => ({ kind: 'param', name }));
    case 'session':
      return keyed(root, path[0], (key) => ({ kind: 'session', key }));
    case 'item':
      return { kind: 'item' };
    case 'pipeline':
      return pipelineReference(path);
    default:
      return taskIds.has(root) ? taskReference(root, path[0]) : unknownName(expression, taskIds);
  }
}

function keyed(
  namespace: string,
  segment: Segment | undefined,
  refer: (key: string) => Reference,
): Reference {
  const key = keyOf(segment);
  if (key !== undefined) return refer(key);
  return {
    kind: 'unknown',
    message: `a name is missing after "${namespace}"`,
    hint: `write {{${namespace}.<name>}}`,
  };
}

/** Namespaces have names only: there, `.2024` is a name as well. */
function keyOf(segment: Segment | undefined): string | undefined {
  if (segment?.kind === 'index') return segment.index < 0 ? undefined : String(segment.index);
  return segment?.name;
}

function pipelineReference(path: readonly Segment[]): Reference {
  const member = keyOf(path[0]);
  if (member === 'goal') return { kind: 'goal' };
  if (member === 'inputs') return keyed('pipeline.inputs', path[1], (key) => ({ kind: 'input', key }));
  const meant = nearest(member ?? '', ['goal', 'inputs']);
  return {
    kind: 'unknown',
    message: '"pipeline" has inputs and goal only',
    hint:
      meant === undefined
        ? 'write {{pipeline.inputs.<name>}} or {{pipeline.goal}}'
        : didYouMean(`pipeline.${meant}`),
  };
}

function taskReference(taskId: string, first: Segment | undefined): Reference {
  if (first === undefined) {
    return {
      kind: 'unknown',
      message: `"${taskId}" is a task, not a value`,
      hint: `write {{${taskId}.output}}`,
    };
  }
  return { kind: 'task', taskId, omitted: !(first.kind === 'field' && first.name === 'output') };
}

function unknownName({ root, path }: Expression, taskIds: ReadonlySet<string>): Reference {
  const message = `nothing is called "${shortened(root, 80)}": it is no task, and none of ${NAMESPACES.join(', ')}`;
  const hint = habitHint(root, path, taskIds) ?? nearestHint(root, taskIds);
  return hint === undefined ? { kind: 'unknown', message } : { kind: 'unknown', message, hint };
}

/** What people write who know other template languages. */
function habitHint(root: string, path: readonly Segment[], taskIds: ReadonlySet<string>): string | undefined {
  const next = keyOf(path[0]);
  if (root === 'goal') return didYouMean('pipeline.goal');
  if (root === 'inputs') return didYouMean(spell('pipeline.inputs', path));
  if (root === 'tasks' && next !== undefined && taskIds.has(next)) return didYouMean(`${next}.output`);
  return undefined;
}

function nearestHint(root: string, taskIds: ReadonlySet<string>): string | undefined {
  const meant = nearest(root, namesOf(taskIds));
  return meant === undefined ? undefined : didYouMean(meant);
}

function* namesOf(taskIds: ReadonlySet<string>): Generator<string> {
  yield* taskIds;
  yield* NAMESPACES;
}

function didYouMean(name: string): string {
  return `did you mean "${name}"?`;
}

type NamespaceReference = Exclude<Reference, { readonly kind: 'task' | 'item' | 'unknown' }>;

/** Where an expression starts to read, and the path from there. */
export interface Origin {
  /** Its name in the words of the template language: `a.output`, `params`. */
  readonly label: string;
  readonly path: readonly Segment[];
  /** Why `read` gives nothing. */
  readonly absence: string;
  read(scope: Scope, item: Json | undefined): Json | undefined;
}

/** The origin of an expression that passed the checks: a first name that is no namespace is a task's. */
export function originOf(expression: Expression): Origin {
  const { root, path } = expression;
  const reference = referenceOf(expression, new Set([root]));
  if (reference.kind === 'task') return outputOf(reference, path);
  if (reference.kind === 'item') return { label: root, path, absence: NO_ITEM, read: (_scope, item) => item };
  if (reference.kind === 'unknown') return unreadable(expression, reference.message);
  return memberOfNamespace(reference, path);
}

const NO_ITEM = 'there is an item only in a task with parallel_over';

function memberOfNamespace(reference: NamespaceReference, path: readonly Segment[]): Origin {
  const absence = 'it has no value';
  if (reference.kind === 'goal') {
    return { label: 'pipeline.goal', path: path.slice(1), absence, read: (scope) => scope.goal };
  }
  if (reference.kind === 'input') {
    const inputPath = [field(reference.key), ...path.slice(2)];
    return { label: 'pipeline.inputs', path: inputPath, absence, read: (scope) => scope.inputs };
  }
  if (reference.kind === 'param') {
    const paramPath = [field(reference.name), ...path.slice(1)];
    return { label: 'params', path: paramPath, absence, read: (scope) => scope.params };
  }
  const sessionPath = [field(reference.key), ...path.slice(1)];
  return { label: 'session', path: sessionPath, absence, read: (scope) => scope.session };
}

function outputOf(reference: Reference & { kind: 'task' }, path: readonly Segment[]): Origin {
  const { taskId, omitted } = reference;
  return {
    label: `${taskId}.output`,
    path: omitted ? path : path.slice(1),
    absence: `task "${taskId}" has no output`,
    read: (scope) => scope.output(taskId),
  };
}

function field(name: string): Segment {
  return { kind: 'field', name };
}

function unreadable({ root, path }: Expression, absence: string): Origin {
  const read = (): never => {
    throw new TemplateError(spell(root, path), absence);
  };
  return { label: root, path, absence, read };
}
