import { ToolError } from '../../../common/errors.js';
import type { Json, JsonObject } from '../../../common/json/json.js';
import { exactObject, FILE_SCHEMA, FLAG_SCHEMA, INTEGER_SCHEMA, TEXT_SCHEMA } from '../../schemas/output.js';
import { defineTool, type Tool, type ToolContext } from '../../tool.js';
import type { SqlDatabase, SqlRequest, SqlSession } from './database.js';
import { databaseOf, type DatabaseOptions } from './databases.js';
import { SQL_LIMITS } from './limits.js';
import { readRowValues, type SqlResult, writeRowFile } from './results.js';
import { ROW_FORMATS, type RowFormat } from './row-files.js';
import { SessionPool } from './session-pool.js';
import { type BoundStatement, bindStatements, leavesSession, seemsToRead } from './statement.js';
import { DUCKDB, MYSQL, POSTGRES, readTokens, SQLITE } from './tokens.js';

const RESULT_SCHEMA = exactObject({
  columns: { type: 'array', items: exactObject({ name: TEXT_SCHEMA, type: TEXT_SCHEMA }) },
  rows: { type: 'array', items: { type: 'object' } },
  row_count: INTEGER_SCHEMA,
  truncated: FLAG_SCHEMA,
  changed: { type: ['integer', 'null'] },
  artifact: { ...FILE_SCHEMA, type: ['object', 'null'] },
});

const RESULTS_SCHEMA = exactObject({ results: { type: 'array', items: RESULT_SCHEMA } });

/** Where the rows of a task go. */
interface Destination {
  readonly maxRows: number;
  readonly format: RowFormat | undefined;
  readonly filename: string;
}

interface SqlQueryOptions extends DatabaseOptions {
  readonly pool?: SessionPool;
}

/** Creates the tool that asks databases (D92). */
export function createSqlQuery(options: SqlQueryOptions = {}): Tool {
  const { pool = new SessionPool() } = options;
  return defineTool({
    name: 'sql_query',
    description:
      'Runs SQL in PostgreSQL, MySQL, MariaDB, SQLite or DuckDB, with bound parameters, and returns rows or a file of them',
    inputs: {
      connection: {
        type: 'string',
        minLength: 1,
        description: 'the name of a connection of SERVICE_CONNECTIONS',
      },
      url: {
        type: 'string',
        minLength: 1,
        description: 'instead: postgres://, mysql://, sqlite:FILE or duckdb:, best a secret',
      },
      query: {
        type: 'string',
        minLength: 1,
        format: 'sql',
        description: 'one statement, with :name for each param',
      },
      queries: {
        type: 'list',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
        maxItems: SQL_LIMITS.statements,
        format: 'sql',
        description: 'instead: statements that are run in one transaction',
      },
      params: { type: 'object', default: {}, description: 'the values of :name by name' },
      max_rows: {
        type: 'integer',
        minimum: 0,
        maximum: SQL_LIMITS.rows,
        default: SQL_LIMITS.defaultRows,
        description: 'how many rows become values; further ones are left out',
      },
      format: {
        type: 'string',
        enum: Object.keys(ROW_FORMATS),
        description: 'writes all rows of the last statement to a file of the run instead: csv or jsonl',
      },
      filename: { type: 'string', description: 'the name of that file; by default that of the task' },
      read_only: {
        type: 'boolean',
        description: 'lets the database refuse writes; by default true for statements that look like reading',
      },
      files: {
        type: 'object',
        default: {},
        description:
          'DuckDB: a CSV, Parquet or JSON file, or a list of these, by the name of the table that has their rows',
      },
    },
    output: {
      name: 'result',
      description:
        'columns, rows, row_count, truncated, changed and artifact; with queries, results is the list of these',
      type: 'object',
      schema: { anyOf: [RESULT_SCHEMA, RESULTS_SCHEMA] },
    },
    deriveOutput: ({ queries, format }) => {
      if (queries !== undefined) return RESULTS_SCHEMA;
      const { properties } = RESULT_SCHEMA;
      // With a format, the rows are in a file.
      const narrower =
        format === undefined ? { artifact: { type: 'null' } } : { rows: { ...properties.rows, maxItems: 0 } };
      return { ...RESULT_SCHEMA, properties: { ...properties, ...narrower } };
    },
    repeatable: onlyReads,
    async run(inputs, context) {
      const url = readUrl(inputs, context);
      const database = databaseOf(url, options);
      const texts = readTexts(inputs);
      const statements = bindStatements(texts, inputs.params, database.dialect);
      database.check(statements);
      const readOnly = inputs.read_only ?? statements.every(({ tokens }) => seemsToRead(tokens));
      const format = readFormat(inputs.format);
      const destination: Destination = {
        maxRows: inputs.max_rows,
        format,
        filename: inputs.filename ?? `${context.task_id}.${format ?? 'csv'}`,
      };
      const request = { url, readOnly, files: inputs.files };
      const results = await runAll(database, request, statements, destination, pool, context);
      const [first] = results;
      return inputs.queries === undefined && first !== undefined ? first : { results };
    },
  });
}

