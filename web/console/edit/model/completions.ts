import type { Json } from '../../../../lib/common/json/json.js';
import type { CursorPlace } from './cursor-path.js';
import { type Outline, partsIn, scopeOf } from './outline.js';
import type { Proposal, Proposals } from './proposal.js';
import {
  pathScopeOf,
  proposeInTemplate,
  readableParts,
  type TaskPlace,
  templatePaths,
} from './template-proposals.js';
import { divide, formatType, type InnerPath, isTaskList, schemaAt, type Vocabulary } from './vocabulary.js';

/** Returns what may be written at the cursor. */
export function propose(cursor: CursorPlace, outline: Outline, vocabulary: Vocabulary): Proposals {
  const inner = divide(cursor.path, outline.kind, vocabulary);
  const scope = scopeOf(inner, outline);
  if (cursor.template !== undefined)
    return proposeInTemplate(cursor, inner, scope, pathScopeOf(inner, outline, vocabulary));
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

function proposeTasks(outline: Outline, own: TaskPlace): Proposal[] {
  return readableParts(outline, own).map(({ id, tool }) => ({ label: id, detail: tool, kind: 'task' }));
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

function formatDefault(value: Json | undefined): string {
  return value === undefined || value === null ? '' : ` Default: ${JSON.stringify(value)}.`;
}
