import { createRequire } from 'node:module';
import { ToolError } from '../../../common/errors.js';
import type { Launcher } from '../../../common/workers/launcher.js';
import type { SqlDatabase } from './database.js';
import { duckdb, sqlite } from './local/local-databases.js';
import { mysql } from './servers/mysql/mysql.js';
import { postgres } from './servers/postgres/postgres.js';

export interface DatabaseOptions {
  /** Starts the processes that read files of SQLite and DuckDB. Default: this process does. */
  readonly launcher?: Launcher | undefined;
}

/** The database of a URL that was checked. @throws ToolError, not retryable, when its package is not installed */
export function databaseOf(url: string, { launcher }: DatabaseOptions): SqlDatabase {
  const [scheme = ''] = url.toLowerCase().split(':', 1);
  switch (scheme) {
    case 'sqlite':
      assertInstalled('libsql', 'SQLite');
      return sqlite(launcher);
    case 'duckdb':
      assertInstalled('@duckdb/node-api', 'DuckDB');
      return duckdb(launcher);
    case 'mysql':
    case 'mariadb':
      assertInstalled('mysql2', 'MySQL');
      return mysql;
    default:
      return postgres;
  }
}

function assertInstalled(name: string, what: string): void {
  try {
    createRequire(import.meta.url).resolve(name);
  } catch {
    throw ToolError.nonRetryable(
      `${what} needs the package ${name}, which is not installed: npm install ${name}`,
    );
  }
}
