import { isObject } from '../../common/json/json.js';
import type { Findings } from '../../definition/problems/diagnostic.js';
import type { Path } from '../../definition/problems/problem.js';
import type { Catalog } from '../../tools/catalog.js';
import { verbatimInputs } from '../../tools/inputs/literal-inputs.js';
import type { KeyLookup } from '../check-context.js';
import type { DraftTask, LocatedReference, PipelineDraft } from '../draft.js';
import { isPipelineCall } from './pipeline-calls.js';

const HINT = 'only the inputs of a task read secrets: write it there';

/**
 * Checks that secrets stand in the inputs of tasks only (D61), wherever else a text names one.
 *
 * @param available names of the secrets that there are; undefined when nobody knows before the run
 */
export function* checkSecrets(
  draft: PipelineDraft,
  definition: unknown,
  catalog: Catalog,
  available: KeyLookup | undefined,
): Findings {
  for (const located of draft.goalReferences) yield* checkPlace(located, 'the goal');
  const { params, inputs } = isObject(definition) ? definition : {};
  yield* checkTexts(params, ['params'], 'a param', HINT);
  yield* checkTexts(inputs, ['inputs'], 'the inputs of a pipeline', HINT);
  const missing = new Set<string>();
  for (const task of draft.tasks) {
    yield;
    yield* checkTaskId(task);
    for (const located of task.parallelOverReferences) yield* checkPlace(located, 'parallel_over');
    for (const { references } of [...task.conditions, ...task.until])
      for (const located of references) yield* checkPlace(located, 'a condition');
    yield* checkTexts(task.awaits, [...task.path, 'await'], 'await', HINT);
    yield* checkVerbatim(task, catalog);
    if (available === undefined) continue;
    for (const located of task.references) yield* checkAvailable(located, available, missing);
  }
}

function* checkPlace(located: LocatedReference, place: string): Findings {
  const { reference, source, path, at } = located;
  if (reference.kind !== 'secret') return;
  const message = `{{${source}}}: ${place} cannot read secrets`;
  yield { code: 'misplaced_secret', message, path, at, hint: HINT };
}

function* checkTaskId({ id, path }: DraftTask): Findings {
  if (id !== 'secrets') return;
  const message =
    'the task "secrets" is called like the namespace: {{secrets.output}} means the task, {{secrets.NAME}} a secret';
  const hint = 'rename the task, for example to "secrets_task"';
  yield { code: 'reserved_id', severity: 'warning', message, path: [...path, 'id'], hint };
}

/** Checks the lists and objects that a tool takes as written: a template in them stays text. */
function* checkVerbatim(task: DraftTask, catalog: Catalog): Findings {
  const names = verbatimInputs(task.tool === undefined ? undefined : catalog.get(task.tool));
  for (const name of names) {
    const value = task.literalInputs[name];
    // The pipelines of run_pipeline are checked by themselves: their tasks may read secrets.
    if (typeof value !== 'object' || (name === 'pipeline' && isPipelineCall(task))) continue;
    const place = `the input "${name}", which the tool takes as written,`;
    yield* checkTexts(value, [...task.path, 'inputs', name], place, 'pass the secret in an input of its own');
  }
}

/** A template that reads a secret, in a text that is no template. */
const NAMES_SECRET = /\{\{\s*secrets\s*[.[]/;

/** Deeper values are refused elsewhere. */
const MAX_DEPTH = 100;

const TEXTS_PER_STEP = 200;

/** Looks through values that contain no templates. */
function* checkTexts(root: unknown, base: Path, place: string, hint: string): Findings {
  const seen = new Set<object>();
  const pending: [unknown, Path][] = [[root, base]];
  for (let count = 1; pending.length > 0; count++) {
    if (count % TEXTS_PER_STEP === 0) yield;
    const [value, path] = pending.pop() ?? [undefined, base];
    if (typeof value === 'string' && NAMES_SECRET.test(value)) {
      const at = value.search(NAMES_SECRET);
      yield { code: 'misplaced_secret', message: `${place} cannot read secrets`, path, at, hint };
    }
    if (typeof value !== 'object' || value === null || seen.has(value) || path.length > MAX_DEPTH) continue;
    seen.add(value);
    for (const [key, member] of Object.entries(value)) {
      pending.push([member, [...path, Array.isArray(value) ? Number(key) : key]]);
    }
  }
}

/** Warns once of each secret that there is not, where it is first read (D9): it may be there when the run begins. */
function* checkAvailable(located: LocatedReference, available: KeyLookup, missing: Set<string>): Findings {
  const { reference, source, hasFallback, path, at } = located;
  if (reference.kind !== 'secret' || hasFallback) return;
  const { name } = reference;
  if (available.has(name) || missing.has(name)) return;
  missing.add(name);
  const message = `{{${source}}}: there is no secret "${name}" here`;
  const hint = `a run needs it: set SECRET_${name} in the environment`;
  yield { code: 'missing_secret', severity: 'warning', message, path, at, hint };
}
