import type Database from 'libsql';
import { countParts } from '../sqlite/thread/packing.js';
import { PARTS_PER_RUN } from '../sqlite/thread/schema.js';
import { inTransaction, prepare, selectAll, selectOne } from '../sqlite/thread/statements.js';
import { sortByTime } from './shell-file.js';

/** Copies the runs of a file that another shell has left, unless an earlier attempt has. */
export function copyRuns(from: Database.Database, to: Database.Database): void {
  inTransaction(to, () => {
    const known = new Set(selectAll<{ readonly id: string }>(to, 'SELECT id FROM run').map(({ id }) => id));
    for (const row of selectAll<Row>(from, 'SELECT * FROM run WHERE removed = 0 ORDER BY number')) {
      if (!known.has(String(row['id']))) copyRun(from, to, row);
    }
    sortByTime(to);
    countUsage(to);
  });
}

type Row = Readonly<Record<string, unknown>>;

function copyRun(from: Database.Database, to: Database.Database, row: Row): void {
  const { number, definition, ...others } = row;
  const added = Number(
    insert(to, 'run', {
      ...others,
      definition: copyDefinition(from, to, definition),
    }),
  );
  for (const table of ['run_text', 'label']) {
    const sql = `SELECT * FROM ${table} WHERE tenant = ? AND number = ?`;
    for (const text of selectAll<Row>(from, sql, row['tenant'], number)) {
      insert(to, table, { ...text, number: added });
    }
  }
  copyParts(from, to, Number(number), added);
  copyPieces(from, to, Number(number), added);
}

interface DefinitionRow {
  readonly hash: ArrayBuffer;
  readonly data: ArrayBuffer;
}

/** Returns the number of the definition in the other file, which may have it already; null when the run has none apart. */
function copyDefinition(from: Database.Database, to: Database.Database, n: unknown): number | bigint | null {
  const row = selectOne<DefinitionRow>(from, 'SELECT hash, data FROM definition WHERE n = ?', n);
  if (row === undefined) return null;
  const [hash, data] = [Buffer.from(row.hash), Buffer.from(row.data)];
  const known = selectOne<{ readonly n: number }>(to, 'SELECT n FROM definition WHERE hash = ?', hash);
  return known?.n ?? insert(to, 'definition', { hash, data });
}

interface PartRow {
  readonly items: string | null;
  readonly data: ArrayBuffer;
}

/** Copies what was packed of a run. Each part may be large. */
function copyParts(from: Database.Database, to: Database.Database, number: number, added: number): void {
  const sql = 'SELECT items, data FROM packed WHERE n = ?';
  for (let part = 0, parts = countParts(from, number); part < parts; part++) {
    const row = selectOne<PartRow>(from, sql, number * PARTS_PER_RUN + part);
    if (row === undefined) continue;
    const { items, data } = row;
    insert(to, 'packed', { n: added * PARTS_PER_RUN + part, items, data: Buffer.from(data) });
  }
}

function copyPieces(from: Database.Database, to: Database.Database, number: number, added: number): void {
  const sql = 'SELECT * FROM piece WHERE run = ? AND n > ? ORDER BY n LIMIT 100';
  for (let n = 0, pieces: readonly Row[] = []; ; n = Number(pieces.at(-1)?.['n'])) {
    pieces = selectAll<Row>(from, sql, number, n);
    if (pieces.length === 0) return;
    for (const { n: _, ...piece } of pieces) insert(to, 'piece', { ...piece, run: added });
  }
}

/** Returns the number of the row. */
function insert(database: Database.Database, table: string, row: Row): number | bigint {
  const names = Object.keys(row);
  const marks = names.map(() => '?').join(', ');
  const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`;
  return prepare(database, sql).run(...Object.values(row)).lastInsertRowid;
}

/** Counts the settled runs anew. */
function countUsage(database: Database.Database): void {
  database.exec(`DELETE FROM usage;
    INSERT INTO usage (tenant, succeeded, failed, cancelled, bytes, artifact_bytes, hours)
    SELECT tenant, sum(state = 2), sum(state = 3), sum(state = 4), total(bytes) FILTER (WHERE removed = 0), total(artifact_bytes), 0
    FROM run WHERE tenant IS NOT NULL GROUP BY tenant;`);
}

/** Deletes all rows of a file whose runs were copied. */
export function empty(database: Database.Database): void {
  const tables = [
    'piece',
    'packed',
    'definition',
    'run_text',
    'label',
    'usage',
    'stat_hour',
    'run_quota',
    'run',
  ];
  inTransaction(database, () => {
    for (const table of tables) prepare(database, `DELETE FROM ${table}`).run();
  });
}
