import type { Json } from '../../common/json.js';
import type { Expression, Segment } from './expression.js';
import { type Reference, referenceOf } from './reference.js';
import type { Scope } from './scope.js';
import { spell } from './spelling.js';
import { TemplateError } from './template-error.js';

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
