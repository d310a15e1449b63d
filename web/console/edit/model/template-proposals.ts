import type { CursorPlace } from './cursor-path.js';
import { type Outline, type OutlinePart, partsIn, scopeOf } from './outline.js';
import type { Proposal, Proposals } from './proposal.js';
import { PATH_SIGNS, PathScope, pathsOf, startOfPath } from './readable-paths.js';
import { type InnerPath, isHandlerList, isTaskList, UNQUOTED_NAME, type Vocabulary } from './vocabulary.js';

/** A task by its list and its place there. */
export interface TaskPlace {
  readonly list: unknown;
  readonly index: number;
}

/** Lists the tasks that a task can read or await: no sub-pipelines, no handlers but those of its list, in `finally` those of all (D80). */
export function readableParts(outline: Outline, own: TaskPlace): readonly OutlinePart[] {
  const { list } = own;
  const handlers = outline.handlers.filter((part) => list === 'finally' || part.list === list);
  const ownPart = partsIn(outline, list)[own.index];
  const tasks = outline.kind === 'plan' ? [] : outline.parts;
  const all = [...tasks, ...(isHandlerList(list) ? handlers : [])];
  return all.filter((part) => part !== ownPart && part.id !== '' && part.id !== ownPart?.id);
}

/** Lists what templates of a task can read. */
export function templatePaths(outline: Outline, own: TaskPlace): Proposal[] {
  const { params, inputs, sessionKeys } = outline;
  const paths: Proposal[] = [];
  if (partsIn(outline, own.list)[own.index]?.isFanOut === true)
    paths.push({ label: 'item', detail: 'of the list', kind: 'value', boost: 20 });
  for (const { id, tool, isUncertain } of readableParts(outline, own)) {
    paths.push({ label: `${id}.output`, detail: tool, kind: 'task', boost: 10 });
    if (isUncertain) paths.push(...membersOf(id));
  }
  const add = (prefix: string, names: readonly string[], detail: string): void => {
    for (const name of names) {
      if (UNQUOTED_NAME.test(name)) paths.push({ label: `${prefix}${name}`, detail, kind: 'name' });
    }
  };
  add('params.', params, 'param');
  add('pipeline.inputs.', inputs, 'input');
  add('session.', sessionKeys, 'session key');
  paths.push({ label: 'pipeline.goal', detail: 'text', kind: 'value', boost: -10 });
  return [...paths, ...(isHandlerList(own.list) ? RUN_END : []), ...RUN_MEMBERS];
}

/** The state of a task that may be skipped, or fail without its run (D79). */
function membersOf(id: string): Proposal[] {
  const status = 'succeeded, failed or skipped';
  const error = 'The error as text; null unless it has failed.';
  return [
    { label: `${id}.status`, detail: status, kind: 'value', boost: 9 },
    { label: `${id}.error`, detail: 'text or null', info: error, kind: 'value', boost: 8 },
  ];
}

function runMember(name: string, detail: string, info: string, boost: number): Proposal {
  return { label: `run.${name}`, detail, info, kind: 'value', boost };
}

/** The members of the run that handlers alone can read (D80). */
const RUN_END: readonly Proposal[] = [
  runMember('status', 'text', 'How the tasks have ended: succeeded, failed or cancelled.', 7),
  runMember('error', 'text or null', 'What the run has failed of.', 6),
  runMember('error_code', 'text or null', 'The code of that error: run_timeout when its time was over.', 4),
  runMember(
    'failed_task',
    'text or null',
    'The task that the run has failed of, such as load or fetch[2].',
    5,
  ),
];

const RUN_MEMBERS: readonly Proposal[] = [
  runMember('id', 'text', 'The id of the run.', -11),
  runMember('url', 'text or null', 'The page of the run on its server.', -12),
  runMember('started_by', 'map', 'Who has started the run, as kind and name.', -13),
  runMember('trigger', 'text or null', 'schedule or webhook, when one of them has started the run.', -14),
];

const OUTPUT_OF_ROUND: Proposal = {
  label: 'this.output',
  detail: 'of the round',
  kind: 'value',
  boost: 30,
};