/** Asks databases, as far as nobody says otherwise. */
export const sqlQuery = createSqlQuery();

async function runAll(
  database: SqlDatabase,
  request: SqlRequest,
  statements: readonly BoundStatement[],
  destination: Destination,
  pool: SessionPool,
  context: ToolContext,
): Promise<SqlResult[]> {
  const target = await database.prepare(request, context);
  const isUntouched = request.readOnly && statements.every(({ tokens }) => leavesSession(tokens));
  return await pool.use(target, isUntouched, context, async (session) => {
    try {
      if (statements.length === 1 && statements[0] !== undefined)
        return [await runOne(session, statements[0], destination, context)];
      return await runInTransaction(session, statements, destination, context);
    } catch (error) {
      throw session.describe(error);
    }
  });
}

async function runInTransaction(
  session: SqlSession,
  statements: readonly BoundStatement[],
  destination: Destination,
  context: ToolContext,
): Promise<SqlResult[]> {
  await session.control('begin');
  const results: SqlResult[] = [];
  for (const [index, statement] of statements.entries()) {
    const isLast = index === statements.length - 1;
    results.push(
      await runOne(session, statement, isLast ? destination : { ...destination, format: undefined }, context),
    );
  }
  await session.control('commit');
  return results;
}

async function runOne(
  session: SqlSession,
  statement: BoundStatement,
  { maxRows, format, filename }: Destination,
  context: ToolContext,
): Promise<SqlResult> {
  const cursor = await session.open(statement, format === undefined ? maxRows + 1 : 0, format === 'csv');
  if (format === undefined || cursor.columns.length === 0)
    return await readRowValues(cursor, maxRows, context);
  return await writeRowFile(cursor, format, filename, context);
}

function readFormat(format: string | undefined): RowFormat | undefined {
  return format === 'csv' || format === 'jsonl' ? format : undefined;
}

interface Named {
  readonly url?: string;
  readonly connection?: string;
}

function readUrl({ url, connection }: Named, { connections }: ToolContext): string {
  if (url !== undefined && connection === undefined) return connections.ofUrl(url).url;
  if (connection === undefined || url !== undefined)
    throw ToolError.nonRetryable(
      'write either "connection" or "url": one of them says which database to ask',
    );
  const found = connections.get(connection);
  if (found.type === 'database') return found.url;
  throw ToolError.nonRetryable(`the connection "${connection}" is an object store, and no database`);
}

interface Written {
  readonly query?: string;
  readonly queries?: readonly string[];
}

function readTexts({ query, queries }: Written): readonly string[] {
  if (query !== undefined && queries === undefined) return [query];
  if (queries !== undefined && query === undefined) return queries;
  throw ToolError.nonRetryable('write either "query" or "queries"');
}

/** Returns true when a call may be made again after a crash: the database refuses its writes (D68). */
function onlyReads({ read_only: readOnly, query, queries }: JsonObject): boolean {
  if (typeof readOnly === 'boolean') return readOnly;
  if (readOnly !== undefined) return false;
  const texts: readonly Json[] = Array.isArray(queries) ? queries : [query ?? ''];
  return texts.every((text) => typeof text === 'string' && isReadingText(text));
}

const DIALECTS = [POSTGRES, MYSQL, SQLITE, DUCKDB];

function isReadingText(text: string): boolean {
  try {
    // The database is not known before the connection is: one that reads the text otherwise must not run it twice.
    return DIALECTS.every((dialect) => seemsToRead(readTokens(text, dialect, 'the query')));
  } catch {
    return false;
  }
}
