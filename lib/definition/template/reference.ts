import type { Json } from '../../common/json.js';
import { ellipsize } from '../../common/text.js';
import { type Hint, hintRename } from '../hint.js';
import { nearest, type Suggestions } from '../suggest.js';
import { type Expression, formatPath, type Segment } from './expression.js';
import { hintForForeignRoot } from './foreign-roots.js';
import type { TemplateScope } from './scope.js';

/** What an expression reads (rule 8); checks and the order of tasks are based on it (rule 5). */
export type Reference =
  | {
      readonly kind: 'task';
      readonly taskId: string;
      /** `.output` was left out (D11). */
      readonly omitted: boolean;
      /** What was probably meant, when the first name is almost `output`: `a.output.rows`. */
      readonly meant?: string;
    }
  | { readonly kind: 'input'; readonly key: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'session'; readonly key: string }
  | { readonly kind: 'item' }
  | { readonly kind: 'goal' }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'unknown'; readonly message: string; readonly hint?: Hint };

const NAMESPACES = ['params', 'session', 'item', 'pipeline', 'secrets'] as const;

/** The name of a secret (D61). */
export const SECRET_NAME = /^[A-Z][A-Z0-9_]*$/;

/** The names with which an unknown one is compared. */
export interface KnownNames {
  readonly params: ReadonlySet<string>;
  readonly inputs: ReadonlySet<string>;
  /** Limits the comparisons. */
  readonly suggestions: Pick<Suggestions, 'nearest'>;
}

const NO_NAMES: ReadonlySet<string> = new Set();
const NOTHING_KNOWN: KnownNames = { params: NO_NAMES, inputs: NO_NAMES, suggestions: { nearest } };

/** Resolves an expression in a pipeline with these tasks. */
export function resolveReference(
  expression: Expression,
  taskIds: ReadonlySet<string>,
  known: KnownNames = NOTHING_KNOWN,
): Reference {
  const { root, path } = expression;
  switch (root) {
    case 'params':
      return resolveKey(root, path[0], (name) => ({ kind: 'param', name }));
    case 'session':
      return resolveKey(root, path[0], (key) => ({ kind: 'session', key }));
    case 'item':
      return { kind: 'item' };
    case 'pipeline':
      return resolvePipelineMember(path);
    case 'secrets':
      return resolveSecret(path, taskIds);
    default:
      return taskIds.has(root) ? resolveTask(root, path) : unknownName(expression, taskIds, known);
  }
}

function resolveKey(
  namespace: string,
  segment: Segment | undefined,
  toReference: (key: string) => Reference,
): Reference {
  const key = toKey(segment);
  if (key !== undefined) return toReference(key);
  return {
    kind: 'unknown',
    message: `a name is missing after "${namespace}"`,
    hint: `write {{${namespace}.<name>}}`,
  };
}

/** Namespaces have names only, so `.2024` is a name there. */
function toKey(segment: Segment | undefined): string | undefined {
  if (segment?.kind === 'index') return segment.index < 0 ? undefined : String(segment.index);
  return segment?.name;
}

function resolvePipelineMember(path: readonly Segment[]): Reference {
  const member = toKey(path[0]);
  if (member === 'goal') return { kind: 'goal' };
  if (member === 'inputs') return resolveKey('pipeline.inputs', path[1], (key) => ({ kind: 'input', key }));
  const meant = nearest(member ?? '', ['goal', 'inputs']);
  return {
    kind: 'unknown',
    message: '"pipeline" has only inputs and goal',
    hint:
      meant === undefined
        ? 'write {{pipeline.inputs.<name>}} or {{pipeline.goal}}'
        : hintRename(`pipeline.${member}`, `pipeline.${meant}`),
  };
}

/** A name in capitals is a secret; anything else may be the output of a task that is called like the namespace (D61). */
function resolveSecret([segment, ...rest]: readonly Segment[], taskIds: ReadonlySet<string>): Reference {
  const name = segment?.kind === 'field' ? segment.name : '';
  if (SECRET_NAME.test(name)) {
    if (rest.length === 0) return { kind: 'secret', name };
    const message = 'a secret is a text, which has no fields';
    return { kind: 'unknown', message, hint: `write {{secrets.${name}}}` };
  }
  if (taskIds.has('secrets')) return resolveTask('secrets', segment === undefined ? [] : [segment, ...rest]);
  const capitals = name.toUpperCase().replaceAll('-', '_');
  return {
    kind: 'unknown',
    message: 'the name of a secret has capital letters, digits and _, and begins with a letter',
    hint: SECRET_NAME.test(capitals)
      ? hintRename(`secrets.${name}`, `secrets.${capitals}`)
      : 'write {{secrets.<NAME>}}',
  };
}

