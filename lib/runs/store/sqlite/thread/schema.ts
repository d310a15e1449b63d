import type Database from 'libsql';

/** The statements that each version of the file adds to those of the one before. A file is never changed back. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE run (
     number INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL,
     -- 1 when it is only to be deleted, which takes time.
     removed INTEGER NOT NULL DEFAULT 0
   );
   CREATE INDEX run_removed ON run (removed) WHERE removed = 1;
   -- What is committed together stands together: one commit of many runs changes few pages.
   CREATE TABLE piece (
     n INTEGER PRIMARY KEY,
     run INTEGER NOT NULL,
     goes_on INTEGER NOT NULL,
     text TEXT NOT NULL
   );
   CREATE INDEX piece_of_run ON piece (run);
   CREATE TABLE forgotten_key (
     tenant TEXT NOT NULL,
     key TEXT NOT NULL,
     fingerprint TEXT NOT NULL,
     run_id TEXT NOT NULL,
     status TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     PRIMARY KEY (tenant, key)
   ) WITHOUT ROWID;`,
  // A start needs these before it reads submissions. Null in rows that version 1 has written, until
  // they are read.
  `ALTER TABLE run ADD COLUMN tenant TEXT;
   -- JSON; null without a key.
   ALTER TABLE run ADD COLUMN idempotency TEXT;`,
  // Lists read settled runs from their rows (D74). A run of an earlier version is at work until a start has rebuilt it.
  `ALTER TABLE run ADD COLUMN rerun_of TEXT;
   -- 0: at work, or its end is not kept yet; 2: succeeded; 3: failed; 4: cancelled.
   ALTER TABLE run ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE run ADD COLUMN kind TEXT;
   ALTER TABLE run ADD COLUMN pipeline TEXT;
   ALTER TABLE run ADD COLUMN goal TEXT;
   ALTER TABLE run ADD COLUMN error TEXT;
   -- JSON.
   ALTER TABLE run ADD COLUMN failed_task TEXT;
   ALTER TABLE run ADD COLUMN begun_at INTEGER;
   ALTER TABLE run ADD COLUMN finished_at INTEGER;
   -- JSON: a list of numbers.
   ALTER TABLE run ADD COLUMN progress TEXT;
   ALTER TABLE run ADD COLUMN trigger TEXT;
   ALTER TABLE run ADD COLUMN starter TEXT;
   ALTER TABLE run ADD COLUMN starter_name TEXT;
   ALTER TABLE run ADD COLUMN artifacts INTEGER;
   ALTER TABLE run ADD COLUMN cost REAL;
   -- Version 3: of its packed parts.
   ALTER TABLE run ADD COLUMN bytes INTEGER;
   ALTER TABLE run ADD COLUMN definition INTEGER;
   ALTER TABLE run ADD COLUMN is_packed INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX run_unpacked ON run (number) WHERE state > 0 AND is_packed = 0;
   CREATE INDEX run_by_definition ON run (definition) WHERE definition IS NOT NULL;
   -- What many runs were submitted with, once: the SHA-256 of its text, and the text.
   CREATE TABLE definition (n INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
   -- What is kept of settled runs: the number of the run times 2^20, and the number of the part.
   CREATE TABLE packed (n INTEGER PRIMARY KEY, data BLOB NOT NULL);
   CREATE INDEX run_at_work ON run (number) WHERE state = 0 AND removed = 0;
   CREATE INDEX run_by_state ON run (tenant, state, number) WHERE state > 0;
   CREATE INDEX run_by_pipeline ON run (tenant, pipeline, state, number) WHERE state > 0;
   CREATE INDEX run_by_starter ON run (tenant, starter, starter_name, number) WHERE state > 0;
   -- People name a run by the end of its id.
   CREATE INDEX run_by_tail ON run (substr(id, -4)) WHERE state > 0;
   CREATE INDEX run_rerun ON run (rerun_of) WHERE rerun_of IS NOT NULL;
   CREATE INDEX run_without_users ON run (removed) WHERE removed = 3;
   CREATE INDEX run_key ON run (tenant, idempotency ->> '$.key') WHERE idempotency IS NOT NULL;
   -- In small letters: the id of the pipeline, the goal, the error and the labels.
   CREATE TABLE run_text (
     tenant TEXT NOT NULL,
     number INTEGER NOT NULL,
     text TEXT NOT NULL,
     PRIMARY KEY (tenant, number)
   ) WITHOUT ROWID;
   -- The settled runs of a tenant: metrics and retention count none of them.
   CREATE TABLE usage (
     tenant TEXT PRIMARY KEY,
     succeeded INTEGER NOT NULL,
     failed INTEGER NOT NULL,
     cancelled INTEGER NOT NULL,
     bytes INTEGER NOT NULL
   ) WITHOUT ROWID;
   -- The runs of a pipeline that have settled in an hour since 1970, UTC, also those that were deleted.
   CREATE TABLE stat_hour (
     tenant TEXT NOT NULL,
     pipeline TEXT NOT NULL,
     hour INTEGER NOT NULL,
     succeeded INTEGER NOT NULL,
     failed INTEGER NOT NULL,
     cancelled INTEGER NOT NULL,
     cost REAL,
     -- Of the durations of those that have started.
     sketch BLOB NOT NULL,
     PRIMARY KEY (tenant, pipeline, hour)
   ) WITHOUT ROWID;
   CREATE INDEX stat_hour_by_age ON stat_hour (hour);
   -- JSON; null without labels (D76).
   ALTER TABLE run ADD COLUMN labels TEXT;
   -- Of settled runs, as in team:billing.
   CREATE TABLE label (
     tenant TEXT NOT NULL,
     label TEXT NOT NULL,
     state INTEGER NOT NULL,
     number INTEGER NOT NULL,
     PRIMARY KEY (tenant, label, state, number)
   ) WITHOUT ROWID;
   -- The definition of the run says when; null: the age that the server allows decides.
   ALTER TABLE run ADD COLUMN expires_at INTEGER;
   CREATE INDEX run_finished ON run (finished_at) WHERE state > 0 AND expires_at IS NULL;
   CREATE INDEX run_expiring ON run (expires_at) WHERE state > 0 AND expires_at IS NOT NULL;
   -- How many settled runs of a pipeline are kept at most, as its newest run has said.
   CREATE TABLE run_quota (
     tenant TEXT NOT NULL,
     pipeline TEXT NOT NULL,
     most INTEGER NOT NULL,
     -- Null until they are counted.
     settled INTEGER,
     -- The number of the run.
     said_by INTEGER NOT NULL,
     PRIMARY KEY (tenant, pipeline)
   ) WITHOUT ROWID;
   CREATE INDEX run_quota_due ON run_quota (tenant, pipeline) WHERE settled IS NULL OR settled > most;
   -- Unless the submission is in several pieces.
   UPDATE run SET rerun_of = (
     SELECT CASE goes_on WHEN 0 THEN text ->> '$.rerun.run_id' END FROM piece WHERE piece.run = run.number ORDER BY n LIMIT 1
   );`,
  // Ids begin with a time: runs of all tenants have the same beginnings.
  `CREATE INDEX run_by_id ON run (tenant, id, state) WHERE state > 0;
   -- JSON, as in {"place task": [0, 99]}, when the part is about nothing but these items, from the first to the last.
   ALTER TABLE packed ADD COLUMN items TEXT;`,
  // The bytes of a run are those of its row and of all that is kept of it, also while it is at work (D74). The sums of runs
  // that are there are made beside the work: a start would wait for a walk through all of them.
  `ALTER TABLE run ADD COLUMN artifact_bytes INTEGER;
   ALTER TABLE usage ADD COLUMN artifact_bytes INTEGER NOT NULL DEFAULT 0;
   -- Of stat_hour; null until they are counted.
   ALTER TABLE usage ADD COLUMN hours INTEGER;
   -- One row while runs up to this number are to be counted.
   CREATE TABLE uncounted (number INTEGER NOT NULL);
   INSERT INTO uncounted SELECT coalesce(max(number), 0) FROM run
   HAVING max(number) IS NOT NULL OR EXISTS (SELECT 1 FROM usage);`,
  // Null in rows of earlier versions (D81).
  `ALTER TABLE run ADD COLUMN error_code TEXT;`,
  // A start needs it before it reads submissions (D81).
  `ALTER TABLE run ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;`,
  // The numbers of entries have their times (D95). The tenant is empty for entries of none.
  `CREATE TABLE audit (
     number INTEGER PRIMARY KEY,
     tenant TEXT NOT NULL,
     -- starts, changes or refusals.
     part TEXT NOT NULL,
     -- JSON.
     entry TEXT NOT NULL
   );
   CREATE INDEX audit_of_part ON audit (tenant, part, number);
   CREATE TABLE audit_usage (
     tenant TEXT PRIMARY KEY,
     starts INTEGER NOT NULL,
     changes INTEGER NOT NULL,
     refusals INTEGER NOT NULL
   ) WITHOUT ROWID;
   CREATE INDEX audit_largest ON audit_usage (starts + changes + refusals);`,
];

/** A run has so many parts at most; its parts follow each other in the table `packed`, so that they need no index. */
export const PARTS_PER_RUN = 2 ** 20;

