import { ellipsize } from '../../common/text.js';
import { type Hint, hintRename } from '../problems/hint.js';
import { nearest, type Suggestions } from '../did-you-mean.js';
import { type Expression, formatPath, type Segment } from './expressions/expression.js';
import { hintForForeignRoot } from './foreign-roots.js';

/** The value that an expression reads (rule 8); checks and the order of tasks are based on it (rule 5). */
export type Reference =
  | {
      readonly kind: 'task';
      readonly taskId: string;
      /** `.output` was left out (D11). */
      readonly omitted: boolean;
      /** Set for `a.error` and `a.status` of a task that may be skipped or fail without its run (D79). */
      readonly member?: StateMember;
      /** The path that was probably meant, when the first name is almost `output`: `a.output.rows`. */
      readonly meant?: string;
    }
  | { readonly kind: 'input'; readonly key: string }
  | { readonly kind: 'param'; readonly name: string }
  | { readonly kind: 'session'; readonly key: string }
  | { readonly kind: 'item' }
  /** The output of a round, which only conditions in `repeat.until` read (D83); the members are those of a task. */
  | { readonly kind: 'this'; readonly omitted: boolean; readonly meant?: string }
  | { readonly kind: 'goal' }
  | { readonly kind: 'run'; readonly member: string }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'unknown'; readonly message: string; readonly hint?: Hint };

/** The members of a task, besides its output, that templates read of some tasks (D79). */
export type StateMember = 'error' | 'status';

const STATE_MEMBERS: readonly string[] = ['error', 'status'] satisfies StateMember[];

/** Returns true for a path that begins with a member of the state of a task. */
export function startsWithState([first]: readonly Segment[]): boolean {
  return first?.kind === 'field' && STATE_MEMBERS.includes(first.name);
}

const NAMESPACES = ['params', 'session', 'item', 'pipeline', 'secrets', 'run'] as const;

/** The members of `run` in every task (D80). */
const RUN_MEMBERS = ['id', 'url', 'started_by', 'trigger', 'scheduled_for', 'answer_url'];

/** The members of `run` that only handlers can read: before, the end of the run is not known. */
const HANDLER_MEMBERS = ['status', 'error', 'error_code', 'failed_task'];

/** Words of other products for members of `run`. */
const RUN_WORDS: ReadonlyMap<string, string> = new Map([
  ...['message', 'error_message', 'exception', 'reason', 'failure'].map((word) => [word, 'error'] as const),
  ...['state', 'result', 'outcome', 'conclusion'].map((word) => [word, 'status'] as const),
  ...['task', 'failed', 'failed_step', 'step'].map((word) => [word, 'failed_task'] as const),
  ...['code', 'exit_code', 'error_type'].map((word) => [word, 'error_code'] as const),
  ...['link', 'html_url', 'page'].map((word) => [word, 'url'] as const),
  ...['run_id', 'uuid'].map((word) => [word, 'id'] as const),
  ...['user', 'actor', 'triggered_by'].map((word) => [word, 'started_by'] as const),
]);

/** Returns true for the name of the namespace of the run, which a task may have. */
export function isRunNamespace(root: string): boolean {
  return root === 'run';
}

/** Returns true for a member of `run` that only handlers can read. */
export function isHandlerMember(member: string): boolean {
  return HANDLER_MEMBERS.includes(member);
}

/** The root under which the conditions of a repeated task read the output of a round (D83). */
export const THIS = 'this';

/** The name of a secret (D61). */
export const SECRET_NAME = /^[A-Z][A-Z0-9_]*$/;

/** The names with which an unknown one is compared. */
export interface KnownNames {
  readonly params: ReadonlySet<string>;
  readonly inputs: ReadonlySet<string>;
  /** Tasks with `when` or `on_error: continue`, of which templates may read the error and the status (D79). */
  readonly uncertain?: ReadonlySet<string>;
  /** Limits the comparisons. */
  readonly suggestions: Pick<Suggestions, 'nearest'>;
}

const NO_NAMES: ReadonlySet<string> = new Set();
const NOTHING_KNOWN: KnownNames = { params: NO_NAMES, inputs: NO_NAMES, suggestions: { nearest } };

type Named = Pick<Expression, 'root' | 'path'>;

/** Resolves an expression in a pipeline with these tasks. */
export function resolveReference(
  expression: Named,
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
    case 'run':
      return taskIds.has(root) ? resolveMember(root, path, known) : resolveRunMember(path);
    default:
      if (taskIds.has(root)) return resolveMember(root, path, known);
      return root === THIS ? resolveThis(path) : unknownName(expression, taskIds, known);
  }
}

