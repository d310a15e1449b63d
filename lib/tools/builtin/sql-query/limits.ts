/** The limits of `sql_query` (D92). */
export const SQL_LIMITS = {
  /** Characters of one statement; statements of one task; placeholders of one statement. */
  statementLength: 256 * 1024,
  statements: 100,
  parameters: 1000,
  /** Rows that a task gets as values, unless it says otherwise, and at most. */
  defaultRows: 1000,
  rows: 100_000,
  /** Length of these rows as JSON, in characters, about. */
  valuesLength: 8 * 2 ** 20,
  /** Size of one row as the database sends it. */
  rowBytes: 16 * 2 ** 20,
  columns: 2000,
  /** Rows that are asked for at once. */
  batchRows: 1000,
  /** Tasks that are at work in databases at once, and one more of each tenant that has none, up to twice as many. */
  atOnce: 32,
  /** Of these, tasks with a process of their own, which may take half a gigabyte of memory. */
  processesAtOnce: 4,
  /** Connections that wait for the next task, processes that do, and how long. */
  idleSessions: 32,
  idleProcesses: 4,
  idleMs: 30_000,
  connectMs: 10_000,
  /** Time to end a statement in the database, before its connection is closed. */
  cancelMs: 5000,
  /** Memory of the process that reads one SQLite or DuckDB file, and the part of it that DuckDB uses for data. */
  processMiB: 512,
  duckdbMiB: 256,
  /** Size up to which a SQLite file may grow. */
  sqliteBytes: 2 ** 30,
  /** Files that one task of DuckDB reads. */
  files: 1000,
} as const;