/** The version of the tables that this code writes. */
export const TABLES_VERSION = MIGRATIONS.length;

/** The first version whose tables have the bytes of each tenant. */
export const FIRST_WITH_BYTES = MIGRATIONS.findIndex((sql) => sql.includes('CREATE TABLE uncounted')) + 1;

export function readVersion(database: Database.Database): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** @throws Error when another program, or a newer version of this one, has written the file */
export function assertOurs(database: Database.Database): void {
  assertStore(database);
  const version = readVersion(database);
  if (version > MIGRATIONS.length) {
    throw new Error(
      `a newer Wavetrain has written it, with version ${version} of its tables; this one knows ${MIGRATIONS.length}: ` +
        'use the newer one',
    );
  }
}

/** True for a file of an earlier version. */
export function isOutdated(database: Database.Database): boolean {
  return readVersion(database) < MIGRATIONS.length;
}

/** @throws Error when another program has written the file; any version of this one may have */
export function assertStore(database: Database.Database): void {
  const version = readVersion(database);
  const names = database.prepare('SELECT name FROM sqlite_master').all() as { name: string }[];
  if (names.length > 0 && !(version > 0 && names.some(({ name }) => name === 'run'))) {
    throw new Error('another program has written it: name another file');
  }
}

export function migrate(database: Database.Database): void {
  const version = readVersion(database);
  if (version === MIGRATIONS.length) return;
  database.exec('BEGIN IMMEDIATE');
  for (const sql of MIGRATIONS.slice(version)) database.exec(sql);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  database.exec('COMMIT');
}
