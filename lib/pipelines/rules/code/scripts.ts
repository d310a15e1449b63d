import { isObject } from '../../../common/json/json.js';
import type { Diagnostic, Findings } from '../../../definition/problems/diagnostic.js';
import type { BoundPart, Hint } from '../../../definition/problems/hint.js';
import type { DraftTask, PipelineDraft } from '../../draft.js';
import { nameOfTemplate, PASTED_TEMPLATE } from './statements.js';

/** How each language reads a variable. */
const READS: Readonly<Record<string, (name: string) => string>> = {
  bash: (name) => `"$${name}"`,
  sh: (name) => `"$${name}"`,
  python3: (name) => `os.environ["${name}"]`,
  node: (name) => `process.env.${name}`,
};

/** Checks that scripts are the same in each run (D88): values come in variables, and are never part of the code. */
export function* checkScripts(draft: PipelineDraft): Findings {
  for (const task of draft.tasks) {
    if (task.builtin !== 'command') continue;
    yield;
    const problem = checkScript(task);
    if (problem !== undefined) yield problem;
  }
}

function checkScript(task: DraftTask): Diagnostic | undefined {
  const { script, shell = 'bash' } = task.literalInputs;
  if (typeof script !== 'string') return undefined;
  const [first] = script.matchAll(PASTED_TEMPLATE);
  if (first === undefined) return undefined;
  const read = typeof shell === 'string' ? READS[shell] : undefined;
  const advice = `write ${read?.('NAME') ?? 'a variable'} in its place, and the template as the value of NAME in "env"`;
  return {
    code: 'template_in_script',
    message: `${first[0]} in a script: a value in it could change what the script does`,
    path: [...task.path, 'inputs', 'script'],
    at: first.index,
    hint: (shell === 'bash' || shell === 'sh' ? hintVariables(script, task) : undefined) ?? advice,
  };
}

/** How all templates of a script become variables; undefined where that is not clear. */
function hintVariables(script: string, { path, literalInputs }: DraftTask): Hint | undefined {
  const { env = {} } = literalInputs;
  if (!isObject(env) || script.includes('<<')) return undefined;
  const added: Record<string, string> = {};
  const names = new Map<string, string>();
  const parts: BoundPart[] = [];
  for (const { 0: written, 1: source = '', index: at } of script.matchAll(PASTED_TEMPLATE)) {
    const quotes = quotesAt(script, at);
    if (quotes === "'") return undefined;
    const name = names.get(written) ?? nameOfTemplate(source, written, { ...env, ...added }, toVariable);
    names.set(written, name);
    if (env[name] !== written) added[name] = written;
    parts.push({ at, written, text: quotes === '"' ? `\${${name}}` : `"$${name}"`, isQuoted: false });
  }
  const [[template = '', name = ''] = []] = names;
  return {
    text: `pass it in a variable: write "$${name}", and env: {${name}: ${JSON.stringify(template)}}`,
    change: {
      kind: 'bind',
      path: [...path, 'inputs', 'script'],
      parts,
      paramsPath: [...path, 'inputs', 'env'],
      params: added,
    },
  };
}

function toVariable(word: string): string {
  return word.toUpperCase();
}

/** The quotes that are open at a place of a script. A comment may have an odd number of quotes: then the guess is no fix. */
function quotesAt(script: string, at: number): string {
  let open = '';
  for (let index = 0; index < at; index++) {
    const character = script[index] ?? '';
    if (character === '\\' && open !== "'") index++;
    else if (open === '' && (character === "'" || character === '"')) open = character;
    else if (character === open) open = '';
  }
  return open;
}
