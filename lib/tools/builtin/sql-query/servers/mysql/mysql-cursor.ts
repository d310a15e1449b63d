import type { Connection, FieldPacket, Query } from 'mysql2';
import { ToolError } from '../../../../../common/errors.js';
import type { Json } from '../../../../../common/json/json.js';
import type { SqlColumn, SqlCursor, SqlRow } from '../../database.js';
import { SQL_LIMITS } from '../../limits.js';
import { toValue, mysqlTypeName } from './mysql-values.js';

/** One statement of MySQL. The socket is read as the rows are. */
export class MysqlCursor implements SqlCursor {
  changed: number | undefined;
  /** Resolves when the columns are known. */
  readonly opened: Promise<this>;
  readonly #connection: Connection;
  #fields: readonly FieldPacket[] = [];
  #rows: Json[][] = [];
  #isEnded = false;
  #isDiscarding = false;
  #isPaused = false;
  #error: unknown;
  #wake: (() => void) | undefined;
  #refuse: ((error: unknown) => void) | undefined;

  constructor(connection: Connection, query: Query) {
    this.#connection = connection;
    this.opened = new Promise((resolve, reject) => {
      query.on('fields', (fields: FieldPacket[] | undefined, index?: number) => {
        // Further results of a procedure are not read.
        if (index !== undefined && index > 0) this.#isDiscarding = true;
        else if (fields !== undefined) this.#begin(fields);
        resolve(this);
      });
      query.on('result', (row: unknown) => {
        if (Array.isArray(row)) this.#add(row);
        else this.changed = readChanged(row);
        resolve(this);
      });
      this.#refuse = reject;
      query.on('error', (error: unknown) => this.fail(error));
      query.on('end', () => {
        resolve(this);
        this.#end();
      });
    });
  }

  /** Ends the statement: also that of a connection that was lost, which mysql2 need not report to it. */
  fail(error: unknown): void {
    this.#error ??= error;
    this.#refuse?.(error);
    this.#end();
  }

  get columns(): readonly SqlColumn[] {
    return this.#fields.map(({ name, columnType }) => ({ name, type: mysqlTypeName(columnType) }));
  }

  async read(): Promise<readonly SqlRow[] | undefined> {
    while (this.#rows.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#isEnded) return undefined;
      await this.#next();
    }
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  async close(): Promise<void> {
    this.#isDiscarding = true;
    this.#rows = [];
    while (!this.#isEnded) await this.#next();
    if (this.#error !== undefined) throw this.#error;
  }

  #begin(fields: readonly FieldPacket[]): void {
    this.#fields = fields;
    if (fields.length > SQL_LIMITS.columns)
      this.#error ??= ToolError.nonRetryable(`the result has more than ${SQL_LIMITS.columns} columns`);
  }

  #add(row: readonly unknown[]): void {
    if (this.#isDiscarding) return;
    this.#rows.push(row.map((value, index) => toValue(value, this.#fields[index]?.columnType)));
    if (this.#rows.length < SQL_LIMITS.batchRows) return;
    if (this.#wake !== undefined) this.#notify();
    else if (!this.#isPaused) {
      this.#isPaused = true;
      this.#connection.pause();
    }
  }

  #next(): Promise<void> {
    const awake = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    // At once, this hands over rows that had arrived, perhaps the last ones.
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#connection.resume();
    }
    return awake;
  }

  #end(): void {
    this.#isEnded = true;
    this.#notify();
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

function readChanged(header: unknown): number | undefined {
  const count: unknown =
    typeof header === 'object' && header !== null ? Reflect.get(header, 'affectedRows') : undefined;
  return typeof count === 'number' ? count : undefined;
}
