import type { Json } from '../../../../common/json/json.js';
import type { SqlColumn } from '../database.js';

/** A table of DuckDB, with the files that it reads, whose real paths were checked. */
export interface FileTable {
  readonly name: string;
  readonly paths: readonly string[];
  readonly reader: 'read_csv' | 'read_parquet' | 'read_json_auto';
}

/** Asks a process to open one file of one database. */
export interface OpenRequest {
  readonly kind: 'open';
  readonly engine: 'sqlite' | 'duckdb';
  /** The real path; undefined for a database in memory. */
  readonly path: string | undefined;
  readonly readOnly: boolean;
  readonly tables: readonly FileTable[];
}

/** A message to the process that has a file of a database open. */
export type LocalRequest =
  | OpenRequest
  | {
      readonly kind: 'run';
      readonly text: string;
      readonly values: readonly Json[];
      /** 0 for all. */
      readonly rowLimit: number;
    }
  | { readonly kind: 'next' }
  | { readonly kind: 'control'; readonly verb: 'begin' | 'commit' };

/** The rows that were read, as JSON of a list of lists; undefined after the last one. */
export interface RowsResponse {
  readonly ok: true;
  readonly rows?: readonly string[] | undefined;
  readonly changed?: number | undefined;
}

export type LocalResponse =
  | { readonly ok: true; readonly columns?: readonly SqlColumn[] | undefined }
  | RowsResponse
  | { readonly ok: false; readonly error: string; readonly isPassing: boolean };

/** A database in a process of its own, which is ended with what it does. */
export interface LocalEngine {
  /** Begins a statement, and returns its columns. */
  run(
    text: string,
    values: readonly Json[],
    rowLimit: number,
  ): Promise<readonly SqlColumn[]> | readonly SqlColumn[];
  /** Returns some rows; none after the last one. */
  next(): Promise<readonly (readonly Json[])[]> | readonly (readonly Json[])[];
  /** Rows that the statement has changed; undefined when it has changed none. */
  readonly changed: number | undefined;
  control(verb: 'begin' | 'commit'): Promise<void> | void;
  close(): void;
  /** Returns true for an error after which another attempt may succeed. */
  isPassing(error: unknown): boolean;
}
