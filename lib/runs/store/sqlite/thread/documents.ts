import type Database from 'libsql';
import { countParts, PARTS_PER_RUN, readSharedDefinition, unpack } from './packing.js';
import { inSnapshot, selectAll, selectOne } from './statements.js';

/** About as many bytes of a run are read at once. */
const CHUNK_BYTES = 512 * 1024;

/** The place in the documents of a run up to which they were read. */
export interface ChunkCursor {
  /** Parts that were read, of all that there were at first. */
  readonly part: number;
  readonly parts: number;
  /** The last piece that was read. */
  readonly n: number;
}

/** The next texts of a run: documents as JSON, each with a line break at its end. */
export interface DocumentChunk {
  readonly texts: readonly string[];
  /** Undefined at the end. */
  readonly next: ChunkCursor | undefined;
  /** The definition of the submission, with the first chunk, when it is kept apart. */
  readonly definition: string | undefined;
  /** The run was packed since the first chunk: read all again. */
  readonly isStale: boolean;
}

const NOTHING: DocumentChunk = { texts: [], next: undefined, definition: undefined, isStale: false };

/** Reads a part of what is kept of a run: packed parts first, then pieces. Returns nothing for a run that is not kept. */
export function readDocuments(
  database: Database.Database,
  runId: string,
  cursor: ChunkCursor | undefined,
): DocumentChunk {
  // Pieces that are packed between two statements would be in neither.
  return inSnapshot(database, () => readChunk(database, runId, cursor));
}

function readChunk(
  database: Database.Database,
  runId: string,
  cursor: ChunkCursor | undefined,
): DocumentChunk {
  const sql = 'SELECT number FROM run WHERE id = ? AND removed = 0';
  const number = selectOne<{ number: number }>(database, sql, runId)?.number;
  if (number === undefined) return NOTHING;
  const parts = countParts(database, number);
  if (cursor !== undefined && cursor.parts !== parts) return { ...NOTHING, isStale: true };
  const { part, n } = cursor ?? { part: 0, n: 0 };
  const definition = cursor === undefined ? readSharedDefinition(database, number) : undefined;
  if (part < parts) {
    const sql = 'SELECT data FROM packed WHERE n = ?';
    const [row] = selectAll<{ data: ArrayBuffer }>(database, sql, number * PARTS_PER_RUN + part);
    const texts = row === undefined ? [] : [unpack(row.data)];
    // Most runs are one part: a second read would find nothing.
    const isLast = part + 1 === parts && !hasPieces(database, number);
    return { texts, next: isLast ? undefined : { part: part + 1, parts, n }, definition, isStale: false };
  }
  const { texts, last } = readPieces(database, number, n);
  return {
    texts,
    next: last === undefined ? undefined : { part, parts, n: last },
    definition,
    isStale: false,
  };
}

function readPieces(
  database: Database.Database,
  run: number,
  after: number,
): { readonly texts: readonly string[]; readonly last: number | undefined } {
  const sizes = selectAll<{ n: number; bytes: number }>(
    database,
    'SELECT n, octet_length(text) AS bytes FROM piece WHERE run = ? AND n > ? ORDER BY n LIMIT 1000',
    run,
    after,
  );
  let sum = 0;
  const last = sizes.filter(({ bytes }, index) => (sum += bytes) <= CHUNK_BYTES || index === 0).at(-1)?.n;
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

function hasPieces(database: Database.Database, run: number): boolean {
  return selectOne(database, 'SELECT 1 FROM piece WHERE run = ? LIMIT 1', run) !== undefined;
}
