import { propose } from './completions.js';
import type { CursorPlace } from './cursor-path.js';
import { findCursor } from './cursor-path.js';
import { type Outline, partsIn, scopeOf } from './outline.js';
import { PATH_SIGNS } from './readable-paths.js';
import { canRead, pathScopeOf } from './template-proposals.js';
import { divide, formatType, isTaskList, schemaAt, type Vocabulary } from './vocabulary.js';

/** The facts about a field or a tool. */
export interface Explanation {
  readonly from: number;
  readonly to: number;
  readonly title: string;
  readonly detail: string;
  readonly text: string;
  /** Names with what they mean: the inputs of a tool. */
  readonly names: readonly { readonly name: string; readonly detail: string; readonly text: string }[];
}

const WORD = /[\w.-]/;

/** Finds the place of the word around an offset. @param sign matches each character of it */
function rangeOf(text: string, offset: number, sign: RegExp): { readonly from: number; readonly to: number } {
  let from = offset;
  let to = offset;
  while (from > 0 && sign.test(text[from - 1] ?? '')) from--;
  while (to < text.length && sign.test(text[to] ?? '')) to++;
  return { from, to };
}

/** Explains the word at an offset: a field, an input, a tool. Undefined for any other. */
export function explain(
  text: string,
  offset: number,
  outline: Outline,
  vocabulary: Vocabulary,
): Explanation | undefined {
  const { from, to } = rangeOf(text, offset, WORD);
  const word = text.slice(from, to);
  if (word === '') return undefined;
  const cursor = findCursor(text, to);
  if (cursor.template !== undefined) return explainPath(text, offset, outline, vocabulary);
  if (cursor.typed !== word) return undefined;
  const isKey = /^["']?\s*:(?:\s|$)/.test(text.slice(to, to + 20));
  const found = isKey
    ? explainField(word, cursor, outline, vocabulary)
    : explainTool(word, cursor, outline, vocabulary);
  return found && { ...found, from, to };
}

type Found = Omit<Explanation, 'from' | 'to'>;

/** Fields of a map that are named. */
const MOST_FIELDS = 12;

const PATH = new RegExp(`[${PATH_SIGNS}]`, 'u');

/** Explains the path of a template up to the name at an offset, or else the whole path, where it may be read. */
function explainPath(
  text: string,
  offset: number,
  outline: Outline,
  vocabulary: Vocabulary,
): Explanation | undefined {
  const { from, to } = rangeOf(text, offset, PATH);
  const [rest = ''] = /^[^.]*/.exec(text.slice(offset, to)) ?? [];
  for (const end of new Set([offset + rest.length, to])) {
    const path = text.slice(from, end);
    const cursor = findCursor(text, end);
    const option = propose(cursor, outline, vocabulary).options.find(({ label }) => label === path);
    const inner = divide(cursor.path, outline.kind, vocabulary);
    const values = pathScopeOf(inner, outline, vocabulary);
    const found = canRead(path, inner, scopeOf(inner, outline)) ? values.find(path) : undefined;
    if (found !== undefined) {
      const names = values
        .fieldsOf(path)
        .slice(0, MOST_FIELDS)
        .map(({ name, type, description }) => ({ name, detail: type, text: description ?? '' }));
      return { title: path, detail: found.type, text: found.description ?? '', names, from, to: end };
    }
    if (option?.info !== undefined)
      return { title: path, detail: option.detail ?? '', text: option.info, names: [], from, to: end };
  }
  return undefined;
}

function explainField(
  word: string,
  { path }: CursorPlace,
  outline: Outline,
  vocabulary: Vocabulary,
): Found | undefined {
  const inner = divide(path, outline.kind, vocabulary);
  const { rest } = inner;
  const scope = scopeOf(inner, outline);
  const [list, index, field] = rest;
  if (isTaskList(inner) && field === 'inputs' && rest.length === 3) {
    const tool = vocabulary.tools.get(partsIn(scope, list)[Number(index)]?.tool ?? '');
    const input = tool?.inputs[word];
    if (input === undefined) return undefined;
    return { title: word, detail: detailOf(input), text: input.description, names: [] };
  }
  if (path.length === 0 && (word === 'pipeline' || word === 'plan')) {
    const text = vocabulary[word].definitions?.[word]?.description ?? '';
    return { title: word, detail: '', text, names: [] };
  }
  const found = schemaAt(inner, [...rest, word]);
  if (found?.description === undefined) return undefined;
  const usual = found.default === undefined ? '' : `default ${JSON.stringify(found.default)}`;
  const detail = [formatType(found), usual].filter(Boolean).join(', ');
  return { title: word, detail, text: found.description, names: [] };
}

function explainTool(
  word: string,
  { path, kind }: CursorPlace,
  outline: Outline,
  vocabulary: Vocabulary,
): Found | undefined {
  const { rest } = divide(path, outline.kind, vocabulary);
  if (kind !== 'value' || rest.at(-1) !== 'tool') return undefined;
  const tool = vocabulary.tools.get(word);
  if (tool === undefined) return undefined;
  const names = Object.values(tool.inputs).map((input) => ({
    name: input.name,
    detail: detailOf(input),
    text: input.description,
  }));
  const gives =
    tool.output.description === '' ? '' : ` Gives ${tool.output.type}: ${tool.output.description}.`;
  return { title: word, detail: 'tool', text: `${tool.description}.${gives}`, names };
}

function detailOf({
  type,
  required,
  default: usual,
}: {
  readonly type?: string;
  readonly required: boolean;
  readonly default: unknown;
}): string {
  const need = required ? 'required' : usual === null ? 'optional' : `default ${JSON.stringify(usual)}`;
  return [type, need].filter(Boolean).join(', ');
}
