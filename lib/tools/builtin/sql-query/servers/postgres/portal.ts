import type { Connection, Submittable } from 'pg';
import { ToolError } from '../../../../../common/errors.js';
import type { Json } from '../../../../../common/json/json.js';
import type { SqlColumn } from '../../database.js';
import { SQL_LIMITS } from '../../limits.js';
import type { BoundStatement } from '../../statement.js';
import { cellKindsOf, convertersOf, type PgField, pgTypeName, toPgParameter } from './values.js';
import type { SqlCursor, SqlRow } from '../../database.js';
import { CsvEncoder } from './csv-encoder.js';
import { RowMessages } from './row-messages.js';

/** Bytes of rows that have arrived and that nobody has read: then the socket is not read any more. */
const BATCH_BYTES = 2 ** 20;

/** Pieces of a file that nobody has written. */
const WAITING_PIECES = 2;

/**
 * One statement in the extended protocol of PostgreSQL. Rows are taken from the socket as they are read: the database waits
 * when nobody reads on.
 */
export class Portal implements Submittable, SqlCursor {
  changed: number | undefined;
  /** Resolves when the columns are known. */
  readonly opened: Promise<this>;
  readonly #statement: BoundStatement;
  readonly #rowLimit: number;
  readonly #wantsCsv: boolean;
  /** Undefined unless rows become lines of a file without being values before. */
  #encoder: CsvEncoder | undefined;
  #lastPiece: Buffer | undefined;
  #connection: Connection | undefined;
  #columns: readonly SqlColumn[] = [];
  #convert: ReturnType<typeof convertersOf> = [];
  /** As texts, which become values when they are read. */
  #rows: Json[][] = [];
  #bytes = 0;
  #isPaused = false;
  #isEnded = false;
  #isDiscarding = false;
  /** True when the database awaits the next statement. */
  #isReady = false;
  #error: unknown;
  #onOpened: (() => void) | undefined;
  #onFailed: ((error: unknown) => void) | undefined;
  #wake: (() => void) | undefined;
  #onReady: (() => void) | undefined;

  /**
   * @param rowLimit after which the database makes no more rows; 0 for no limit
   * @param wantsCsv makes lines of CSV, if the types of the columns allow that
   */
  constructor(statement: BoundStatement, rowLimit: number, wantsCsv: boolean) {
    this.#statement = statement;
    this.#rowLimit = rowLimit;
    this.#wantsCsv = wantsCsv;
    this.opened = new Promise((resolve, reject) => {
      this.#onOpened = () => resolve(this);
      this.#onFailed = reject;
    });
  }

  get columns(): readonly SqlColumn[] {
    return this.#columns;
  }

