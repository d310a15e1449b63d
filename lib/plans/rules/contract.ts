import type { Path } from '../../definition/problem.js';
import type { Finding } from '../../definition/schema/structure.js';
import type { Contract } from '../../pipelines/contract.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { DraftSubPipeline } from '../draft.js';
import { type KnownKeys, once } from './keys.js';

/** Does a pipeline keep to what the plan says of it (D46)? Told in the plan, where it is said. */
export function contractFindings(compared: Compared, known: KnownKeys): Finding[] {
  const { subPipeline, pipeline } = compared;
  const { contract } = pipeline;
  return [
    ...undeclaredStores(compared, known),
    ...unstoredKeys(subPipeline, contract, known),
    ...readingFindings(compared, known),
    ...unknownInputs(subPipeline, contract, known),
    ...contract.requiredParams.map((name) => requiredParam(name, subPipeline)),
  ];
}

function undeclaredStores(compared: Compared, { writers }: KnownKeys): Finding[] {
  const { subPipeline, pipeline } = compared;
  const declared = new Set(subPipeline.stores.map(({ key }) => key));
  return [...pipeline.contract.stores].flatMap(([key, task]): Finding[] => {
    if (declared.has(key)) return [];
    const writer = writers.first(key);
    const hint =
      writer === undefined
        ? `add "${key}" to its "stores"`
        : `sub-pipeline "${writer.id}" stores it: let ${taskName(task, compared)} store under another key`;
    return [
      {
        code: 'undeclared_store',
        message: `sub-pipeline "${subPipeline.id}" stores "${key}" without declaring it: ${taskName(task, compared)} does`,
        path: listPath(subPipeline, 'stores', subPipeline.stores),
        hint,
      },
    ];
  });
}

function unstoredKeys(
  { id, stores }: DraftSubPipeline,
  contract: Contract,
  { suggestions }: KnownKeys,
): Finding[] {
  const declared = new Set(stores.map(({ key }) => key));
  const undeclared = [...contract.stores.keys()].filter((key) => !declared.has(key));
  return once(stores).flatMap(({ key, path }): Finding[] => {
    if (contract.stores.has(key)) return [];
    if (contract.mayStoreMore) {
      const message = `no store task of sub-pipeline "${id}" names "${key}": whether it is stored shows in the run only`;
      return [{ code: 'never_stored', severity: 'warning', message, path }];
    }
    const hint = suggestions.hint(key, undeclared, 'take it out of "stores", or store it with a store task');
    return [{ code: 'never_stored', message: `sub-pipeline "${id}" never stores "${key}"`, path, ...hint }];
  });
}

function unknownInputs(
  { id, inputs }: DraftSubPipeline,
  contract: Contract,
  { inputs: known, suggestions }: KnownKeys,
): Finding[] {
  return once(inputs).flatMap(({ key, path }): Finding[] => {
    // Of one that the plan does not have, that is told.
    if (contract.inputs.has(key) || !known.has(key)) return [];
    const message = `the pipeline of sub-pipeline "${id}" neither declares nor reads the input "${key}"`;
    const hint = suggestions.hint(key, contract.inputs, 'take it out of "inputs"');
    return [{ code: 'unknown_input', message, path, ...hint }];
  });
}

function requiredParam(name: string, { id, path }: DraftSubPipeline): Finding {
  const message = `param "${name}" of sub-pipeline "${id}" has no default, and a plan gives no params`;
  return { code: 'missing_param', message, path, hint: 'give it a default, or make it an input' };
}

/**
 * Session keys that a pipeline reads and the plan does not know of: another sub-pipeline that stores one of them may
 * run before or after (D46). And those that the plan hands on while the pipeline's own `reads` keeps them out (D3).
 */
function readingFindings(compared: Compared, known: KnownKeys): Finding[] {
  const { subPipeline, pipeline } = compared;
  const { contract, definition } = pipeline;
  const declared = new Map(subPipeline.reads.map(({ key, path }) => [key, path]));
  const isAtHand = (key: string): boolean => known.session.has(key) || contract.stores.has(key);
  const listed = new Set(definition.reads);
  const listedOnly = [...listed].filter((key) => !contract.reads.has(key));
  const isHidden = (key: string): boolean => definition.reads !== undefined && !listed.has(key);
  return [
    ...[...contract.reads].flatMap(([key, { task, hasFallback, isNested }]): Finding[] => {
      if (isAtHand(key)) return [];
      const reader = taskName(task, compared);
      const path = declared.get(key);
      if (path !== undefined)
        return isHidden(key) && !isNested ? [hiddenRead(key, reader, path, subPipeline)] : [];
      return undeclaredRead(key, reader, hasFallback, compared, known);
    }),
    ...listedOnly.flatMap((key) =>
      isAtHand(key) || declared.has(key)
        ? []
        : undeclaredRead(key, 'its own "reads" lists it', false, compared, known),
    ),
  ];
}

function undeclaredRead(
  key: string,
  reader: string,
  hasFallback: boolean,
  { subPipeline, pipeline }: Compared,
  { writers, suggestions }: KnownKeys,
): Finding[] {
  const { id, reads } = subPipeline;
  const writer = writers.other(key, subPipeline);
  const finding = { code: 'undeclared_read', path: listPath(subPipeline, 'reads', reads) } as const;
  const message = `sub-pipeline "${id}" reads session key "${key}" without declaring it: ${reader}`;
  if (writer !== undefined) {
    const hint = `add "${key}" to its "reads", so that it runs after "${writer.id}", which stores it`;
    return [{ ...finding, message, hint, ...(hasFallback ? { severity: 'warning' } : {}) }];
  }
  if (hasFallback || pipeline.contract.storesUnknownKey) return [];
  const otherwise = `nothing in the plan stores it: give it as session, or give a value: {{session.${key} ?? null}}`;
  const likely = [
    ...reads.map((read) => read.key),
    ...writers.keysFor(subPipeline),
    ...pipeline.contract.stores.keys(),
  ];
  return [{ ...finding, message, severity: 'warning', ...suggestions.hint(key, likely, otherwise) }];
}

function hiddenRead(key: string, reader: string, path: Path, { id }: DraftSubPipeline): Finding {
  const message = `${reader} reads session key "${key}", which the "reads" of its pipeline leaves out: it will not be there`;
  const hint = `add "${key}" to the "reads" of the pipeline of "${id}", or take that list away`;
  return { code: 'hidden_read', severity: 'warning', message, path, hint };
}

/** A sub-pipeline and the pipeline that it names. */
interface Compared {
  readonly subPipeline: DraftSubPipeline;
  readonly pipeline: Pipeline;
  /** The file that it stands in; undefined when it stands elsewhere. */
  readonly file: string | undefined;
}

/** A task with the file that it stands in, as messages name it. */
function taskName(task: string, { file }: Compared): string {
  return file === undefined ? `task "${task}"` : `task "${task}" of ${file}`;
}

/** The list of a sub-pipeline that is at fault; all of it when it has no such list. */
function listPath({ path }: DraftSubPipeline, field: string, entries: readonly unknown[]): Path {
  return entries.length === 0 ? path : [...path, field];
}