/** Resolves the path of an expression that begins with `this`: in `repeat.until` also where a task is called so (D83). */
export function resolveThis(path: readonly Segment[]): Reference {
  return { kind: THIS, ...readOutputPath(THIS, path) };
}

function resolveKey(
  namespace: string,
  segment: Segment | undefined,
  toReference: (key: string) => Reference,
): Reference {
  const key = toKey(segment);
  if (key !== undefined) return toReference(key);
  return unknown(`a name is missing after "${namespace}"`, `write {{${namespace}.<name>}}`);
}

function unknown(message: string, hint: Hint | undefined): Reference {
  return { kind: 'unknown', message, ...(hint === undefined ? {} : { hint }) };
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
  const rename = suggest(`pipeline.${member}`, meant && `pipeline.${meant}`);
  const hint = rename ?? 'write {{pipeline.inputs.<name>}} or {{pipeline.goal}}';
  return unknown('"pipeline" has only inputs and goal', hint);
}

function resolveRunMember(path: readonly Segment[]): Reference {
  const member = toKey(path[0]) ?? '';
  const members = [...RUN_MEMBERS, ...HANDLER_MEMBERS];
  if (members.includes(member)) return { kind: 'run', member };
  const meant = RUN_WORDS.get(member) ?? nearest(member, members);
  const hint = suggest(`run.${member}`, meant && `run.${meant}`) ?? 'write {{run.id}} or {{run.url}}';
  return unknown(`"run" has only ${members.join(', ')}`, hint);
}

/** A name in capitals is a secret; anything else may be the output of a task that is called like the namespace (D61). */
function resolveSecret([segment, ...rest]: readonly Segment[], taskIds: ReadonlySet<string>): Reference {
  const name = segment?.kind === 'field' ? segment.name : '';
  if (SECRET_NAME.test(name)) {
    if (rest.length === 0) return { kind: 'secret', name };
    return unknown('a secret is a text, which has no fields', `write {{secrets.${name}}}`);
  }
  if (taskIds.has('secrets')) return resolveTask('secrets', segment === undefined ? [] : [segment, ...rest]);
  const capitals = name.toUpperCase().replaceAll('-', '_');
  const message = 'the name of a secret has capital letters, digits and _, and begins with a letter';
  if (!SECRET_NAME.test(capitals)) return unknown(message, 'write {{secrets.<NAME>}}');
  return unknown(message, hintRename(`secrets.${name}`, `secrets.${capitals}`));
}

function resolveMember(taskId: string, path: readonly Segment[], { uncertain }: KnownNames): Reference {
  if (!startsWithState(path) || uncertain?.has(taskId) !== true) return resolveTask(taskId, path);
  return { kind: 'task', taskId, omitted: false, member: path[0]?.name as StateMember };
}

function resolveTask(taskId: string, path: readonly Segment[]): Reference {
  return { kind: 'task', taskId, ...readOutputPath(taskId, path) };
}

function readOutputPath(
  root: string,
  [first, ...rest]: readonly Segment[],
): { readonly omitted: boolean; readonly meant?: string } {
  const name = first?.kind === 'field' ? first.name : '';
  const omitted = name !== OUTPUT;
  if (!omitted || nearest(name, [OUTPUT]) === undefined) return { omitted };
  return { omitted, meant: formatPath(`${root}.${OUTPUT}`, rest) };
}

const OUTPUT = 'output';

function unknownName({ root, path }: Named, taskIds: ReadonlySet<string>, known: KnownNames): Reference {
  const message = `there is no task "${ellipsize(root, 80)}"; a template starts with a task id or one of ${NAMESPACES.join(', ')}`;
  const whole = formatPath(root, path);
  const hint =
    suggest(whole, addNamespace({ root, path }, known)) ??
    hintForForeignRoot(root, path, { taskIds, inputs: known.inputs }) ??
    suggest(root, known.suggestions.nearest(root, listNames(taskIds)));
  return unknown(message, hint);
}

function* listNames(taskIds: ReadonlySet<string>): Generator<string> {
  yield* taskIds;
  yield* NAMESPACES;
}

function suggest(written: string, meant: string | undefined): Hint | undefined {
  return meant === undefined ? undefined : hintRename(written, meant);
}

/** Finds the param or the input of that name. */
function addNamespace({ root, path }: Named, { params, inputs }: KnownNames): string | undefined {
  if (params.has(root)) return formatPath(`params.${root}`, path);
  return inputs.has(root) ? formatPath(`pipeline.inputs.${root}`, path) : undefined;
}
