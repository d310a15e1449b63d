import type { Path } from '../problem.js';
import type { Source } from './source.js';

/** Which definitions stand within the entries of a list: `tasks/0/inputs/pipeline`, say. */
export interface Within {
  readonly list: string;
  /** Leads from an entry to its definition. */
  readonly field: Path;
}

/**
 * Where templates stand unquoted in the definition within each entry, from that definition's own root; found in one
 * pass.
 *
 * @param base leads to the definition that has the list
 */
export function unquotedByEntry(
  { unquoted }: Source,
  base: Path,
  { list, field }: Within,
): (index: number) => readonly Path[] {
  const byEntry = new Map<string | number | undefined, Path[]>();
  for (const path of unquoted) {
    const [first, index, ...rest] = path.slice(base.length);
    if (first !== list || field.some((key, depth) => rest[depth] !== key)) continue;
    const own = rest.slice(field.length);
    const known = byEntry.get(index);
    if (known === undefined) byEntry.set(index, [own]);
    else known.push(own);
  }
  return (index) => byEntry.get(index) ?? [];
}
