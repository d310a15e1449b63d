import { isObject } from '../../common/json/json.js';
import type { Diagnostic, Findings } from '../problems/diagnostic.js';
import { hintRename } from '../problems/hint.js';
import { nearest } from '../did-you-mean.js';
import type { DefinitionKind } from '../schema/root.js';
import { compileGoal } from '../template/goal.js';

const HINT = 'write a param, as in "{{params.customer}}"';

/** Checks the fields that limit how many runs of a definition are at work, beyond what their schema says (D81). */
export function* checkRunLimits(definition: unknown, kind: DefinitionKind): Findings {
  if (!isObject(definition)) return;
  const { max_running, concurrency_key } = definition;
  if (max_running === undefined || max_running === null) yield* findIdle(definition);
  if (kind === 'pipeline' && typeof concurrency_key === 'string')
    yield* checkKey(concurrency_key.slice(0, 1000), definition['params']);
}

function* findIdle(definition: Readonly<Record<string, unknown>>): Generator<Diagnostic> {
  for (const field of ['on_busy', 'concurrency_key']) {
    if (definition[field] === undefined || definition[field] === null) continue;
    const message = `"${field}" has no effect without "max_running"`;
    const change = { kind: 'set', path: ['max_running'], value: 1, place: { before: field } } as const;
    const hint = { text: 'write max_running: 1 beside it', change };
    yield { code: 'no_effect', path: [field], at: 'key', severity: 'warning', message, hint };
  }
}

/** The runs of a key are counted before one of them begins, when nothing but its params is certain. */
function* checkKey(text: string, params: unknown): Generator<Diagnostic> {
  const path = ['concurrency_key'];
  const { expressions, problems } = compileGoal(text);
  const [problem] = problems;
  if (problem !== undefined) {
    return yield {
      code: 'invalid_value',
      path,
      message: `"concurrency_key": ${problem.message}`,
      hint: HINT,
    };
  }
  const names = isObject(params) ? Object.keys(params) : [];
  for (const { expression } of expressions) {
    const name = expression.path[0]?.name;
    if (expression.root !== 'params' || name === undefined) {
      const message = `"concurrency_key" may only use params, not {{${expression.source.slice(0, 100)}}}`;
      yield { code: 'invalid_value', path, message, hint: HINT };
    } else if (!names.includes(name)) {
      const meant = nearest(name, names);
      const message = `"concurrency_key": the pipeline has no param "${name.slice(0, 100)}"`;
      const hint = meant === undefined ? HINT : hintRename(name, meant).text;
      yield { code: 'invalid_value', path, message, hint };
    }
  }
}
