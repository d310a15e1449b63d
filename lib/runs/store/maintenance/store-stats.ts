import { toIsoTime } from '../../../common/clock.js';
import type { EndCounts } from '../run-archive.js';
import { readPragma } from '../sqlite/thread/cleaner.js';
import { assertOurs, readVersion, TABLES_VERSION } from '../sqlite/thread/schema.js';
import { selectAll, selectOne } from '../sqlite/thread/statements.js';
import type Database from 'libsql';
import { type FolderSize, measureFolder } from './files-folder.js';
import { assertNotEmpty, measureFile, inspectStore, type StoreReader } from './store-file.js';

/** So many tenants are listed, those with most runs. */
const MOST_TENANTS = 20;

/** Versions of the tables before this one do not say how runs have ended. */
const FIRST_WITH_ENDS = 3;

/** The facts of a store that can be seen from outside, as `wavetrain store stats --json` prints them. */
export interface StoreStats {
  readonly bytes: number;
  /** Of what is not written into the file yet. */
  readonly wal_bytes: number;
  /** The part of the file that holds nothing, from 0 to 1. */
  readonly free_share: number;
  /** The version of the tables in the file, and the one that this Wavetrain writes. */
  readonly version: number;
  readonly known_version: number;
  /** True when a server has the file open. */
  readonly is_open: boolean;
  /** Number of kept runs, those that have not ended included. */
  readonly runs: number;
  /** Null for a file of an earlier version. */
  readonly by_status: (EndCounts & { readonly at_work: number }) | null;
  /** The tenants with most settled runs; null for a file of an earlier version. */
  readonly tenants: readonly (EndCounts & { readonly tenant_id: string })[] | null;
  readonly oldest: StoredRunFacts | null;
  readonly newest: StoredRunFacts | null;
}

interface StoredRunFacts {
  readonly run_id: string;
  readonly created_at: string;
}

/**
 * Looks into a store (D68, D74), as far as a file of an earlier version lets it. Rejects with `bad_usage` that says what to
 * do: when the package `libsql` or the folder of the file is missing, or it is not a store, or one of a newer version.
 *
 * @param file absolute path
 * @returns undefined when the file is missing
 */
export async function readStoreStats(file: string): Promise<StoreStats | undefined> {
  const bytes = await measureFile(file);
  if (bytes === undefined) return undefined;
  const walBytes = (await measureFile(`${file}-wal`)) ?? 0;
  const look = ({ database, isInUse }: StoreReader): StoreStats => {
    assertOurs(database);
    const pages = readPragma(database, 'page_count');
    return {
      bytes,
      wal_bytes: walBytes,
      free_share: pages === 0 ? 0 : readPragma(database, 'freelist_count') / pages,
      version: readVersion(database),
      known_version: TABLES_VERSION,
      is_open: isInUse,
      ...readRuns(database),
    };
  };
  return inspectStore(file, look, { isShort: true });
}

/** As {@link readStoreStats}, with the files of runs, each of which is looked at. */
export async function readWholeStoreStats(file: string): Promise<(StoreStats & FolderSize) | undefined> {
  await assertNotEmpty(file);
  const stats = await readStoreStats(file);
  return stats && { ...stats, ...(await measureFolder(`${file}.files`)) };
}

type RunFacts = Pick<StoreStats, 'runs' | 'by_status' | 'tenants' | 'oldest' | 'newest'>;

function readRuns(database: Database.Database): RunFacts {
  const version = readVersion(database);
  // A server that was killed when it had just created the file.
  if (version === 0) return { runs: 0, by_status: null, tenants: null, oldest: null, newest: null };
  const ends = { oldest: readEnd(database, 'ASC'), newest: readEnd(database, 'DESC') };
  if (version < FIRST_WITH_ENDS) {
    return { runs: countKept(database), by_status: null, tenants: null, ...ends };
  }
  const sums = selectOne<EndCounts>(
    database,
    'SELECT total(succeeded) AS succeeded, total(failed) AS failed, total(cancelled) AS cancelled FROM usage',
  ) ?? { succeeded: 0, failed: 0, cancelled: 0 };
  const atWork =
    selectOne<{ runs: number }>(
      database,
      'SELECT count(*) AS runs FROM run INDEXED BY run_at_work WHERE state = 0 AND removed = 0',
    )?.runs ?? 0;
  const tenants = selectAll<EndCounts & { tenant_id: string }>(
    database,
    `SELECT tenant AS tenant_id, succeeded, failed, cancelled FROM usage WHERE succeeded + failed + cancelled > 0
     ORDER BY succeeded + failed + cancelled DESC, tenant LIMIT ${MOST_TENANTS}`,
  );
  const runs = atWork + sums.succeeded + sums.failed + sums.cancelled;
  return { runs, by_status: { at_work: atWork, ...sums }, tenants, ...ends };
}

/** Counts the runs of a store of any version that are not deleted. */
export function countKept(database: Database.Database): number {
  if (readVersion(database) === 0) return 0;
  return (
    selectOne<{ runs: number }>(database, 'SELECT count(*) AS runs FROM run WHERE removed = 0')?.runs ?? 0
  );
}

function readEnd(database: Database.Database, order: 'ASC' | 'DESC'): StoredRunFacts | null {
  const row = selectOne<{ id: string; created_at: number }>(
    database,
    `SELECT id, created_at FROM run WHERE removed = 0 ORDER BY number ${order} LIMIT 1`,
  );
  return row === undefined ? null : { run_id: row.id, created_at: toIsoTime(row.created_at) };
}
