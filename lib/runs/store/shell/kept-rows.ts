import type Database from 'libsql';
import { selectAll } from '../sqlite/thread/statements.js';

/** A run of a file, as far as it matters to those that may use its files. */
export interface KeptRow {
  readonly number: number;
  readonly id: string;
  readonly createdAt: number;
  readonly tenantId: string;
  readonly rerunOf: string | null;
  /** 0 when the run has not settled. */
  readonly state: number;
  readonly bytes: number | null;
  /** Of a run that has not settled: when a later shell has found that its process is gone; null while it may be at work. */
  readonly finishedAt: number | null;
}

const KEPT_COLUMNS =
  'number, id, created_at AS createdAt, tenant AS tenantId, rerun_of AS rerunOf, state, bytes, finished_at AS finishedAt';

/** The runs of a file, the newest first. */
export function readKeptRows(database: Database.Database): readonly KeptRow[] {
  return selectAll(
    database,
    `SELECT ${KEPT_COLUMNS} FROM run WHERE removed = 0 ORDER BY created_at DESC, id DESC`,
  );
}

/**
 * By id of the runs, those whose files each may use: those that it repeats, directly or indirectly, from the first one that
 * has any.
 */
export function findSources(
  ids: readonly string[],
  rows: readonly Pick<KeptRow, 'id' | 'rerunOf'>[],
  withFiles: ReadonlySet<string>,
): ReadonlyMap<string, readonly string[]> {
  const repeated = new Map(rows.map(({ id, rerunOf }) => [id, rerunOf ?? undefined]));
  const sources = new Map<string, readonly string[]>();
  for (const id of ids) {
    const earlier = new Set<string>();
    for (let next = repeated.get(id); next !== undefined && !earlier.has(next); next = repeated.get(next)) {
      earlier.add(next);
    }
    const oldestFirst = [...earlier].toReversed();
    const first = oldestFirst.findIndex((other) => withFiles.has(other));
    sources.set(id, first === -1 ? [] : oldestFirst.slice(first));
  }
  return sources;
}