  // Called by pg when the connection is free.
  submit(connection: Connection): void {
    this.#connection = connection;
    const { text, values } = this.#statement;
    if (this.#wantsCsv)
      new RowMessages(
        connection.stream,
        SQL_LIMITS.rowBytes,
        (...message) => this.#addMessage(...message),
        () => this.#onChunk(),
      ).begin();
    // One write for all messages: each would take as long as the rest of a short statement.
    connection.stream.cork();
    connection.parse({ name: '', text, types: [] }, true);
    connection.bind({ portal: '', statement: '', binary: '', values: values.map(toPgParameter) }, true);
    connection.describe({ type: 'P', name: '' }, true);
    connection.execute({ portal: '', rows: String(this.#rowLimit) }, true);
    // The portal ends with the rows of the limit, so that one round trip is enough.
    connection.sync();
    connection.stream.uncork();
  }

  get csvRowCount(): number | undefined {
    return this.#encoder?.rowCount;
  }

  async readCsv(): Promise<Uint8Array | undefined> {
    const encoder = this.#encoder;
    if (encoder === undefined) return undefined;
    if (this.#lastPiece !== undefined) encoder.release(this.#lastPiece);
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      const piece = encoder.take(this.#isEnded);
      this.#lastPiece = piece;
      if (piece !== undefined || this.#isEnded) return piece;
      this.#resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #addMessage(bytes: Buffer, start: number, end: number): void {
    if (this.#isDiscarding) return;
    if (this.#encoder === undefined)
      this.handleDataRow({ fields: readFields(bytes, start, end), length: end - start });
    else this.#encoder.add(bytes, start, end);
  }

  #onChunk(): void {
    const { waiting = 0 } = this.#encoder ?? {};
    if (waiting > 0) this.#notify();
    if (waiting >= WAITING_PIECES) this.#pause();
  }

  async read(): Promise<readonly SqlRow[] | undefined> {
    while (this.#rows.length === 0) {
      if (this.#error !== undefined) throw this.#error;
      if (this.#isEnded) return undefined;
      this.#resume();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const rows = this.#rows;
    this.#rows = [];
    this.#bytes = 0;
    this.#resume();
    for (const row of rows) {
      for (const [column, convert] of this.#convert) {
        const text = row[column];
        if (typeof text === 'string') row[column] = convert(text);
      }
    }
    return rows;
  }

  /** Drops the rows that are left, and waits until the database can run the next statement. */
  async close(): Promise<void> {
    if (this.#isReady) return;
    if (this.#error !== undefined) throw this.#error;
    this.#isDiscarding = true;
    this.#rows = [];
    this.#resume();
    await new Promise<void>((resolve) => {
      this.#onReady = resolve;
    });
    if (this.#error !== undefined) throw this.#error;
  }

  handleRowDescription({ fields }: { readonly fields: readonly PgField[] }): void {
    if (fields.length > SQL_LIMITS.columns)
      return this.#fail(ToolError.nonRetryable(`the result has more than ${SQL_LIMITS.columns} columns`));
    this.#columns = fields.map(({ name, dataTypeID }) => ({ name, type: pgTypeName(dataTypeID) }));
    this.#convert = convertersOf(fields);
    const kinds = this.#wantsCsv ? cellKindsOf(fields) : undefined;
    if (kinds !== undefined) this.#encoder = new CsvEncoder(kinds);
    this.#onOpened?.();
  }

  handleDataRow({ fields, length }: { readonly fields: Json[]; readonly length: number }): void {
    if (this.#isDiscarding) return;
    this.#rows.push(fields);
    this.#bytes += length;
    if (this.#rows.length < SQL_LIMITS.batchRows && this.#bytes < BATCH_BYTES) return;
    if (this.#wake !== undefined) this.#notify();
    else this.#pause();
  }

  /** The limit of rows is reached. */
  handlePortalSuspended(): void {
    this.#end();
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const [, count] = /^(?:INSERT \d+|UPDATE|DELETE|MERGE) (\d+)$/.exec(text) ?? [];
    this.changed = count === undefined ? undefined : Number(count);
    this.#onOpened?.();
    this.#end();
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' });
  }

  handleReadyForQuery(): void {
    this.#isReady = true;
    this.#end();
    this.#onReady?.();
  }

  handleError(error: unknown): void {
    this.#fail(error);
  }

  handleCopyInResponse(connection: Connection): void {
    if ('sendCopyFail' in connection && typeof connection.sendCopyFail === 'function')
      connection.sendCopyFail('a task has no data to copy: insert rows');
  }

  /** Of `COPY … TO STDOUT`, which nobody reads. */
  handleCopyData(): void {
    this.#error ??= ToolError.nonRetryable(
      'COPY TO STDOUT is not read: write the query alone, and format: csv',
    );
  }

  #fail(error: unknown): void {
    this.#error ??= error;
    this.#rows = [];
    this.#onFailed?.(error);
    this.#notify();
    this.#onReady?.();
    this.#resume();
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

  #pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#connection?.stream.pause();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#connection?.stream.resume();
  }
}

/** The texts of a row, as pg reads them. */
function readFields(bytes: Buffer, start: number, end: number): Json[] {
  const fields: Json[] = [];
  for (let at = start + 2; at < end; ) {
    const length = bytes.readInt32BE(at);
    at += 4;
    fields.push(length < 0 ? null : bytes.toString('utf8', at, at + length));
    at += Math.max(0, length);
  }
  return fields;
}
