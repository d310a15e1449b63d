import type { Diagnostic } from '../../definition/diagnostic.js';
import type { Path } from '../../definition/problem.js';
import type { Contract } from '../../pipelines/contract.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { DraftSubPipeline } from '../draft.js';
import { type KeyContext, withoutRepeats } from './keys.js';

/** A sub-pipeline and its pipeline. */
interface Match {
  readonly subPipeline: DraftSubPipeline;
  readonly pipeline: Pipeline;
  /** The file of the pipeline, if it has one. */
  readonly file: string | undefined;
}

/** Checks that a pipeline matches its declaration in the plan (D46). The diagnostics are located in the plan. */
export function checkContract(match: Match, context: KeyContext): Diagnostic[] {
  const { subPipeline, pipeline } = match;
  const { contract } = pipeline;
  return [
    ...checkUndeclaredStores(match, context),
    ...checkDeclaredStores(subPipeline, contract, context),
    ...checkReads(match, context),
    ...checkInputs(subPipeline, contract, context),
    ...contract.requiredParams.map((name) => missingParam(name, subPipeline)),
  ];
}

function checkUndeclaredStores(match: Match, { writers }: KeyContext): Diagnostic[] {
  const { subPipeline, pipeline } = match;
  const declared = new Set(subPipeline.stores.map(({ key }) => key));
  return [...pipeline.contract.stores].flatMap(([key, task]): Diagnostic[] => {
    if (declared.has(key)) return [];
    const writer = writers.first(key);
    const taskName = formatTask(task, match);
    return [
      {
        code: 'undeclared_store',
        message: `${taskName} stores "${key}", which sub-pipeline "${subPipeline.id}" does not declare`,
        path: listPath(subPipeline, 'stores', subPipeline.stores),
        hint:
          writer === undefined
            ? `add "${key}" to its "stores"`
            : `sub-pipeline "${writer.id}" stores it already: use another key in ${taskName}`,
      },
    ];
  });
}

function checkDeclaredStores(
  { id, stores }: DraftSubPipeline,
  contract: Contract,
  { suggestions }: KeyContext,
): Diagnostic[] {
  const declared = new Set(stores.map(({ key }) => key));
  const undeclared = [...contract.stores.keys()].filter((key) => !declared.has(key));
  return withoutRepeats(stores).flatMap(({ key, path }): Diagnostic[] => {
    if (contract.stores.has(key)) return [];
    if (contract.mayStoreMore) {
      const message = `no store task of sub-pipeline "${id}" names "${key}": only a run can show whether it is stored`;
      return [{ code: 'never_stored', severity: 'warning', message, path }];
    }
    const hint = suggestions.hint(key, undeclared, 'remove it from "stores", or store it with a store task');
    return [{ code: 'never_stored', message: `sub-pipeline "${id}" never stores "${key}"`, path, hint }];
  });
}

/**
 * Reports session keys that a pipeline reads but the plan does not declare: the sub-pipeline that stores such a key
 * could run before or after (D46). Also reports keys that the plan declares but the `reads` of the pipeline omits (D3).
 */
function checkReads(match: Match, context: KeyContext): Diagnostic[] {
  const { subPipeline, pipeline } = match;
  const { contract, definition } = pipeline;
  const declared = new Map(subPipeline.reads.map(({ key, path }) => [key, path]));
  const isAvailable = (key: string): boolean => context.session.has(key) || contract.stores.has(key);
  const listed = new Set(definition.reads);
  const isHidden = (key: string): boolean => definition.reads !== undefined && !listed.has(key);
  return [
    ...[...contract.reads].flatMap(([key, { task, hasFallback, isNested }]): Diagnostic[] => {
      if (isAvailable(key)) return [];
      const reader = formatTask(task, match);
      const path = declared.get(key);
      if (path === undefined) return checkUndeclaredRead(key, reader, hasFallback, match, context);
      return isHidden(key) && !isNested ? [hiddenRead(key, reader, path, subPipeline)] : [];
    }),
    ...[...listed].flatMap((key) => {
      if (contract.reads.has(key) || isAvailable(key) || declared.has(key)) return [];
      return checkUndeclaredRead(key, 'the "reads" of its pipeline', false, match, context);
    }),
  ];
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
    path: listPath(subPipeline, 'reads', reads),
  } as const;
  if (writer !== undefined) {
    const hint = `add "${key}" to its "reads", so that it runs after "${writer.id}", which stores it`;
    return [{ ...diagnostic, hint, ...(hasFallback ? { severity: 'warning' } : {}) }];
  }
  if (hasFallback || pipeline.contract.storesUnknownKey) return [];
  const otherwise = `nothing in the plan stores it: pass it in the session, or add a fallback: {{session.${key} ?? null}}`;
  const likely = [
    ...reads.map((read) => read.key),
    ...writers.keysFor(subPipeline),
    ...pipeline.contract.stores.keys(),
  ];
  return [{ ...diagnostic, severity: 'warning', hint: suggestions.hint(key, likely, otherwise) }];
}

function hiddenRead(key: string, reader: string, path: Path, { id }: DraftSubPipeline): Diagnostic {
  const message = `${reader} reads session key "${key}", but cannot see it: the "reads" of its pipeline omits it`;
  const hint = `add "${key}" to the "reads" of the pipeline of "${id}", or remove that list`;
  return { code: 'hidden_read', severity: 'warning', message, path, hint };
}

function checkInputs(
  { id, inputs }: DraftSubPipeline,
  contract: Contract,
  { inputs: known, suggestions }: KeyContext,
): Diagnostic[] {
  return withoutRepeats(inputs).flatMap(({ key, path }): Diagnostic[] => {
    // An input that the plan does not have is reported elsewhere.
    if (contract.inputs.has(key) || !known.has(key)) return [];
    const message = `the pipeline of sub-pipeline "${id}" neither declares nor reads the input "${key}"`;
    const hint = suggestions.hint(key, contract.inputs, 'remove it from "inputs"');
    return [{ code: 'unknown_input', message, path, hint }];
  });
}

function missingParam(name: string, { id, path }: DraftSubPipeline): Diagnostic {
  const message = `param "${name}" of sub-pipeline "${id}" has no default, and a plan passes no params`;
  return { code: 'missing_param', message, path, hint: 'give it a default, or make it an input' };
}

/** Names a task, and the file of its pipeline. */
function formatTask(task: string, { file }: Match): string {
  return file === undefined ? `task "${task}"` : `task "${task}" of ${file}`;
}

/** Returns the path of a list, or of the sub-pipeline when the list is missing. */
function listPath({ path }: DraftSubPipeline, field: string, entries: readonly unknown[]): Path {
  return entries.length === 0 ? path : [...path, field];
}
