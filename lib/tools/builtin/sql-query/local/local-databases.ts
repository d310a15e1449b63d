import { ToolError } from '../../../../common/errors.js';
import type { Json } from '../../../../common/json/json.js';
import type { Launcher } from '../../../../common/workers/launcher.js';
import type { ToolContext } from '../../../tool.js';
import type { SqlDatabase, SqlTarget } from '../database.js';
import { SQL_LIMITS } from '../limits.js';
import { DUCKDB, SQLITE } from '../tokens.js';
import { openLocalSession } from './local-session.js';
import type { FileTable, OpenRequest } from './messages.js';
import { checkSqlite } from './sqlite-statements.js';

const IN_MEMORY = ':memory:';

/** Files of SQLite, by the package that the store uses. */
export function sqlite(launcher: Launcher | undefined): SqlDatabase {
  return {
    dialect: SQLITE,
    check: checkSqlite,
    prepare: async ({ url, readOnly, files }, context) => {
      if (Object.keys(files).length > 0)
        throw ToolError.nonRetryable('"files" are read by DuckDB: write url: "duckdb:"');
      const path = await locateDatabase(url, readOnly, context);
      return createTarget({ kind: 'open', engine: 'sqlite', path, readOnly, tables: [] }, launcher);
    },
  };
}

/** DuckDB, over its own files and over CSV, Parquet and JSON. */
export function duckdb(launcher: Launcher | undefined): SqlDatabase {
  return {
    dialect: DUCKDB,
    check: () => undefined,
    prepare: async ({ url, readOnly, files }, context) => {
      const path = await locateDatabase(url, readOnly, context);
      const tables: FileTable[] = [];
      let count = 0;
      for (const [name, file] of Object.entries(files)) {
        const table = await locateTable(name, file, context);
        count += table.paths.length;
        if (count > SQL_LIMITS.files)
          throw ToolError.nonRetryable(`"files" names more than ${SQL_LIMITS.files} files: divide them`);
        tables.push(table);
      }
      return createTarget({ kind: 'open', engine: 'duckdb', path, readOnly, tables }, launcher);
    },
  };
}

function createTarget(request: OpenRequest, launcher: Launcher | undefined): SqlTarget {
  return {
    key: JSON.stringify(request),
    isLocal: true,
    connect: (context) => openLocalSession(request, launcher, context),
  };
}

/** The real path of the file of a URL; undefined for a database in memory. */
async function locateDatabase(
  url: string,
  readOnly: boolean,
  { files }: ToolContext,
): Promise<string | undefined> {
  const path = url.replace(/^\w+:/, '').replace(/^\/\/(?=\/)/, '');
  if (path === '' || path === IN_MEMORY) return undefined;
  return await locate(files, path, !readOnly);
}

async function locate(files: ToolContext['files'], path: string, mayCreate: boolean): Promise<string> {
  if (files.folders === undefined) throw ToolError.nonRetryable('no file can be named here');
  return await files.folders.locate(path, mayCreate);
}

const READERS: readonly [ending: RegExp, reader: FileTable['reader']][] = [
  [/\.(?:csv|tsv|txt)(?:\.gz|\.zst)?$/i, 'read_csv'],
  [/\.parquet$/i, 'read_parquet'],
  [/\.(?:json|jsonl|ndjson)(?:\.gz|\.zst)?$/i, 'read_json_auto'],
];

async function locateTable(name: string, file: Json, context: ToolContext): Promise<FileTable> {
  const written = Array.isArray(file) ? file : [file];
  const paths: string[] = [];
  for (const path of written) {
    if (typeof path !== 'string')
      throw ToolError.nonRetryable(`"files.${name}" must be the path of a file, or a list of paths`);
    paths.push(await locate(context.files, path, false));
  }
  const readers = new Set(paths.map((path) => READERS.find(([ending]) => ending.test(path))?.[1]));
  const [reader] = readers;
  if (reader === undefined || readers.size > 1)
    throw ToolError.nonRetryable(
      `"files.${name}" must end with .csv, .tsv, .parquet, .json or .jsonl, and all of its files alike`,
    );
  return { name, paths, reader };
}
