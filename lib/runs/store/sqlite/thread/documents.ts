import type Database from 'libsql';
import {
  type ChunkCursor,
  DocumentAssembler,
  type DocumentChunk,
  type StoredDocument,
} from '../stored-documents.js';
import type { WantedItems } from '../../run-store.js';
import { canSkip } from '../part-items.js';
import { countParts, listPartItems, readPart, readSharedDefinition } from './packing.js';
import { hasPieces, readPieces } from './pieces.js';
import { inSnapshot, selectOne } from './statements.js';

/** About as many bytes of a run are read at once. */
const CHUNK_BYTES = 512 * 1024;

const NOTHING: DocumentChunk = { texts: [], next: undefined, definition: undefined, isStale: false };

/**
 * Reads a part of what is kept of a run: packed parts first, then pieces. Returns nothing for a run that is not kept.
 *
 * @param only parts about other items of the same fan-out are left out
 * @param most bytes, about; one part or piece at least
 */
export function readDocuments(
  database: Database.Database,
  runId: string,
  cursor: ChunkCursor | undefined,
  only?: WantedItems,
  most = CHUNK_BYTES,
): DocumentChunk {
  // Pieces that are packed between two statements would be in neither.
  return inSnapshot(database, () => readChunk(database, runId, cursor, only, most));
}

function readChunk(
  database: Database.Database,
  runId: string,
  cursor: ChunkCursor | undefined,
  only: WantedItems | undefined,
  most: number,
): DocumentChunk {
  const sql = 'SELECT number FROM run WHERE id = ? AND removed = 0';
  const number = selectOne<{ number: number }>(database, sql, runId)?.number;
  if (number === undefined) return NOTHING;
  const parts = countParts(database, number);
  if (cursor !== undefined && cursor.parts !== parts) return { ...NOTHING, isStale: true };
  const { part, n } = cursor ?? { part: 0, n: 0 };
  const definition = cursor === undefined ? readSharedDefinition(database, number) : undefined;
  if (part < parts) {
    const read = readParts(database, number, part, only, most);
    // Most runs are one part: a second read would find nothing.
    const isLast = read.next === parts && !hasPieces(database, number);
    const next = isLast ? undefined : { part: read.next, parts, n };
    return { texts: read.texts, next, definition, isStale: false };
  }
  const { texts, last } = readPieces(database, number, n, most);
  return {
    texts,
    next: last === undefined ? undefined : { part, parts, n: last },
    definition,
    isStale: false,
  };
}

/** Reads parts from a number on. */
function readParts(
  database: Database.Database,
  run: number,
  from: number,
  only: WantedItems | undefined,
  most: number,
): { readonly texts: readonly string[]; readonly next: number } {
  const texts: string[] = [];
  let length = 0;
  let next = from;
  for (const { part, items } of listPartItems(database, run, from)) {
    if (length >= most) break;
    next = part + 1;
    if (only !== undefined && canSkip(items, only)) continue;
    const text = readPart(database, run, part);
    texts.push(text);
    length += text.length;
  }
  return { texts, next };
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
