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
];

function readVersion(database: Database.Database): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/** @throws Error when another program, or a newer version of this one, has written the file */
export function assertOurs(database: Database.Database): void {
  const version = readVersion(database);
  const names = database.prepare('SELECT name FROM sqlite_master').all() as { name: string }[];
  if (names.length > 0 && !(version > 0 && names.some(({ name }) => name === 'run'))) {
    throw new Error('another program has written it: name another file');
  }
  if (version > MIGRATIONS.length) {
    throw new Error(
      `a newer Wavetrain has written it, with version ${version} of its tables; this one knows ${MIGRATIONS.length}: ` +
        'use the newer one',
    );
  }
}

export function migrate(database: Database.Database): void {
  const version = readVersion(database);
  database.exec('BEGIN IMMEDIATE');
  for (const sql of MIGRATIONS.slice(version)) database.exec(sql);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  database.exec('COMMIT');
}
