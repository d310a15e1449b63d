import { isObject, type Json } from '../../../common/json/json.js';
import type { Diagnostic, Findings } from '../../../definition/problems/diagnostic.js';
import type { BoundPart, Hint } from '../../../definition/problems/hint.js';
import type { Path } from '../../../definition/problems/problem.js';
import { POSTGRES, readTokens, type Token } from '../../../tools/builtin/sql-query/tokens.js';
import type { Catalog } from '../../../tools/catalog.js';
import { passwordOf } from '../../../tools/connections/database-url.js';
import type { DraftTask, PipelineDraft } from '../../draft.js';
import { listPasted, type PastedTemplate, replacePasted, TemplateNames } from './pasted-templates.js';

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

const ADVICE =
  'write :name in its place, and the template as the value of "name" in "params"; names of tables and columns cannot be bound';

function checkText(text: string, inputPath: Path, task: DraftTask): Diagnostic | undefined {
  const templates = listPasted(text);
  const [first] = templates;
  if (first === undefined) return undefined;
  return {
    code: 'template_in_sql',
    message: `${first.written} in the text of a statement: a value in it could change what it does`,
    path: [...task.path, 'inputs', ...inputPath],
    at: first.at,
    hint: hintBinding(text, templates, inputPath, task) ?? ADVICE,
  };
}

/** How all templates of a text become params; undefined where that is not clear. */
function hintBinding(
  text: string,
  templates: readonly PastedTemplate[],
  inputPath: Path,
  { path, literalInputs }: DraftTask,
): Hint | undefined {
  const { params = {} } = literalInputs;
  if (!isObject(params)) return undefined;
  const names = new TemplateNames(params);
  const places = findPlaces(replacePasted(text, standIn));
  const parts: BoundPart[] = [];
  for (const [index, template] of templates.entries()) {
    const isQuoted = places.get(standIn(index));
    if (isQuoted === undefined) return undefined;
    parts.push({ at: template.at, written: template.written, text: `:${names.nameOf(template)}`, isQuoted });
  }
  const [first] = templates;
  if (first === undefined) return undefined;
  const name = names.nameOf(first);
  return names.hint(
    `bind it: write :${name}, and params: {${name}: ${JSON.stringify(first.written)}}`,
    parts,
    [...path, 'inputs', ...inputPath],
    [...path, 'inputs', 'params'],
  );
}

/** A name for a template, so that the text can be read as tokens. */
function standIn(index: number): string {
  return `wavetrain_template_${index}_`;
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

/** Returns whether each name stands in quotes of its own; without the names that stand where no value can. */
function findPlaces(text: string): ReadonlyMap<string, boolean> {
  const tokens = tokensOf(text);
  const places = new Map<string, boolean>();
  for (const [index, { kind, text: written }] of tokens.entries()) {
    const before = tokens[index - 1];
    if (before === undefined || before.text === '.' || tokens[index + 1]?.text === '.') continue;
    const isQuoted = kind === 'text';
    if (isQuoted) places.set(written.slice(1, -1), true);
    else if (!BEFORE_NAMES.test(before.text)) places.set(written, false);
  }
  return places;
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
