import type {
  DuckDBConnection,
  DuckDBResult,
  DuckDBType,
  DuckDBValue,
  Json as DuckJson,
} from '@duckdb/node-api';
import { errorMessage, ToolError } from '../../../../common/errors.js';
import type { Json } from '../../../../common/json/json.js';
import { type SqlColumn, toJsonInteger } from '../database.js';
import { SQL_LIMITS } from '../limits.js';
import type { FileTable, LocalEngine, OpenRequest } from './messages.js';

type DuckDb = typeof import('@duckdb/node-api');

/** Opens a database that reaches the files of its tables and nothing else, whatever its statements say. */
export async function openDuckdb({ path = ':memory:', readOnly, tables }: OpenRequest): Promise<LocalEngine> {
  const duckdb: DuckDb = await import('@duckdb/node-api');
  const instance = await duckdb.DuckDBInstance.create(path, {
    threads: '2',
    // Before the file is opened, which may be one of another database that an extension reads.
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: `${SQL_LIMITS.duckdbMiB}MiB`,
    ...(readOnly && path !== ':memory:' && { access_mode: 'READ_ONLY' }),
  });
  const connection = await instance.connect();
  const paths = tables.flatMap((table) => table.paths.map(quoteText));
  for (const setting of [
    `allowed_paths = [${paths.join(', ')}]`,
    "temp_directory = ''",
    "TimeZone = 'UTC'",
    'allow_community_extensions = false',
    'allow_persistent_secrets = false',
    'enable_external_access = false',
    'lock_configuration = true',
  ])
    await connection.run(`SET ${setting}`);
  for (const table of tables) await connection.run(createView(table));
  return new DuckdbEngine(duckdb, connection, () => instance.closeSync());
}

function createView({ name, paths, reader }: FileTable): string {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  return `CREATE TEMP VIEW ${quoted} AS SELECT * FROM ${reader}([${paths.map(quoteText).join(', ')}])`;
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

class DuckdbEngine implements LocalEngine {
  changed: number | undefined;
  readonly #duckdb: DuckDb;
  readonly #connection: DuckDBConnection;
  readonly #closeInstance: () => void;
  readonly #allowed: ReadonlySet<number>;
  readonly #changing: ReadonlySet<number>;
  #result: DuckDBResult | undefined;
  #types: readonly DuckDBType[] = [];
  #left = 0;

  constructor(duckdb: DuckDb, connection: DuckDBConnection, closeInstance: () => void) {
    this.#closeInstance = closeInstance;
    this.#duckdb = duckdb;
    this.#connection = connection;
    const { StatementType } = duckdb;
    const { INSERT, UPDATE, DELETE, MERGE_INTO, SELECT, CREATE, DROP, ALTER } = StatementType;
    this.#changing = new Set([INSERT, UPDATE, DELETE, MERGE_INTO]);
    // EXPLAIN ANALYZE executes any statement, COPY among them.
    this.#allowed = new Set([...this.#changing, SELECT, CREATE, DROP, ALTER]);
  }

  async run(text: string, values: readonly Json[], rowLimit: number): Promise<readonly SqlColumn[]> {
    const statement = await this.#connection.prepare(text);
    const type = statement.statementType;
    if (!this.#allowed.has(type)) {
      const name = this.#duckdb.StatementType[type] ?? 'this';
      throw ToolError.nonRetryable(`a statement of the kind ${name} is not allowed`);
    }
    if (values.length > 0) statement.bind(values.map((value) => this.#toParameter(value)));
    const result = await statement.stream();
    this.#types = result.columnTypes();
    this.#result = result;
    this.#left = rowLimit === 0 ? Number.POSITIVE_INFINITY : rowLimit;
    this.changed = undefined;
    const columns = result.columnNames().map((name, index) => ({
      name,
      type: String(this.#types[index] ?? '').toLowerCase(),
    }));
    const returnsCount = columns.length === 1 && columns[0]?.name === 'Count';
    if (type === this.#duckdb.StatementType.SELECT || !returnsCount) return columns;
    const [[count = null] = []] = await this.next();
    this.changed = this.#changing.has(type) ? Number(count) : undefined;
    this.#result = undefined;
    return [];
  }

  async next(): Promise<readonly (readonly Json[])[]> {
    if (this.#result === undefined || this.#left <= 0) return [];
    const chunk = await this.#result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) {
      this.#result = undefined;
      return [];
    }
    const count = Math.min(chunk.rowCount, this.#left);
    this.#left -= count;
    const rows: Json[][] = [];
    for (let index = 0; index < count; index++)
      rows.push(
        chunk.getRowValues(index).map((value, column) => {
          const type = this.#types[column];
          return type === undefined ? null : this.#toJson(value, type);
        }),
      );
    return rows;
  }

  async control(verb: string): Promise<void> {
    await this.#connection.run(verb);
  }

  close(): void {
    this.#connection.closeSync();
    this.#closeInstance();
  }

  /** Another process has the file open. */
  isPassing(error: unknown): boolean {
    return /could not set lock/i.test(errorMessage(error));
  }

  readonly #toJson = (value: DuckDBValue, type: DuckDBType): DuckJson => {
    if (typeof value === 'bigint') return toJsonInteger(value);
    if (value instanceof this.#duckdb.DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64');
    const json = this.#duckdb.JsonDuckDBValueConverter(value, type, this.#toJson);
    return typeof json === 'string' && String(type).startsWith('TIMESTAMP') ? toTime(json) : json;
  };

  #toParameter(value: Json): DuckDBValue {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    if (Array.isArray(value)) return this.#duckdb.listValue(value.map((part) => this.#toParameter(part)));
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  }
}

function toTime(text: string): string {
  const time = text.replace(/^(\d{4}-\d\d-\d\d) /, '$1T');
  return time.endsWith('+00') ? `${time.slice(0, -3)}Z` : time;
}
