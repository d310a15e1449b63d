import { isObject } from '../../../common/json/json.js';
import type { Diagnostic, Findings } from '../../../definition/problems/diagnostic.js';
import type { BoundPart, Hint } from '../../../definition/problems/hint.js';
import type { DraftTask, PipelineDraft } from '../../draft.js';
import { listPasted, type PastedTemplate, TemplateNames } from './pasted-templates.js';

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
  const templates = listPasted(script);
  const [first] = templates;
  if (first === undefined) return undefined;
  const read = typeof shell === 'string' ? READS[shell] : undefined;
  const advice = `write ${read?.('NAME') ?? 'a variable'} in its place, and the template as the value of NAME in "env"`;
  return {
    code: 'template_in_script',
    message: `${first.written} in a script: a value in it could change what the script does`,
    path: [...task.path, 'inputs', 'script'],
    at: first.at,
    hint: (shell === 'bash' || shell === 'sh' ? hintVariables(script, templates, task) : undefined) ?? advice,
  };
}

/** How all templates of a script become variables; undefined where that is not clear. */
function hintVariables(
  script: string,
  templates: readonly PastedTemplate[],
  { path, literalInputs }: DraftTask,
): Hint | undefined {
  const { env = {} } = literalInputs;
  if (!isObject(env) || script.includes('<<')) return undefined;
  const names = new TemplateNames(env, (word) => word.toUpperCase());
  const quotes = new OpenQuotes(script);
  const parts: BoundPart[] = [];
  for (const template of templates) {
    const quote = quotes.openAt(template.at);
    if (quote === "'") return undefined;
    const name = names.nameOf(template);
    const text = quote === '"' ? `\${${name}}` : `"$${name}"`;
    parts.push({ at: template.at, written: template.written, text, isQuoted: false });
  }
  const [first] = templates;
  if (first === undefined) return undefined;
  const name = names.nameOf(first);
  return names.hint(
    `pass it in a variable: write "$${name}", and env: {${name}: ${JSON.stringify(first.written)}}`,
    parts,
    [...path, 'inputs', 'script'],
    [...path, 'inputs', 'env'],
  );
}

/** The quotes that are open at places of a script. A comment may have an odd number of quotes: then the guess is no fix. */
class OpenQuotes {
  readonly #script: string;
  #open = '';
  #index = 0;

  constructor(script: string) {
    this.#script = script;
  }

  /** @param at behind all places asked for before */
  openAt(at: number): string {
    for (; this.#index < at; this.#index++) {
      const character = this.#script[this.#index] ?? '';
      if (character === '\\' && this.#open !== "'") this.#index++;
      else if (this.#open === '' && (character === "'" || character === '"')) this.#open = character;
      else if (character === this.#open) this.#open = '';
    }
    return this.#open;
  }
}
