import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import type { Path } from '../../definition/problems/problem.js';
import type { Catalog } from '../../tools/catalog.js';
import { verbatimInputs } from '../../tools/inputs/literal-inputs.js';
import type { DraftTask, PipelineDraft } from '../draft.js';
import { findStrayBraces } from './stray-braces.js';

/** Braces as they open a template; after a backslash they are text (D14). */
const TEMPLATE = /(?<!\\)\{\{/;

/** Deeper values are refused elsewhere. */
const MAX_DEPTH = 100;

const VALUES_PER_STEP = 200;

const HINT =
  'templates are replaced in values only: write the key itself, or build the object with the tool "transform"';

/** Warns of what stays text in inputs: templates in keys (D15), and templates of other products (D9). */
export function* checkTemplateKeys(draft: PipelineDraft, catalog: Catalog): Findings {
  for (const task of draft.tasks) yield* checkTask(task, draft, catalog);
}

function* checkTask(task: DraftTask, draft: PipelineDraft, catalog: Catalog): Findings {
  const { literalInputs, path, tool: name } = task;
  const tool = name === undefined ? undefined : catalog.get(name);
  const verbatim = verbatimInputs(tool);
  const base = [...path, 'inputs'];
  const seen = new Set<object>();
  const pending: [object, Path][] = [];
  const add = (value: unknown, at: Path): void => {
    // A YAML alias puts the same object in several places.
    if (typeof value !== 'object' || value === null || seen.has(value) || at.length > MAX_DEPTH) return;
    seen.add(value);
    pending.push([value, at]);
  };
  let count = 0;
  for (const input of Object.keys(literalInputs)) {
    if (++count % VALUES_PER_STEP === 0) yield;
    const value = literalInputs[input];
    // The name of an input that the tool does not have is an error of its own.
    if (TEMPLATE.test(input) && tool?.openInputs !== false) yield describe(input, [...base, input]);
    if (typeof value === 'string') yield* findStrayBraces(value, [...base, input], task, draft);
    if (!verbatim.has(input)) add(value, [...base, input]);
  }
  // The list grows while it is read.
  for (const [container, at] of pending) {
    if (++count % VALUES_PER_STEP === 0) yield;
    const isList = Array.isArray(container);
    for (const key of isList ? container.keys() : Object.keys(container)) {
      if (++count % VALUES_PER_STEP === 0) yield;
      const member = (container as Readonly<Record<string | number, unknown>>)[key];
      const inner = [...at, key];
      if (typeof key === 'string' && TEMPLATE.test(key)) yield describe(key, inner);
      if (typeof member === 'string') yield* findStrayBraces(member, inner, task, draft);
      add(member, inner);
    }
  }
}

function describe(key: string, path: Path): Diagnostic {
  const message = `the template in the key ${JSON.stringify(key.slice(0, 100))} stays text`;
  return { code: 'template_in_key', severity: 'warning', message, path, at: 'key', hint: HINT };
}
