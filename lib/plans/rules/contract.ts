import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import type { Hint } from '../../definition/problems/hint.js';
import type { Path } from '../../definition/problems/problem.js';
import type { Contract } from '../../pipelines/contract.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { DraftSubPipeline } from '../draft.js';
import { type KeyContext, withoutRepeats } from './keys.js';

/** A sub-pipeline and its pipeline. */
interface Match {
  readonly subPipeline: DraftSubPipeline;
  readonly pipeline: Pipeline;
  /** The file of the pipeline, if the pipeline has one. */
  readonly file: string | undefined;
}

/** Checks that a pipeline matches its declaration in the plan (D46). The diagnostics are located in the plan. */
export function* checkContract(match: Match, context: KeyContext): Findings {
  const { subPipeline, pipeline } = match;
  const { contract } = pipeline;
  yield* checkUndeclaredStores(match, context);
  yield* checkDeclaredStores(subPipeline, contract, context);
  yield* checkTemplatedStores(match);
  yield* checkReads(match, context);
  yield* checkInputs(subPipeline, contract, context);
  for (const name of contract.requiredParams) yield missingParam(name, subPipeline);
}

function* checkUndeclaredStores(match: Match, { writers }: KeyContext): Generator<Diagnostic> {
  const { subPipeline, pipeline } = match;
  const declared = new Set(subPipeline.stores.map(({ key }) => key));
  for (const [key, task] of pipeline.contract.stores) {
    if (declared.has(key)) continue;
    const writer = writers.first(key);
    const taskName = formatTask(task, match);
    const message = `${taskName} stores "${key}", which sub-pipeline "${subPipeline.id}" does not declare`;
    const hint =
      writer === undefined
        ? addKey(`add "${key}" to its "stores"`, subPipeline, 'stores', key)
        : `sub-pipeline "${writer.id}" stores it already: use another key in ${taskName}`;
    yield { code: 'undeclared_store', message, path: listPath(subPipeline, 'stores'), hint };
  }
}

function* checkDeclaredStores(
  { id, stores }: DraftSubPipeline,
  contract: Contract,
  { suggestions }: KeyContext,
): Generator<Diagnostic> {
  const declared = new Set(stores.map(({ key }) => key));
  const undeclared = [...contract.stores.keys()].filter((key) => !declared.has(key));
  for (const { key, path } of withoutRepeats(stores)) {
    if (contract.stores.has(key)) continue;
    if (contract.mayStoreMore) {
      const message = `no store task of sub-pipeline "${id}" names "${key}": only a run can show whether it is stored`;
      yield { code: 'never_stored', severity: 'warning', message, path };
    } else {
      const otherwise = 'remove it from "stores", or store it with a store task';
      const hint = suggestions.hint(key, undeclared, otherwise);
      yield { code: 'never_stored', message: `sub-pipeline "${id}" never stores "${key}"`, path, hint };
    }
  }
}

/** Warns of stores whose key is a template: the key is compared with the plan when a store writes it (D55). */
function* checkTemplatedStores(match: Match): Generator<Diagnostic> {
  const { subPipeline, pipeline } = match;
  for (const task of pipeline.contract.templatedStores) {
    const message = `${formatTask(task, match)} stores a key that is a template: only the run shows which`;
    const hint = `list the keys that others read in the "stores" of "${subPipeline.id}"; a key that only other sub-pipelines list is refused`;
    const path = listPath(subPipeline, 'stores');
    yield { code: 'templated_store', severity: 'warning', message, path, hint };
  }
}

/**
 * Reports session keys that a pipeline reads but the plan does not declare: the sub-pipeline that stores such a key
 * could run before or after (D46). Also reports keys that the plan declares but the `reads` of the pipeline omits (D3).
 */
