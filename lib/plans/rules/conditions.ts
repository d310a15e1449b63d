import type { CheckBudget } from '../../common/json-schema/check-budget.js';
import { ellipsize } from '../../common/text.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { type Hint, hintRename } from '../../definition/problems/hint.js';
import { writtenTextOf } from '../../pipelines/flow/conditions.js';
import { checkCondition } from '../../pipelines/rules/conditions/conditions.js';
import { listConditionKeys, type PlanCondition } from '../conditions.js';
import type { DraftSubPipeline, PlanDraft } from '../draft.js';
import type { SkipRule } from '../skip-rules.js';
import { hintForInput, hintForKey, type KeyContext } from './keys.js';

type Reference = PlanCondition['references'][number];

const EXAMPLE = '"{{session.KEY}}" or "{{pipeline.inputs.KEY}}"';

const ONLY_KEYS =
  'a condition of a sub-pipeline reads only {{session.KEY}} and {{pipeline.inputs.KEY}} of the plan';

/** Checks the conditions of sub-pipelines (D77): they read session keys and inputs of the plan that exist. */
export function* checkPlanConditions(
  { subPipelines }: PlanDraft,
  context: KeyContext,
  budget: CheckBudget,
): Findings {
  for (const subPipeline of subPipelines) {
    for (const condition of subPipeline.conditions) {
      yield;
      yield* condition.diagnostics;
      yield* checkCondition(condition, { params: {} }, budget, EXAMPLE);
      for (const reference of condition.references) yield* checkReference(reference, subPipeline, context);
    }
  }
}

function checkReference(read: Reference, reader: DraftSubPipeline, context: KeyContext): Diagnostic[] {
  const { reference, path, at } = read;
  switch (reference.kind) {
    case 'session':
      return checkKey(reference.key, read, reader, context);
    case 'input': {
      const { key } = reference;
      if (context.inputs.has(key)) return [];
      const message = `the plan has no input "${key}", which a condition of sub-pipeline "${reader.id}" reads`;
      return [{ code: 'unknown_input', message, path, at, hint: hintForInput(key, context) }];
    }
    case 'unknown': {
      const isNamespace = read.root === 'session' || read.root === 'pipeline';
      const message = isNamespace ? reference.message : ONLY_KEYS;
      const hint = isNamespace ? reference.hint : hintNamespace(read, context);
      return [{ code: 'unknown_reference', message, path, at, hint }];
    }
    default: {
      const message = `${ONLY_KEYS}, not {{${ellipsize(read.source, 80)}}}`;
      return [{ code: 'unknown_reference', message, path, at, hint: hintNamespace(read, context) }];
    }
  }
}

/** Finds the key or the input that was meant by a template that names another namespace, or none. */
function hintNamespace(
  { root, source }: Reference,
  { writers, session, inputs }: KeyContext,
): Hint | undefined {
  const [first = '', second = ''] = source.split(/[.\s]/);
  for (const name of [root, second]) {
    const written = name === root ? first : `${first}.${name}`;
    if (inputs.has(name)) return hintRename(written, `pipeline.inputs.${name}`);
    if (writers.has(name) || session.has(name)) return hintRename(written, `session.${name}`);
  }
  return 'store what it looks at under a key, or pass it as an input of the plan';
}

/** A key that only the sub-pipeline itself stores is not there yet when its conditions are looked at. */
function checkKey(
  key: string,
  { path, at, hasFallback }: Reference,
  reader: DraftSubPipeline,
  context: KeyContext,
): Diagnostic[] {
  const { writers, session } = context;
  if (session.has(key) || writers.other(key, reader) !== undefined) return [];
  const severity = hasFallback ? ({ severity: 'warning' } as const) : {};
  const diagnostic = { code: 'unsatisfied_read', path, at, ...severity } as const;
  if (writers.has(key)) {
    const message = `a condition of sub-pipeline "${reader.id}" reads "${key}", which only "${reader.id}" itself stores, later`;
    return [{ ...diagnostic, message, hint: 'read a key that another sub-pipeline stores' }];
  }
  const message = `no sub-pipeline stores "${key}", which a condition of "${reader.id}" reads`;
  return [{ ...diagnostic, message, hint: hintForKey(key, reader, hasFallback, context) }];
}

/** Warns of a sub-pipeline that is skipped with another one, because it needs what only that one stores (D78). */
export function* warnOfSkips(
  { subPipelines }: PlanDraft,
  rules: ReadonlyMap<string, SkipRule>,
  { session }: KeyContext,
): Findings {
  const causes = new Map(subPipelines.map(({ id, conditions: [first] }) => [id, first]));
  for (const { id, path, conditions, reads } of subPipelines) {
    yield;
    // The author of a condition over a key knows that it may be missing.
    const known = new Set(listConditionKeys(conditions).all);
    for (const [key, writer] of rules.get(id)?.needed ?? []) {
      if (known.has(key) || session.has(key)) continue;
      const cause = causes.get(writer);
      const why =
        cause === undefined ? '' : `, by its condition ${ellipsize(writtenTextOf(cause.value), 80)}`;
      const message = `sub-pipeline "${id}" is skipped when "${writer}" is${why}: only that one stores "${key}"`;
      const hint = `if it is to run then, give a default wherever its pipeline reads it: {{session.${key} ?? null}}`;
      const at = reads.find((read) => read.key === key)?.path ?? path;
      yield { code: 'may_be_skipped', severity: 'warning', message, path: at, hint };
    }
  }
}
