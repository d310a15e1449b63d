import type { Json, JsonObject } from '../../../common/json/json.js';
import type { ToolContext } from '../../tool.js';
import type { BoundStatement } from './statement.js';
import type { Dialect } from './tokens.js';

/** A column of a result, with its type as the database calls it. */
export interface SqlColumn {
  readonly name: string;
  readonly type: string;
}

/** The values of a row, in the order of the columns, as JSON keeps them without loss. */
export type SqlRow = readonly Json[];

/** Writes an integer as a number as long as JSON keeps all of its digits, and as its text beyond. */
export function toJsonInteger(integer: bigint | string): number | string {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : String(integer);
}

/** The rows of one statement. The database makes no more of them than are read, and a few more. */
export interface SqlCursor {
  readonly columns: readonly SqlColumn[];
  /** Resolves with undefined after the last row, or the last one of the limit. */
  read(): Promise<readonly SqlRow[] | undefined>;
  /** The rows that `readCsv` has returned; undefined for a cursor that makes no CSV itself, and whose rows are to be read. */
  readonly csvRowCount?: number | undefined;
  /** Resolves with the next lines, which are valid up to the next call; with undefined after the last ones. */
  readCsv?(): Promise<Uint8Array | undefined>;
  /** After the last row: how many the statement has changed; undefined when it changes none. */
  readonly changed: number | undefined;
  /** Ends the statement before its last row, so that the next one can be run. */
  close(): Promise<void>;
}

/** A connection to a database, which one task uses at a time. */
export interface SqlSession {
  /** False when no other task may use it. */
  readonly isUsable: boolean;
  /**
   * Runs a statement.
   *
   * @param rowLimit after which no more rows are needed; 0 for all
   * @param wantsCsv lets the cursor make lines of CSV itself
   */
  open(statement: BoundStatement, rowLimit: number, wantsCsv?: boolean): Promise<SqlCursor>;
  /** Makes what `open`, `control` and a cursor have rejected with a ToolError. */
  describe(error: unknown): unknown;
  /** Runs `begin` or `commit`: a session whose transaction has failed is closed. */
  control(verb: 'begin' | 'commit'): Promise<void>;
  /** Ends what the database does for the session, which cannot be used again. Resolves when the request was sent. */
  cancel(): Promise<void>;
  /** Makes the session as new, for another task of the tenant. @param isUntouched the statements have left nothing in it */
  reset(isUntouched: boolean): Promise<void>;
  /** Lets the process end while no task uses the session; with true, keeps it. */
  keepAlive(isUsed: boolean): void;
  close(): void;
}

/** A database, and the rights that a task needs there. */
export interface SqlRequest {
  readonly url: string;
  /** The statements seem to read, or the task says so: the database refuses writes. */
  readonly readOnly: boolean;
  /** Names of views of DuckDB, with the files that they read. */
  readonly files: JsonObject;
}

/** A kind of database. */
export interface SqlDatabase {
  readonly dialect: Dialect;
  /** Checks statements that the database itself would not refuse. @throws ToolError, not retryable */
  check(statements: readonly BoundStatement[]): void;
  /** Sessions with equal keys are alike. Rejects with a ToolError for a request that no session can serve. */
  prepare(request: SqlRequest, context: ToolContext): Promise<SqlTarget>;
}

/** A database that was found, before it is connected to. */
export interface SqlTarget {
  readonly key: string;
  /** True when a session is a process of this machine. */
  readonly isLocal: boolean;
  connect(context: ToolContext): Promise<SqlSession>;
}