function resolveTask(taskId: string, [first, ...rest]: readonly Segment[]): Reference {
  const name = first?.kind === 'field' ? first.name : '';
  const omitted = name !== OUTPUT;
  if (!omitted || nearest(name, [OUTPUT]) === undefined) return { kind: 'task', taskId, omitted };
  return { kind: 'task', taskId, omitted, meant: formatPath(`${taskId}.${OUTPUT}`, rest) };
}

const OUTPUT = 'output';

function unknownName({ root, path }: Expression, taskIds: ReadonlySet<string>, known: KnownNames): Reference {
  const message = `there is no task "${ellipsize(root, 80)}"; a template starts with a task id or one of ${NAMESPACES.join(', ')}`;
  const whole = formatPath(root, path);
  const hint =
    suggest(whole, addNamespace(root, path, known)) ??
    hintForForeignRoot(root, path, { taskIds, inputs: known.inputs }) ??
    suggest(root, known.suggestions.nearest(root, listNames(taskIds)));
  return { kind: 'unknown', message, ...(hint === undefined ? {} : { hint }) };
}

function suggest(written: string, meant: string | undefined): Hint | undefined {
  return meant === undefined ? undefined : hintRename(written, meant);
}

/** Finds the param or the input of that name. */
function addNamespace(
  root: string,
  path: readonly Segment[],
  { params, inputs }: KnownNames,
): string | undefined {
  if (params.has(root)) return formatPath(`params.${root}`, path);
  return inputs.has(root) ? formatPath(`pipeline.inputs.${root}`, path) : undefined;
}

function* listNames(taskIds: ReadonlySet<string>): Generator<string> {
  yield* taskIds;
  yield* NAMESPACES;
}

/** A template of the definition could not be rendered with the data of this run (D13). */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
  /** The path that has no value, as text: `a.output.rows[0]`. */
  readonly path: string;

  constructor(path: string, reason: string) {
    super(`{{${path}}}: ${reason}`);
    this.path = path;
  }
}

/** Where an expression gets its value at run time, and the path from there. */
export interface ValueSource {
  /** Its name in the template language: `a.output`, `params`. */
  readonly label: string;
  readonly path: readonly Segment[];
  /** Explains why `read` returns undefined. */
  readonly whenAbsent: string;
  read(scope: TemplateScope, item: Json | undefined): Json | undefined;
}

/** Returns the value source of an expression that passed the checks: a root that is no namespace is a task id. */
export function toValueSource(expression: Expression): ValueSource {
  const { root, path } = expression;
  const reference = resolveReference(expression, new Set([root]));
  const whenAbsent = 'it has no value';
  switch (reference.kind) {
    case 'task':
      return outputSource(reference, path);
    case 'input': {
      const inputPath = [toField(reference.key), ...path.slice(2)];
      return { label: 'pipeline.inputs', path: inputPath, whenAbsent, read: (scope) => scope.inputs };
    }
    case 'param': {
      const paramPath = [toField(reference.name), ...path.slice(1)];
      return { label: 'params', path: paramPath, whenAbsent, read: (scope) => scope.params };
    }
    case 'session': {
      const sessionPath = [toField(reference.key), ...path.slice(1)];
      return { label: 'session', path: sessionPath, whenAbsent, read: (scope) => scope.session };
    }
    case 'secret': {
      const secretPath = [toField(reference.name)];
      return {
        label: 'secrets',
        path: secretPath,
        whenAbsent,
        read: (scope) => scope.secrets,
      };
    }
    case 'goal':
      return { label: 'pipeline.goal', path: path.slice(1), whenAbsent, read: (scope) => scope.goal };
    case 'item':
      return { label: root, path, whenAbsent: NO_ITEM, read: (_scope, item) => item };
    case 'unknown':
      return failingSource(expression, reference.message);
  }
}

const NO_ITEM = 'only a task with parallel_over has an item';

function outputSource(reference: Reference & { kind: 'task' }, path: readonly Segment[]): ValueSource {
  const { taskId, omitted } = reference;
  return {
    label: `${taskId}.output`,
    path: omitted ? path : path.slice(1),
    whenAbsent: `task "${taskId}" has no output`,
    read: (scope) => scope.output(taskId),
  };
}

function toField(name: string): Segment {
  return { kind: 'field', name, index: undefined };
}

function failingSource({ root, path }: Expression, whenAbsent: string): ValueSource {
  const read = (): never => {
    throw new TemplateError(formatPath(root, path), whenAbsent);
  };
  return { label: root, path, whenAbsent, read };
}
