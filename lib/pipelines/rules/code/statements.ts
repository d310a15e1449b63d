import { isObject, type Json } from '../../../common/json/json.js';
import type { Diagnostic, Findings } from '../../../definition/problems/diagnostic.js';
import type { BoundPart, Hint } from '../../../definition/problems/hint.js';
import type { Path } from '../../../definition/problems/problem.js';
import { POSTGRES, readTokens, type Token } from '../../../tools/builtin/sql-query/tokens.js';
import type { Catalog } from '../../../tools/catalog.js';
import { passwordOf } from '../../../tools/connections/database-url.js';
import type { DraftTask, PipelineDraft } from '../../draft.js';

/** Checks that statements of SQL are the same in each run (D92): values are bound, and never part of the text. */
export function* checkStatements(draft: PipelineDraft, catalog: Catalog): Findings {
  for (const task of draft.tasks) {
    const inputs = task.tool === undefined ? undefined : catalog.get(task.tool)?.inputs;
    if (inputs === undefined) continue;
    yield;
    for (const [name, { format }] of Object.entries(inputs)) {
      if (format !== 'sql') continue;
      for (const { text, path } of listTexts(task.literalInputs[name], [name])) {
        const problem = checkText(text, path, task);
        if (problem !== undefined) yield problem;
      }
    }
    if (task.builtin === 'sql_query') yield* checkPassword(task);
  }
}

function* listTexts(value: Json | undefined, path: Path): Generator<{ text: string; path: Path }> {
  if (typeof value === 'string') yield { text: value, path };
  if (!Array.isArray(value)) return;
  for (const [index, text] of value.entries())
    if (typeof text === 'string') yield { text, path: [...path, index] };
}

/** A template in a text that is code of another language, where a value could change what the code does. */
export const PASTED_TEMPLATE = /\{\{((?:[^{}]|\{(?!\{)|\}(?!\}))*)\}\}/g;

const ADVICE =
  'write :name in its place, and the template as the value of "name" in "params"; names of tables and columns cannot be bound';

function checkText(text: string, inputPath: Path, task: DraftTask): Diagnostic | undefined {
  const [first] = text.matchAll(PASTED_TEMPLATE);
  if (first === undefined) return undefined;
  return {
    code: 'template_in_sql',
    message: `${first[0]} in the text of a statement: a value in it could change what it does`,
    path: [...task.path, 'inputs', ...inputPath],
    at: first.index,
    hint: hintBinding(text, inputPath, task) ?? ADVICE,
  };
}

/** How all templates of a text become params; undefined where that is not clear. */
function hintBinding(text: string, inputPath: Path, { path, literalInputs }: DraftTask): Hint | undefined {
  const { params = {} } = literalInputs;
  if (!isObject(params)) return undefined;
  const templates = [...text.matchAll(PASTED_TEMPLATE)];
  const standIn = (index: number): string => `wavetrain_template_${index}_`;
  let count = 0;
  const tokens = tokensOf(text.replaceAll(PASTED_TEMPLATE, () => standIn(count++)));
  const names = new Map<string, string>();
  const added: Record<string, string> = {};
  const parts: BoundPart[] = [];
  for (const [index, { 0: written, 1: source = '', index: at }] of templates.entries()) {
    const isQuoted = findPlace(tokens, standIn(index));
    if (isQuoted === undefined) return undefined;
    let name = names.get(written);
    if (name === undefined) {
      name = nameOfTemplate(source, written, { ...params, ...added });
      names.set(written, name);
      if (params[name] !== written) added[name] = written;
    }
    parts.push({ at, written, text: `:${name}`, isQuoted });
  }
  const [[template = '', name = ''] = []] = names;
  return {
    text: `bind it: write :${name}, and params: {${name}: ${JSON.stringify(template)}}`,
    change: {
      kind: 'bind',
      path: [...path, 'inputs', ...inputPath],
      parts,
      paramsPath: [...path, 'inputs', 'params'],
      params: added,
    },
  };
}

function tokensOf(text: string): readonly Token[] {
  try {
    return readTokens(text, POSTGRES, 'the query').filter(({ kind }) => kind !== 'blank');
  } catch {
    return [];
  }
}

/** Words that a name of a table follows. */
const BEFORE_NAMES = /^(?:FROM|JOIN|INTO|UPDATE|TABLE|BY|SCHEMA|DATABASE|USING|ON)$/i;

/** Returns whether a value stands in quotes of its own; undefined where something else than one value stands. */
function findPlace(tokens: readonly Token[], standIn: string): boolean | undefined {
  const index = tokens.findIndex(({ text }) => text === standIn || text === `'${standIn}'`);
  const before = tokens[index - 1];
  if (index <= 0 || before === undefined || before.text === '.' || tokens[index + 1]?.text === '.')
    return undefined;
  const isQuoted = tokens[index]?.kind === 'text';
  return !isQuoted && BEFORE_NAMES.test(before.text) ? undefined : isQuoted;
}

function* checkPassword({ literalInputs, path }: DraftTask): Generator<Diagnostic> {
  const { url } = literalInputs;
  if (typeof url !== 'string' || url.includes('{{') || passwordOf(url) === undefined) return;
  yield {
    code: 'password_in_url',
    severity: 'warning',
    message: 'the url has a password, which everybody sees who sees this definition',
    path: [...path, 'inputs', 'url'],
    hint: 'make the whole url a secret, as in url: "{{secrets.DATABASE_URL}}", or name a connection of SERVICE_CONNECTIONS',
  };
}

/**
 * Names what a template becomes like what it reads: `id` for `params.id`, and `id_2` where that is another value.
 *
 * @param source of the template, without braces
 * @param taken names that there are, with their values
 * @param toName writes a word as a name of the other language
 */
export function nameOfTemplate(
  source: string,
  written: string,
  taken: Readonly<Record<string, unknown>>,
  toName: (word: string) => string = (word) => word,
): string {
  const words = (source.split('??', 1)[0] ?? '').match(/[A-Za-z_]\w*/g) ?? [];
  const name = toName(words.findLast((word) => word !== 'output') ?? 'value');
  for (let number = 1; ; number++) {
    const numbered = number === 1 ? name : `${name}_${number}`;
    if (!Object.hasOwn(taken, numbered) || taken[numbered] === written) return numbered;
  }
}