function* checkReads(match: Match, context: KeyContext): Generator<Diagnostic> {
  const { subPipeline, pipeline } = match;
  const { contract, definition } = pipeline;
  const declared = new Map(subPipeline.reads.map(({ key, path }) => [key, path]));
  const isAvailable = (key: string): boolean => context.session.has(key) || contract.stores.has(key);
  const listed = new Set(definition.reads);
  const isHidden = (key: string): boolean => definition.reads !== undefined && !listed.has(key);
  for (const [key, { task, hasFallback, isNested }] of contract.reads) {
    if (isAvailable(key)) continue;
    const reader = formatTask(task, match);
    const path = declared.get(key);
    if (path === undefined) yield* checkUndeclaredRead(key, reader, hasFallback, match, context);
    else if (isHidden(key) && !isNested) yield hiddenRead(key, reader, path, subPipeline);
  }
  for (const key of listed) {
    if (contract.reads.has(key) || isAvailable(key) || declared.has(key)) continue;
    yield* checkUndeclaredRead(key, 'the "reads" of its pipeline', false, match, context);
  }
}

function checkUndeclaredRead(
  key: string,
  reader: string,
  hasFallback: boolean,
  { subPipeline, pipeline }: Match,
  { writers, suggestions }: KeyContext,
): Diagnostic[] {
  const { id, reads } = subPipeline;
  const writer = writers.other(key, subPipeline);
  const diagnostic = {
    code: 'undeclared_read',
    message: `sub-pipeline "${id}" reads session key "${key}" without declaring it (in ${reader})`,
    path: listPath(subPipeline, 'reads'),
  } as const;
  if (writer !== undefined) {
    const text = `add "${key}" to its "reads", so that it runs after "${writer.id}", which stores it`;
    const hint = addKey(text, subPipeline, 'reads', key);
    return [{ ...diagnostic, hint, ...(hasFallback ? { severity: 'warning' } : {}) }];
  }
  if (hasFallback || pipeline.contract.storesUnknownKey) return [];
  const otherwise = `nothing in the plan stores it: pass it in the session, or add a fallback: {{session.${key} ?? null}}`;
  const stored = [...writers.keysFor(subPipeline), ...pipeline.contract.stores.keys()];
  const likely = [...reads.map((read) => read.key), ...stored];
  return [{ ...diagnostic, severity: 'warning', hint: suggestions.hint(key, likely, otherwise) }];
}

function hiddenRead(key: string, reader: string, path: Path, { id }: DraftSubPipeline): Diagnostic {
  const message = `${reader} reads session key "${key}", but cannot see it: the "reads" of its pipeline omits it`;
  const hint = `add "${key}" to the "reads" of the pipeline of "${id}", or remove that list`;
  return { code: 'hidden_read', severity: 'warning', message, path, hint };
}

function* checkInputs(
  { id, inputs }: DraftSubPipeline,
  contract: Contract,
  { inputs: known, suggestions }: KeyContext,
): Generator<Diagnostic> {
  for (const { key, path } of withoutRepeats(inputs)) {
    // An input that the plan does not have is reported elsewhere.
    if (contract.inputs.has(key) || !known.has(key)) continue;
    const message = `the pipeline of sub-pipeline "${id}" neither declares nor reads the input "${key}"`;
    const hint = suggestions.hint(key, contract.inputs, 'remove it from "inputs"');
    yield { code: 'unknown_input', message, path, hint };
  }
}

function missingParam(name: string, { id, path }: DraftSubPipeline): Diagnostic {
  const message = `param "${name}" of sub-pipeline "${id}" has no default, and a plan passes no params`;
  return { code: 'missing_param', message, path, hint: 'give it a default, or make it an input' };
}

function addKey(text: string, { path }: DraftSubPipeline, field: 'reads' | 'stores', key: string): Hint {
  return { text, change: { kind: 'append', path: [...path, field], value: key } };
}

/** Names a task, and the file of its pipeline. */
function formatTask(task: string, { file }: Match): string {
  return file === undefined ? `task "${task}"` : `task "${task}" of ${file}`;
}

/** Returns the path of a list, or of the sub-pipeline when the list is missing. */
function listPath(subPipeline: DraftSubPipeline, field: 'reads' | 'stores'): Path {
  return subPipeline[field].length === 0 ? subPipeline.path : [...subPipeline.path, field];
}
