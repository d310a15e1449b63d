import { ToolError } from '../../../common/errors.js';
import { formatMebibytes } from '../../../common/text.js';
import { TRANSFER_LIMITS } from '../transfer-limits.js';
import type { ObjectStore, PutOptions, UploadedPart } from './object-store.js';
import { formatObjectUrl, type ObjectName } from './object-url.js';

/** An object that was written. */
export interface UploadedObject {
  readonly size: number;
  readonly etag: string;
}

/**
 * Writes an object from pieces of any size: in one request when they fit into one part, and otherwise in parts, of which one is
 * in memory at a time. An upload that fails, or whose attempt ends, is aborted, so that its store keeps no parts that cost money.
 */
export async function uploadObject(
  store: ObjectStore,
  object: ObjectName,
  pieces: AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<UploadedObject> {
  const parts = toParts(pieces, TRANSFER_LIMITS.partBytes);
  try {
    return await uploadParts(store, object, parts, options);
  } finally {
    // Closes the file that they come from.
    await parts.return(undefined);
  }
}

async function uploadParts(
  store: ObjectStore,
  object: ObjectName,
  parts: AsyncGenerator<Uint8Array, undefined>,
  options: PutOptions,
): Promise<UploadedObject> {
  const first = await parts.next();
  const second = first.done === true ? first : await parts.next();
  if (first.done === true || second.done === true) {
    const body = first.done === true ? Buffer.alloc(0) : first.value;
    return { size: body.length, etag: await store.put(object, body, options) };
  }
  const uploadId = await store.beginUpload(object, options.contentType);
  try {
    let size = 0;
    const uploaded: UploadedPart[] = [];
    const upload = async (part: Uint8Array): Promise<void> => {
      const number = uploaded.length + 1;
      if (number > TRANSFER_LIMITS.parts) throw tooLarge(object);
      uploaded.push(await store.uploadPart(object, uploadId, number, part));
      size += part.length;
    };
    await upload(first.value);
    await upload(second.value);
    for await (const part of parts) await upload(part);
    return { size, etag: await store.completeUpload(object, uploadId, uploaded, options.isNew === true) };
  } catch (error) {
    await store.abortUpload(object, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Joins pieces to parts of one size, of which the last may be shorter. Nothing is yielded for nothing. */
async function* toParts(
  pieces: AsyncIterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array, undefined> {
  let part = Buffer.alloc(0);
  let length = 0;
  for await (const piece of pieces) {
    for (let start = 0; start < piece.length; ) {
      // Parts of small files take no more memory than these.
      if (length === part.length) part = grow(part, Math.min(partBytes, length + piece.length - start));
      const taken = piece.subarray(start, start + part.length - length);
      part.set(taken, length);
      start += taken.length;
      length += taken.length;
      if (length < partBytes) continue;
      yield part;
      part = Buffer.alloc(0);
      length = 0;
    }
  }
  if (length > 0) yield part.subarray(0, length);
  return undefined;
}

function grow(part: Buffer, bytes: number): Buffer<ArrayBuffer> {
  const grown = Buffer.allocUnsafeSlow(Math.min(TRANSFER_LIMITS.partBytes, Math.max(bytes, 2 * part.length)));
  grown.set(part);
  return grown;
}

function tooLarge(object: ObjectName): ToolError {
  const { parts, partBytes } = TRANSFER_LIMITS;
  return ToolError.nonRetryable(
    `${formatObjectUrl(object)} would be larger than ${formatMebibytes(parts * partBytes)}, the maximum`,
  );
}
