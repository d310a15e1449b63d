import type Database from 'libsql';
import {
  type ChunkCursor,
  DocumentAssembler,
  type DocumentChunk,
  type StoredDocument,
} from '../stored-documents.js';
import { countParts, PARTS_PER_RUN, readSharedDefinition, unpack } from './packing.js';
import { hasPieces, readPieces } from './pieces.js';
import { inSnapshot, selectAll, selectOne } from './statements.js';

/** About as many bytes of a run are read at once. */
const CHUNK_BYTES = 512 * 1024;

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
  const { texts, last } = readPieces(database, number, n, CHUNK_BYTES);
  return {
    texts,
    next: last === undefined ? undefined : { part, parts, n: last },
    definition,
    isStale: false,
  };
}

/** Reads what is kept of a run, document by document. Call it in a snapshot. */
export function* listDocuments(database: Database.Database, runId: string): Iterable<StoredDocument> {
  const documents = new DocumentAssembler();
  for (let cursor: ChunkCursor | undefined; ; ) {
    const chunk = readDocuments(database, runId, cursor);
    yield* documents.add(chunk);
    if (chunk.next === undefined) return;
    cursor = chunk.next;
  }
}
