import type { Json } from '../../../../lib/common/json/json.js';
import type { CursorPlace } from './cursor-path.js';
import { type Outline, type OutlinePart, partsIn } from './outline.js';
import { fieldsAt } from './output-fields.js';
import {
  divide,
  formatType,
  type InnerPath,
  isHandlerList,
  isTaskList,
  PLAIN_NAME,
  schemaAt,
  type Vocabulary,
} from './vocabulary.js';

/** Something that may be written at the cursor. */
export interface Proposal {
  readonly label: string;
  /** A few words beside the label: the type. */
  readonly detail?: string;
  /** The purpose of the proposal. */
  readonly info?: string;
  /** The text to write instead of the label; `¦` is where the cursor goes. */
  readonly apply?: string;
  readonly kind: 'field' | 'tool' | 'value' | 'task' | 'name';
  /** A higher one comes first. */
  readonly boost?: number;
}

interface Proposals {
  /** The place where the text begins that the proposals replace. */
  readonly from: number;
  readonly options: readonly Proposal[];
}

/** Returns what may be written at the cursor. */
export function propose(cursor: CursorPlace, outline: Outline, vocabulary: Vocabulary): Proposals {
  const inner = divide(cursor.path, outline.kind, vocabulary);
  const scope =
    inner.subPipeline === undefined ? outline : (outline.parts[inner.subPipeline]?.pipeline ?? outline);
  if (cursor.template !== undefined) return proposeTemplate(cursor, inner, scope, vocabulary);
  const options =
    cursor.kind === 'key'
      ? proposeKeys(cursor, inner, scope, vocabulary)
      : proposeValues(cursor, inner, scope, vocabulary);
  return { from: cursor.from, options };
}

function proposeKeys(
  { siblings, path }: CursorPlace,
  inner: InnerPath,
  outline: Outline,
  vocabulary: Vocabulary,
): Proposal[] {
  const written = new Set(siblings);
  if (inner.isRoot && outline.parts.length === 0 && !written.has('id')) {
    if (written.has('pipeline') || written.has('plan')) return [];
    const start = (label: string, info: string | undefined): Proposal => ({
      label,
      info: info ?? '',
      kind: 'field',
      apply: `${label}:\n  id: ¦`,
    });
    return [
      start('pipeline', vocabulary.pipeline.definitions?.['pipeline']?.description),
      start('plan', 'Pipelines that pass values to each other.'),
    ];
  }
  if (path.length === 0 && (written.has('pipeline') || written.has('plan'))) return [];
  const fields = inputFields(inner, outline, vocabulary) ?? schemaFields(inner);
  return fields.filter(({ label }) => !written.has(label));
}

function schemaFields(inner: InnerPath): Proposal[] {
  const schema = schemaAt(inner, inner.rest);
  const required = new Set(schema?.required);
  return Object.entries(schema?.properties ?? {}).map(([label, field], index) => ({
    label,
    detail: `${formatType(field)}${required.has(label) ? ', required' : ''}`,
    info: `${field.description ?? ''}${formatDefault(field.default)}`,
    apply: `${label}: ¦`,
    kind: 'field',
    boost: (required.has(label) ? 50 : 0) - index,
  }));
}

/** The inputs of the tool of a task. */
function inputFields(inner: InnerPath, outline: Outline, { tools }: Vocabulary): Proposal[] | undefined {
  const [list, index, field] = inner.rest;
  if (!isTaskList(inner) || field !== 'inputs' || inner.rest.length !== 3) return undefined;
  const tool = tools.get(partsIn(outline, list)[Number(index)]?.tool ?? '');
  return Object.values(tool?.inputs ?? {}).map((input, at) => ({
    label: input.name,
    detail: [input.type, input.required ? 'required' : ''].filter(Boolean).join(', '),
    info: `${input.description}${input.required ? '' : formatDefault(input.default)}`,
    apply: `${input.name}: ¦`,
    kind: 'field',
    boost: (input.required ? 50 : 0) - at,
  }));
}

function proposeValues(
  cursor: CursorPlace,
  inner: InnerPath,
  outline: Outline,
  { tools }: Vocabulary,
): Proposal[] {
  const { rest, kind } = inner;
  const [list, index, field, name] = rest;
  const isTask = isTaskList(inner);
  const own = { list, index: Number(index) };
  if (isTask && field === 'tool') return proposeTools(tools);
  if (isTask && field === 'await' && rest.length === 4) return proposeTasks(outline, own);
  if (isTask && field === 'parallel_over') return quoted(cursor, templatePaths(outline, own));
  if (isTask && field === 'inputs' && rest.length === 4) {
    const { tool = '' } = partsIn(outline, list)[Number(index)] ?? {};
    if (tool === 'store' && name === 'key') return proposeNames(outline.sessionKeys, 'session key');
    const input = tools.get(tool)?.inputs[String(name)];
    const choices = input?.enum ?? (input?.type === 'boolean' ? [true, false] : undefined);
    if (choices !== undefined) return proposeChoices(choices, input?.default);
    if (input?.registry !== undefined) return proposeRegistry(tools.get(tool), input.registry);
    return quoted(cursor, templatePaths(outline, own));
  }
  if (!isTask && field === 'inputs' && kind === 'plan')
    return proposeNames(outline.inputs, 'input of the plan');
  if (list === 'reads' || field === 'reads' || field === 'stores') {
    return proposeNames(outline.sessionKeys, 'session key');
  }
  const schema = schemaAt(inner, rest);
  const isBoolean =
    schema?.type === 'boolean' || (Array.isArray(schema?.type) && schema.type[0] === 'boolean');
  return proposeChoices(schema?.enum ?? (isBoolean ? [true, false] : []), schema?.default);
}

