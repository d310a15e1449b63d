import type Database from 'libsql';

/** Lists have as many statements as there are combinations of filters. */
const MAX_STATEMENTS = 500;

const prepared = new WeakMap<Database.Database, Map<string, Database.Statement>>();

/** Prepares a statement once for each connection: most are needed again and again. */
export function prepare(database: Database.Database, sql: string): Database.Statement {
  let statements = prepared.get(database);
  if (statements === undefined) prepared.set(database, (statements = new Map()));
  const known = statements.get(sql);
  if (known !== undefined) return known;
  if (statements.size >= MAX_STATEMENTS) statements.clear();
  const statement = database.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

/** Returns the first row, as `get` of the driver, which adds a field of its own to it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a row has the columns that the text names
export function selectOne<R>(database: Database.Database, sql: string, ...values: unknown[]): R | undefined {
  return prepare(database, sql).all(values)[0] as R | undefined;
}

/** Reads all rows at once: rows that are asked for one by one are read a hundred at a time anyway. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a row has the columns that the text names
export function selectAll<R>(database: Database.Database, sql: string, ...values: unknown[]): readonly R[] {
  // In a list: the driver takes a buffer that comes alone for an object with names.
  return prepare(database, sql).all(values) as R[];
}

export function inTransaction(database: Database.Database, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Reads everything as it is at one time, while another connection may write. */
export function inSnapshot<T>(database: Database.Database, read: () => T): T {
  if (database.inTransaction) return read();
  database.exec('BEGIN');
  try {
    return read();
  } finally {
    database.exec('COMMIT');
  }
}
