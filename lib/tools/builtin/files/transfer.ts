import { basename } from 'node:path';
import { ToolError } from '../../../common/errors.js';
import { formatMebibytes } from '../../../common/text.js';
import { exists } from '../../files/object-stores/object-store.js';
import { openStore } from '../../files/object-stores/open-store.js';
import { type SizedContent, uploadObject } from '../../files/object-stores/upload.js';
import { ConcurrencyLimiter } from '../../../common/scheduling/concurrency-limiter.js';
import { TRANSFER_LIMITS } from '../../files/transfer-limits.js';
import { exactObject, TEXT_SCHEMA } from '../../schemas/output.js';
import type { ToolContext } from '../../tool.js';
import { CountedContent } from './content.js';
import { foldersOf, guessMediaType, type FilePlace } from './places.js';

/** A file that is read piece by piece. */
export interface TransferSource extends SizedContent {
  /** Undefined when nobody says. */
  readonly mediaType: string | undefined;
}

/** Says how a transfer treats a file that is there already. */
export const IF_EXISTS = ['replace', 'error', 'skip'] as const;

export interface TransferTarget {
  readonly place: FilePlace;
  readonly connection: string | undefined;
  readonly mediaType: string;
  readonly ifExists: (typeof IF_EXISTS)[number];
}

/** A file that was written, or not because there was one. */
export interface TransferResult {
  readonly status: 'written' | 'skipped';
  /** Where other tools find it. */
  readonly path: string;
  readonly size: number | null;
  /** SHA-256 of the content, in hexadecimal digits. */
  readonly sha256: string | null;
  /** Of an object. */
  readonly etag: string | null;
}

/** The schema of a {@link TransferResult}. */
export const TRANSFER_SCHEMA = exactObject({
  status: { enum: ['written', 'skipped'] },
  path: TEXT_SCHEMA,
  size: { type: ['integer', 'null'] },
  sha256: { type: ['string', 'null'] },
  etag: { type: ['string', 'null'] },
});

/** Opens what a place names. Rejects with a ToolError when there is nothing, or too much. */
export async function openSource(
  place: FilePlace,
  connection: string | undefined,
  context: ToolContext,
): Promise<TransferSource> {
  const source = await open(place, connection, context);
  const { size } = source;
  if (size > TRANSFER_LIMITS.fileBytes)
    throw ToolError.nonRetryable(
      `the file has ${formatMebibytes(size)}, and at most ${formatMebibytes(TRANSFER_LIMITS.fileBytes)} are copied`,
    );
  return source;
}

async function open(
  place: FilePlace,
  connection: string | undefined,
  context: ToolContext,
): Promise<TransferSource> {
  if (place.kind === 'file') {
    return { ...(await foldersOf(context).open(place.path)), mediaType: guessMediaType(place.path) };
  }
  if (place.kind === 'artifact') {
    const { media_type: mediaType, ...opened } = await context.artifacts.open(place.name);
    return { ...opened, mediaType };
  }
  const { object, url } = place;
  const store = openStore(object.bucket, connection, context);
  const found = await store.find(object);
  if (found === undefined) throw ToolError.nonRetryable(`cannot read "${url}": there is no such object`);
  const { size, etag, contentType } = found;
  async function* read(): AsyncGenerator<Uint8Array, undefined> {
    for (let start = 0; start < size; start += TRANSFER_LIMITS.readBytes) {
      yield await store.readPart(object, start, Math.min(TRANSFER_LIMITS.readBytes, size - start), etag);
    }
    return undefined;
  }
  return { size, mediaType: contentType ?? undefined, pieces: read() };
}

/** Memory of a transfer: a part on its way, and as much for what is read for the next one while it is joined. */
const PARTS_HELD = 2;

/** Large transfers at work, in all runs: each takes memory for as long as the slower side needs. */
const limiter = new ConcurrencyLimiter({ total: TRANSFER_LIMITS.atOnce, guaranteed: 1 });

/** Writes a file piece by piece, at the speed of its source. Rejects with a ToolError. */
export async function writeTarget(
  source: SizedContent,
  target: TransferTarget,
  context: ToolContext,
): Promise<TransferResult> {
  if (source.size <= TRANSFER_LIMITS.smallBytes) return await transfer(source, target, context);
  return await limiter.run(context, () => transfer(source, target, context));
}

async function transfer(
  source: SizedContent,
  { place, connection, mediaType, ifExists }: TransferTarget,
  context: ToolContext,
): Promise<TransferResult> {
  context.holdMemory(PARTS_HELD * Math.min(source.size, TRANSFER_LIMITS.partBytes));
  const content = new CountedContent(source, context);
  const isNew = ifExists !== 'replace';
  if (place.kind === 'artifact') {
    const { path } = await context.artifacts.write({
      name: place.name,
      bytes: content,
      media_type: mediaType,
    });
    return { status: 'written', path, ...content.measured(), etag: null };
  }
  if (place.kind === 'file') {
    const written = await foldersOf(context).write(place.path, content, isNew);
    if (written !== undefined)
      return { status: 'written', path: written.path, ...content.measured(), etag: null };
    if (ifExists === 'skip') return skippedTransfer(place.path);
    throw ToolError.nonRetryable(`"${place.path}" exists, and "if_exists" is "error"`);
  }
  const { object, url } = place;
  const store = openStore(object.bucket, connection, context);
  if (isNew && (await store.find(object)) !== undefined) {
    if (ifExists === 'skip') return skippedTransfer(url);
    throw exists(object);
  }
  const upload = { size: source.size, pieces: content };
  const { etag } = await uploadObject(store, object, upload, { contentType: mediaType, isNew });
  return { status: 'written', path: url, ...content.measured(), etag };
}

export function skippedTransfer(path: string): TransferResult {
  return { status: 'skipped', path, size: null, sha256: null, etag: null };
}

/** The last part of a path or a key. */
export function nameOfPlace(place: FilePlace): string {
  if (place.kind === 'artifact') return place.name;
  return basename(place.kind === 'file' ? place.path : place.object.key);
}
