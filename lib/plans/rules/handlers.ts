import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import { type Hint, hintRename } from '../../definition/problems/hint.js';
import type { Contract } from '../../pipelines/contract.js';
import {
  type DraftTask,
  listReferences,
  type LocatedReference,
  type PipelineDraft,
} from '../../pipelines/draft.js';
import type { NameHints } from '../../pipelines/rules/references.js';
import type { SubPipelineCheck } from '../check-sub-pipelines.js';
import type { DraftSubPipeline, PlanDraft } from '../draft.js';
import type { SkipRule } from '../skip-rules.js';
import { hintForKey, type KeyContext } from './keys.js';

/** The parts of a plan that say which keys its handlers can read. */
interface HandledPlan {
  readonly draft: PlanDraft;
  readonly skipRules: ReadonlyMap<string, SkipRule>;
}

/** Checks that no handler of a plan has the id of a sub-pipeline: events, drawings, facts and keys of calls name both by it (D80). */
export function* checkHandlerIds({ tasks }: PipelineDraft, { draft }: HandledPlan): Findings {
  const subPipelines = new Set(draft.subPipelines.map(({ id }) => id));
  for (const { id, path } of tasks) {
    if (!subPipelines.has(id)) continue;
    const message = `handler "${id}" has the id of a sub-pipeline`;
    const hint = { ...hintRename(id, `${id}_handler`), text: 'rename the handler, and what refers to it' };
    yield { code: 'duplicate_task', message, path: [...path, 'id'], hint };
  }
}

/**
 * Checks that the keys of the blackboard which handlers of a plan read exist, and warns of those that may be missing: a
 * sub-pipeline that did not run stores nothing (D80).
 *
 * @param contract of the handlers
 */
export function* checkHandlerKeys(
  { tasks }: PipelineDraft,
  contract: Contract,
  { draft, skipRules }: HandledPlan,
  context: KeyContext,
): Findings {
  const declared = new Set(draft.subPipelines.flatMap(({ reads }) => reads.map(({ key }) => key)));
  const isGiven = (key: string): boolean => context.session.has(key) || contract.stores.has(key);
  for (const handler of tasks) {
    yield;
    const warned = new Set(listGuardedKeys(handler));
    for (const located of listReferences(handler)) {
      const { reference, hasFallback } = located;
      if (reference.kind !== 'session' || isGiven(reference.key)) continue;
      const { key } = reference;
      const writer = context.writers.first(key);
      if (writer === undefined) {
        // The check of the sub-pipeline that reads it reports a key that nothing stores.
        const mayExist = declared.has(key) || contract.storesUnknownKey;
        if (!mayExist) yield unknownKey(key, located, handler, context);
      } else if (!hasFallback && !warned.has(key) && mayBeMissing(handler, writer, skipRules)) {
        warned.add(key);
        yield missingKey(key, located, handler, writer);
      }
    }
  }
}

/** The keys of which conditions of a handler have a default: their author knows that they may be missing. */
function listGuardedKeys({ conditions }: DraftTask): string[] {
  return conditions.flatMap(({ references }) =>
    references.flatMap(({ reference, hasFallback }) =>
      reference.kind === 'session' && hasFallback ? reference.key : [],
    ),
  );
}

/** When the plan has succeeded, all of its sub-pipelines have, but for those that were skipped. */
function mayBeMissing(
  { list }: DraftTask,
  { id }: DraftSubPipeline,
  skipRules: ReadonlyMap<string, SkipRule>,
): boolean {
  return list !== 'on_success' || skipRules.has(id);
}

function missingKey(
  key: string,
  { source, path, at }: LocatedReference,
  handler: DraftTask,
  { id }: DraftSubPipeline,
): Diagnostic {
  const when = handler.list === 'on_success' ? 'was skipped' : 'has not stored it';
  const message = `handler "${handler.id}" fails when "${id}" ${when}: only that one stores "${key}"`;
  const hint = `if it is to run then, write {{${source} ?? null}}; if not, when: "{{session.${key} ?? null}}" says so`;
  return { code: 'may_be_skipped', severity: 'warning', message, path, at, hint };
}

function unknownKey(
  key: string,
  { path, at, hasFallback }: LocatedReference,
  { id }: DraftTask,
  context: KeyContext,
): Diagnostic {
  const message = `no sub-pipeline stores "${key}", which handler "${id}" reads`;
  const hint = hintForKey(key, undefined, hasFallback, context);
  const severity = hasFallback ? ({ severity: 'warning' } as const) : {};
  return { code: 'unsatisfied_read', message, path, at, hint, ...severity };
}

/** Suggests `{{session.KEY}}` where a handler of a plan names a task of a sub-pipeline. */
export function createNameHints(
  checks: readonly SubPipelineCheck[],
  { writers, session }: KeyContext,
): NameHints {
  let owners: ReadonlyMap<string, string> | undefined;
  const ownerOf = (name: string): string | undefined => (owners ??= listOwners(checks)).get(name);
  return {
    ofParam: (name) =>
      `a plan has no params: declare "${name}" under its "inputs", and write {{pipeline.inputs.${name}}}`,
    ofRoot: (root, source): Hint | undefined => {
      const isKey = root === source && (writers.has(root) || session.has(root));
      if (isKey) return hintRename(root, `session.${root}`);
      const owner = ownerOf(root);
      return (
        owner &&
        `handlers of a plan read what its sub-pipelines store: store it in "${owner}" with the tool store, and write {{session.KEY}}`
      );
    },
    ofAwaited: (id) =>
      ownerOf(id) && 'remove it: handlers of a plan run when all of its sub-pipelines have ended',
    example: '"{{session.KEY ?? null}}" or "{{pipeline.inputs.KEY}}"',
  };
}

/** The sub-pipeline that each name means: its own id, or that of one of its tasks. */
function listOwners(checks: readonly SubPipelineCheck[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  for (const { subPipeline, pipeline } of checks) {
    for (const task of pipeline?.allTasks.keys() ?? []) owners.set(task, subPipeline.id);
  }
  for (const { subPipeline } of checks) owners.set(subPipeline.id, subPipeline.id);
  return owners;
}
