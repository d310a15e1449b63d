import type Database from 'libsql';
import { selectAll, selectOne } from './statements.js';

/** The numbers of a piece, and its entry in an index, take about as much besides its text. */
export const PIECE_BYTES = 32;

/** Pieces of documents that follow each other, in the order in which they were written. */
export interface PieceRange {
  /** The text of each piece, with a line break at the end of a document. */
  readonly texts: readonly string[];
  /** The number of the last piece; undefined when there are none. */
  readonly last: number | undefined;
}

/**
 * Reads the pieces of a run after a number: the next one at least, and no more than a thousand.
 *
 * @param maxBytes of all but the first
 * @param endsWhole leaves out the beginning of a document that does not end with these pieces, unless it is all of them
 */
export function readPieces(
  database: Database.Database,
  run: number,
  after: number,
  maxBytes: number,
  endsWhole = false,
): PieceRange {
  const sizes = selectAll<{ n: number; goes_on: 0 | 1; bytes: number }>(
    database,
    'SELECT n, goes_on, octet_length(text) AS bytes FROM piece WHERE run = ? AND n > ? ORDER BY n LIMIT 1000',
    run,
    after,
  );
  let sum = 0;
  const taken = sizes.filter(({ bytes }, index) => (sum += bytes) <= maxBytes || index === 0);
  const whole = endsWhole ? taken.findLast(({ goes_on: goesOn }) => goesOn === 0) : undefined;
  const last = (whole ?? taken.at(-1))?.n;
  if (last === undefined) return { texts: [], last };
  const rows = selectAll<{ goes_on: 0 | 1; text: string }>(
    database,
    'SELECT goes_on, text FROM piece WHERE run = ? AND n > ? AND n <= ? ORDER BY n',
    run,
    after,
    last,
  );
  return { texts: rows.map(({ goes_on: goesOn, text }) => (goesOn === 1 ? text : `${text}\n`)), last };
}

export function hasPieces(database: Database.Database, run: number): boolean {
  return selectOne(database, 'SELECT 1 FROM piece WHERE run = ? LIMIT 1', run) !== undefined;
}