const NAMESPACES: readonly Proposal[] = [
  { label: 'params.', info: 'A param of the pipeline.', kind: 'name', boost: -20 },
  { label: 'pipeline.inputs.', info: 'An input of the pipeline.', kind: 'name', boost: -21 },
  { label: 'session.', info: 'A value of the blackboard.', kind: 'name', boost: -22 },
  {
    label: 'secrets.',
    info: 'A secret of the server: its name in capital letters, such as {{secrets.API_KEY}}.',
    kind: 'name',
    boost: -23,
  },
];

/** Returns what is known of the paths that the templates of a task can read. */
export function pathScopeOf(
  inner: InnerPath,
  outline: Outline,
  { paths }: Pick<Vocabulary, 'paths'>,
): PathScope {
  const { list, index } = taskPlaceOf(inner);
  const task = partsIn(scopeOf(inner, outline), list)[index];
  const subPipeline = inner.subPipeline === undefined ? undefined : outline.parts[inner.subPipeline]?.id;
  return new PathScope(pathsOf(paths, subPipeline), task);
}

/** The path before the cursor, at the end of a template. */
const WRITTEN_PATH = new RegExp(`[${PATH_SIGNS}]*$`, 'u');

/** Returns what may be written at the cursor within a template: of a path that is written in part, the next names. */
export function proposeInTemplate(
  cursor: CursorPlace,
  inner: InnerPath,
  outline: Outline,
  values: PathScope,
): Proposals {
  const { template = '' } = cursor;
  const [written = ''] = WRITTEN_PATH.exec(template) ?? [];
  const from = cursor.from + cursor.typed.length - written.length;
  // Only a path at the start of the template; after `??` stands a literal.
  if (written.length !== template.length) return { from, options: [] };
  const start = startOfPath(written);
  const namespaces = NAMESPACES.filter(({ label }) => outline.kind !== 'plan' || label !== 'params.');
  const paths = [OUTPUT_OF_ROUND, ...templatePaths(outline, taskPlaceOf(inner)), ...namespaces];
  const known = paths
    .filter(({ label }) => label !== start && label.startsWith(start) && canRead(label, inner, outline))
    .map((option) => withType(option, values));
  const fields = canRead(start, inner, outline) ? fieldsAfter(start, values) : [];
  return { from, options: [...fields, ...known] };
}

/** Returns false for a path that begins with what cannot be read where it stands. */
export function canRead(path: string, inner: InnerPath, outline: Outline): boolean {
  const [root = ''] = /^[^.[]*/.exec(path) ?? [];
  const [list, , field, inField] = inner.rest;
  if (list === 'goal') return root === 'params';
  if (root === 'item') return field !== 'parallel_over';
  if (root === 'this') return field === 'repeat' && inField === 'until';
  const isTask = [...outline.parts, ...outline.handlers].some(({ id }) => id === root);
  return !isTask || readableParts(outline, taskPlaceOf(inner)).some(({ id }) => id === root);
}

/** Returns the place of the task in which a template stands. */
function taskPlaceOf(inner: InnerPath): TaskPlace {
  const [list, index] = inner.rest;
  return isTaskList(inner) ? { list, index: Number(index) } : { list: undefined, index: -1 };
}

/** Adds the type and the description of a value, where they are known. Beside a task stands its tool. */
function withType(option: Proposal, values: PathScope): Proposal {
  const { type = 'any', description } = values.find(option.label) ?? {};
  return {
    ...option,
    ...(option.kind !== 'task' && type !== 'any' && { detail: type }),
    ...(description !== undefined && { info: description }),
  };
}

/** Lists the fields of the value after whose path a name is written. */
function fieldsAfter(start: string, values: PathScope): Proposal[] {
  return values.fieldsOf(start.slice(0, -1)).map(({ name, type, description }, index) => ({
    label: `${start}${name}`,
    detail: type,
    ...(description !== undefined && { info: description }),
    kind: 'value',
    boost: 40 - Math.min(index, 80),
  }));
}