function proposeTools(tools: Vocabulary['tools']): Proposal[] {
  return [...tools.values()].map((tool) => ({
    label: tool.name,
    info: tool.description,
    detail: Object.values(tool.inputs)
      .filter(({ required }) => required)
      .map(({ name }) => name)
      .join(', '),
    kind: 'tool',
  }));
}

function proposeRegistry(
  tool: ReturnType<Vocabulary['tools']['get']>,
  registry: 'functions' | 'schemas' | 'sources',
): Proposal[] {
  return (tool?.[registry] ?? []).map(({ name, description }) => ({
    label: name,
    info: description,
    kind: 'name',
  }));
}

/** A task by its list and its place there. */
interface TaskPlace {
  readonly list: unknown;
  readonly index: number;
}

function proposeTasks(outline: Outline, own: TaskPlace): Proposal[] {
  return readableParts(outline, own).map(({ id, tool }) => ({ label: id, detail: tool, kind: 'task' }));
}

/** Lists the tasks that a task can read or await: no sub-pipelines, no handlers but those of its list, in `finally` those of all (D80). */
function readableParts(outline: Outline, own: TaskPlace): readonly OutlinePart[] {
  const { list } = own;
  const handlers = outline.handlers.filter((part) => list === 'finally' || part.list === list);
  const ownPart = partsIn(outline, list)[own.index];
  const tasks = outline.kind === 'plan' ? [] : outline.parts;
  const all = [...tasks, ...(isHandlerList(list) ? handlers : [])];
  return all.filter((part) => part !== ownPart && part.id !== '' && part.id !== ownPart?.id);
}

function proposeNames(names: readonly string[], detail: string): Proposal[] {
  return names.map((label) => ({ label, detail, kind: 'name' }));
}

function proposeChoices(choices: readonly Json[], usual: Json | undefined): Proposal[] {
  return choices
    .filter((choice) => choice !== null)
    .map((choice) => ({
      label: typeof choice === 'string' ? choice : JSON.stringify(choice),
      kind: 'value',
      ...(choice === usual && { detail: 'default' }),
    }));
}

/** Whole templates as values, in quotes. */
function quoted({ isQuoted, typed }: CursorPlace, paths: readonly Proposal[]): Proposal[] {
  if (typed !== '' && !typed.startsWith('{')) return [];
  return paths.map((option) => {
    const template = `{{${option.label}}}`;
    return { ...option, label: template, apply: isQuoted ? template : `"${template}"` };
  });
}

/** Lists what templates of a task can read. */
function templatePaths(outline: Outline, own: TaskPlace): Proposal[] {
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
      if (PLAIN_NAME.test(name)) paths.push({ label: `${prefix}${name}`, detail, kind: 'name' });
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

function proposeTemplate(
  cursor: CursorPlace,
  inner: InnerPath,
  outline: Outline,
  { tools }: Vocabulary,
): Proposals {
  const { template = '' } = cursor;
  const [written = ''] = /[\w.[\]-]*$/.exec(template) ?? [];
  const from = cursor.from + cursor.typed.length - written.length;
  // Only a path at the start of the template; after `??` stands a literal.
  if (written.length !== template.length) return { from, options: [] };
  if (inner.rest[0] === 'goal') {
    const options = templatePaths(outline, { list: undefined, index: -1 }).filter(({ label }) =>
      label.startsWith('params.'),
    );
    return { from, options };
  }
  const [list, index] = inner.rest;
  const own = isTaskList(inner) ? { list, index: Number(index) } : { list: undefined, index: -1 };
  const isList = inner.rest[2] === 'parallel_over';
  const paths = templatePaths(outline, own).filter(({ label }) => !isList || label !== 'item');
  const isRound = inner.rest[2] === 'repeat' && inner.rest[3] === 'until';
  const fields = proposeFields(written, readableParts(outline, own), tools);
  if (fields.length > 0) return { from, options: fields };
  const namespaces = NAMESPACES.filter(({ label }) => outline.kind !== 'plan' || label !== 'params.');
  return { from, options: [...(isRound ? [OUTPUT_OF_ROUND] : []), ...paths, ...namespaces] };
}

/** Lists the fields of the output of a task into which a path leads. */
function proposeFields(
  written: string,
  parts: readonly OutlinePart[],
  tools: Vocabulary['tools'],
): Proposal[] {
  const [, id = '', path = ''] = /^([\w-]+)\.output((?:\.[\w-]+|\[-?\d+\])*)\.[\w-]*$/.exec(written) ?? [];
  const part = parts.find((each) => each.id === id);
  const schema = part && tools.get(part.tool)?.output.schema;
  if (part === undefined || schema === undefined) return [];
  const start = `${id}.output`;
  const found = fieldsAt(part.isFanOut ? { type: 'array', items: schema } : schema, path);
  return found.map(({ name, type }, index) => ({
    label: `${start}${path}.${name}`,
    detail: type,
    info: `A field of what ${part.tool} returns.`,
    kind: 'value',
    boost: 40 - index,
  }));
}

function formatDefault(value: Json | undefined): string {
  return value === undefined || value === null ? '' : ` Default: ${JSON.stringify(value)}.`;
}
