import type { Path } from '../definition/problem.js';
import type { Finding } from '../definition/schema/structure.js';
import { type Compared, listPath, taskName } from './compared.js';
import type { DraftSubPipeline } from './draft.js';
import type { KnownKeys } from './key-findings.js';

/**
 * Session keys that a pipeline reads and the plan does not know of: another sub-pipeline that stores one of them may
 * run before or after (D46). And those that the plan hands on while the pipeline's own `reads` keeps them out (D3).
 */
export function readingFindings(compared: Compared, known: KnownKeys): Finding[] {
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
