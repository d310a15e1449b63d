import type Database from 'libsql';
import { errorMessage } from '../../../common/errors.js';
import { formatCount } from '../../../common/text.js';
import { hasLock } from '../sqlite/thread/connection.js';
import {
  assertOurs,
  FIRST_WITH_BYTES,
  PARTS_PER_RUN,
  readVersion,
  TABLES_VERSION,
} from '../sqlite/thread/schema.js';
import { selectAll, selectOne } from '../sqlite/thread/statements.js';
import { countKept } from './store-stats.js';
import { assertNotEmpty, cannotOpenStore, inspectStore, isNoDatabase } from './store-file.js';

/** So many problems that SQLite finds are listed. */
const MOST_PROBLEMS = 20;

/** The findings of a check, as `wavetrain store check --json` prints it. */
export interface StoreCheck {
  readonly ok: boolean;
  /** In words; empty when the store is sound. */
  readonly problems: readonly string[];
  /** Number of runs that were looked at. */
  readonly runs: number;
  readonly version: number;
  readonly known_version: number;
}

/** A rule that the rows of a sound store keep. */
interface StoreRule {
  /** The first version of the tables that has what the rule is about. */
  readonly since: number;
  /** A statement with one row and one column, `n`: how many break the rule. */
  readonly sql: string;
  readonly describe: (n: number) => string;
}

const RULES: readonly StoreRule[] = [
  {
    since: 3,
    sql: `SELECT count(*) AS n FROM run
          WHERE state > 0 AND NOT EXISTS (SELECT 1 FROM piece WHERE piece.run = run.number)
            AND NOT EXISTS (SELECT 1 FROM packed WHERE n >= run.number * ${PARTS_PER_RUN} AND n < (run.number + 1) * ${PARTS_PER_RUN})`,
    describe: (n) => `${formatCount(n, 'settled run')} without the facts that it was kept with`,
  },
  {
    since: 3,
    sql: `SELECT count(*) AS n FROM run WHERE state > 0
          AND NOT EXISTS (SELECT 1 FROM run_text WHERE run_text.tenant = run.tenant AND run_text.number = run.number)`,
    describe: (n) => `${formatCount(n, 'settled run')} that no search finds`,
  },
  {
    since: 3,
    sql: `SELECT count(*) AS n FROM run WHERE definition IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM definition WHERE definition.n = run.definition)`,
    describe: (n) => `${formatCount(n, 'run')} without a definition`,
  },
  {
    since: 3,
    sql: `SELECT count(*) AS n FROM packed WHERE n / ${PARTS_PER_RUN} NOT IN (SELECT number FROM run)`,
    describe: (n) => `${formatCount(n, 'part')} of runs that are not there`,
  },
  {
    since: 1,
    sql: 'SELECT count(*) AS n FROM piece WHERE run NOT IN (SELECT number FROM run)',
    describe: (n) => `${formatCount(n, 'piece')} of runs that are not there`,
  },
  {
    since: 3,
    // One statement, so that both are of the same moment.
    sql: `SELECT count(*) AS n FROM (
            SELECT tenant, sum(succeeded) AS succeeded, sum(failed) AS failed, sum(cancelled) AS cancelled FROM (
              SELECT tenant, succeeded, failed, cancelled FROM usage
              UNION ALL
              SELECT tenant, -(state = 2), -(state = 3), -(state = 4) FROM run INDEXED BY run_by_state WHERE state > 0
            ) GROUP BY tenant
          ) WHERE succeeded <> 0 OR failed <> 0 OR cancelled <> 0`,
    describe: (n) => `${formatCount(n, 'tenant')} whose number of runs is not that of its rows`,
  },
  {
    since: FIRST_WITH_BYTES,
    sql: `SELECT count(*) AS n FROM (
            SELECT tenant, sum(bytes) AS bytes, sum(artifact_bytes) AS artifact_bytes FROM (
              SELECT tenant, bytes, artifact_bytes FROM usage
              UNION ALL
              SELECT tenant, -(removed = 0) * coalesce(bytes, 0), -coalesce(artifact_bytes, 0) FROM run WHERE tenant IS NOT NULL
            ) GROUP BY tenant
          ) WHERE bytes <> 0 OR artifact_bytes <> 0`,
    describe: (n) =>
      `${formatCount(n, 'tenant')} whose number of bytes is not that of ${n === 1 ? 'its' : 'their'} runs`,
  },
  {
    since: FIRST_WITH_BYTES,
    sql: `SELECT count(*) AS n FROM usage
          WHERE hours <> (SELECT count(*) FROM stat_hour WHERE stat_hour.tenant = usage.tenant)`,
    describe: (n) => `${formatCount(n, 'tenant')} whose number of hours is not that of its statistics`,
  },
];

/**
 * Checks a store (D74): the file, with SQLite, and the rules that its rows keep. Damage is found and not thrown. Rejects with
 * `bad_usage` when there is no store of this version or an earlier one.
 *
 * @param file absolute path
 * @param isQuick leaves out whether each index has each row, which takes most of the time
 */
export async function checkStore(file: string, isQuick: boolean): Promise<StoreCheck> {
  const damaged = (problem: string): StoreCheck => ({
    ok: false,
    problems: [problem],
    runs: 0,
    version: 0,
    known_version: TABLES_VERSION,
  });
  const found: string[] = [];
  // A server has had a file that has a lock beside it: it was a store.
  const wasStore = hasLock(file);
  if (!wasStore) await assertNotEmpty(file);
  try {
    return await inspectStore(file, ({ database }) => check(database, isQuick, found), {
      explain: (_, error) => {
        throw error;
      },
    });
  } catch (error) {
    if (!isDamage(error, wasStore)) throw await toUsageError(file, error);
    return found.length > 0 ? { ...damaged(''), problems: found } : damaged(errorMessage(error));
  }
}

async function toUsageError(file: string, error: unknown): Promise<unknown> {
  return error instanceof Error && error.name === 'WavetrainError' ? error : cannotOpenStore(file, error);
}

const DAMAGE = /malformed|corrupt/i;

function isDamage(error: unknown, wasStore: boolean): boolean {
  return DAMAGE.test(errorMessage(error)) || (wasStore && isNoDatabase(error));
}

/** @param found receives the problems: a damaged file may end the check */
function check(database: Database.Database, isQuick: boolean, found: string[]): StoreCheck {
  assertOurs(database);
  const version = readVersion(database);
  if (version === 0) found.push('the file is empty');
  const pragma = isQuick ? 'quick_check' : 'integrity_check';
  for (const row of selectAll<object>(database, `PRAGMA ${pragma}(${MOST_PROBLEMS})`)) {
    const said = String(Object.values(row)[0]);
    if (said !== 'ok') found.push(...said.split('\n').slice(0, MOST_PROBLEMS));
  }
  for (const { since, sql, describe } of RULES) {
    if (version < since) continue;
    const broken = selectOne<{ n: number }>(database, sql)?.n ?? 0;
    if (broken > 0) found.push(describe(broken));
  }
  const runs = countKept(database);
  return { ok: found.length === 0, problems: found, runs, version, known_version: TABLES_VERSION };
}
