import { ToolError } from '../../../../common/errors.js';
import type { BoundStatement } from '../statement.js';
import type { Token } from '../tokens.js';

/** The first words of statements that stay within the file. `ATTACH`, `VACUUM INTO` and transactions are not among them. */
const STATEMENTS = new Set(
  'SELECT WITH VALUES INSERT REPLACE UPDATE DELETE CREATE DROP ALTER ANALYZE REINDEX EXPLAIN PRAGMA'.split(
    ' ',
  ),
);

const CREATED = new Set('TABLE TEMP TEMPORARY INDEX UNIQUE VIEW TRIGGER VIRTUAL'.split(' '));
const EXPLAINED = new Set('QUERY SELECT WITH VALUES INSERT REPLACE UPDATE DELETE'.split(' '));

/** Pragmas that only read, and only this file. */
const PRAGMAS = new Set(
  (
    'TABLE_INFO TABLE_XINFO TABLE_LIST INDEX_LIST INDEX_INFO INDEX_XINFO FOREIGN_KEY_LIST FOREIGN_KEY_CHECK USER_VERSION ' +
    'APPLICATION_ID PAGE_COUNT PAGE_SIZE ENCODING INTEGRITY_CHECK QUICK_CHECK FREELIST_COUNT COMPILE_OPTIONS'
  ).split(' '),
);

const MODULES = new Set(['FTS3', 'FTS4', 'FTS5', 'RTREE', 'RTREE_I32', 'GEOPOLY']);

/** Tables that the build of the package libsql brings, and functions that are also refused where they are called. */
const NAMES = new Set(
  (
    'PRAGMA_DATABASE_LIST FSDIR CARRAY SQLITE_DBPAGE SQLITE_STMT FTS3TOKENIZE READFILE WRITEFILE LSMODE EDIT LOAD_EXTENSION FTS3_TOKENIZER ' +
    'SQLITE_CRYPT SQLITE3MC_CONFIG SQLITE3MC_CONFIG_TABLE SQLITE3MC_CODEC_DATA'
  ).split(' '),
);

/** Refuses what reaches beyond the file of a database, which SQLite would do. @throws ToolError, not retryable */
export function checkSqlite(statements: readonly BoundStatement[]): void {
  for (const { tokens } of statements) {
    const problem = findProblem(tokens.filter(({ kind, text }) => kind !== 'blank' && text !== ';'));
    if (problem !== undefined)
      throw ToolError.nonRetryable(`${problem}: a statement may only use the file of its database`);
  }
}

function findProblem(tokens: readonly Token[]): string | undefined {
  const [first = '', second = '', third] = tokens.map(upperCased);
  if (!STATEMENTS.has(first)) return `a statement that begins with ${first.slice(0, 50)} is not allowed`;
  if (first === 'CREATE' && !CREATED.has(second)) return `CREATE ${second.slice(0, 50)} is not allowed`;
  if (first === 'EXPLAIN' && !EXPLAINED.has(second)) return `EXPLAIN ${second.slice(0, 50)} is not allowed`;
  if (
    first === 'EXPLAIN' &&
    second === 'QUERY' &&
    tokens.some((token) => /^(?:PRAGMA|ATTACH)$/.test(upperCased(token)))
  )
    return 'this EXPLAIN is not allowed';
  if (first === 'PRAGMA' && !(PRAGMAS.has(second) && (third === undefined || third === '(')))
    return `PRAGMA ${second.slice(0, 50)} is not allowed like this`;
  if (first === 'CREATE') {
    const using = tokens.findIndex((token) => token.kind === 'word' && upperCased(token) === 'USING');
    const module = tokens[using + 1];
    if (
      tokens.some((token) => upperCased(token) === 'VIRTUAL') &&
      !(module !== undefined && MODULES.has(upperCased(module)))
    )
      return 'a virtual table of this kind is not allowed';
  }
  const named = tokens.find((token) => NAMES.has(upperCased(token)));
  return named === undefined ? undefined : `${upperCased(named).toLowerCase()} is not allowed`;
}

/** A word, or what stands in quotes: SQLite takes a text in quotes for a name where one must stand. */
function upperCased({ kind, text }: Token): string {
  const inner = kind === 'quoted' || kind === 'text' ? text.slice(1, -1) : text;
  return inner.toUpperCase();
}
