import { createRequire } from 'node:module';
import type Database from 'libsql';
import { addToHours } from '../../../lib/runs/store/statistics/hour-rows.js';
import type { CountedRun } from '../../../lib/runs/store/statistics/run-counter.js';

const Driver = createRequire(import.meta.url)('libsql') as typeof Database;

/** So many runs are written with one commit. */
const RUNS_PER_COMMIT = 20_000;

export const TENANTS = 10;
export const PIPELINES = 20;

const DAY_MS = 86_400_000;

/** A name of which each run has one of 10,000, to be searched for. */
export function customerOf(number: number): string {
  return `customer ${(number * 7919) % 10_000}`;
}

/**
 * Copies the settled run with the number 1 of a closed file until there are `count`, over 30 days, of ten tenants of which one
 * has half, and twenty pipelines each; 88 % have succeeded, 9 % failed, 3 % were cancelled.
 */
export function fill(file: string, count: number): void {
  const database = new Driver(file);
  try {
    database.exec('PRAGMA synchronous = OFF');
    database.exec('PRAGMA cache_size = -200000');
    const [columns] = database
      .prepare("SELECT group_concat(name, ', ') AS names FROM pragma_table_info('run')")
      .all() as {
      names: string;
    }[];
    const names = (columns?.names ?? '').split(', ');
    const now = Date.now();
    const made: Readonly<Record<string, string>> = {
      number: 'n',
      id: "printf('%08x-%04x-7000-8000-%012x', n / 65536, n % 65536, n * 2654435761 % 281474976710656)",
      created_at: `${now - 30 * DAY_MS} + n * ${30 * DAY_MS} / ${count}`,
      begun_at: `${now - 30 * DAY_MS} + n * ${30 * DAY_MS} / ${count} + 1`,
      finished_at: `${now - 30 * DAY_MS} + n * ${30 * DAY_MS} / ${count} + 5 + n % 400`,
      tenant: `'tenant-' || CASE WHEN n % 2 = 0 THEN 0 ELSE 1 + n * 31 % ${TENANTS - 1} END`,
      pipeline: `'pipeline-' || (n / 7 % ${PIPELINES})`,
      goal: "'Send the invoices of customer ' || (n * 7919 % 10000)",
      state: 'CASE WHEN n * 13 % 100 < 88 THEN 2 WHEN n * 13 % 100 < 97 THEN 3 ELSE 4 END',
      error: "CASE WHEN n * 13 % 100 BETWEEN 88 AND 96 THEN 'no luck' END",
      starter: "CASE WHEN n % 3 = 0 THEN 'key' ELSE 'schedule' END",
      starter_name: "CASE WHEN n % 3 = 0 THEN 'ci-' || (n % 50) ELSE 'pipeline-' || (n / 7 % 20) END",
    };
    const run = `INSERT INTO run (${names.join(', ')})
      WITH RECURSIVE copies (n) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT n + 1 FROM copies WHERE n < ?2)
      SELECT ${names.map((name) => made[name] ?? `run.${name}`).join(', ')} FROM copies, run WHERE run.number = 1`;
    const others = [
      `INSERT INTO packed (n, data)
       WITH RECURSIVE copies (n) AS (SELECT CAST(?1 AS INTEGER) UNION ALL SELECT n + 1 FROM copies WHERE n < ?2)
       SELECT copies.n * 1048576, packed.data FROM copies, packed WHERE packed.n = 1048576`,
      `INSERT INTO run_text (tenant, number, text)
       SELECT tenant, number, lower(pipeline || char(10) || goal || char(10) || coalesce(error, '')) FROM run
       WHERE number BETWEEN ?1 AND ?2`,
    ];
    for (let from = 2; from <= count; from += RUNS_PER_COMMIT) {
      const to = Math.min(count, from + RUNS_PER_COMMIT - 1);
      database.exec('BEGIN IMMEDIATE');
      for (const sql of [run, ...others]) database.prepare(sql).run(from, to);
      const counted = `SELECT tenant AS tenantId, pipeline AS pipelineId, finished_at AS finishedAt, finished_at - begun_at AS durationMs,
        CASE state WHEN 2 THEN 'succeeded' WHEN 3 THEN 'failed' ELSE 'cancelled' END AS status
        FROM run WHERE number BETWEEN ? AND ?`;
      addToHours(database, database.prepare(counted).all(from, to) as CountedRun[]);
      database.exec('COMMIT');
    }
    database.exec('DELETE FROM usage');
    database.exec(
      `INSERT INTO usage (tenant, succeeded, failed, cancelled, bytes)
       SELECT tenant, sum(state = 2), sum(state = 3), sum(state = 4), sum(bytes) FROM run WHERE state > 0 GROUP BY tenant`,
    );
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}

/** Returns true when some settled runs of a closed file are still to be packed. */
export function hasUnpacked(file: string): boolean {
  const database = new Driver(file);
  try {
    return database.prepare('SELECT 1 FROM run WHERE state > 0 AND is_packed = 0 LIMIT 1').all().length > 0;
  } finally {
    database.close();
  }
}
