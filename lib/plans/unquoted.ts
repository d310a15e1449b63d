import type { Path } from '../definition/problem.js';
import type { Source } from '../definition/source.js';
import type { DraftSubPipeline } from './draft.js';

/** Where templates stand unquoted in each inline pipeline, from the pipeline's own root; found in one pass. */
export function unquotedBySubPipeline(
  { unquoted }: Source,
  base: Path,
): (subPipeline: DraftSubPipeline) => readonly Path[] {
  const bySubPipeline = new Map<string | number, Path[]>();
  for (const path of unquoted) {
    const [list, index, field, ...rest] = path.slice(base.length);
    if (list !== 'sub_pipelines' || index === undefined || field !== 'pipeline') continue;
    const known = bySubPipeline.get(index);
    if (known === undefined) bySubPipeline.set(index, [rest]);
    else known.push(rest);
  }
  return ({ path }) => bySubPipeline.get(path[1] ?? '') ?? [];
}
