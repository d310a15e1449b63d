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

/** The bytes of an object, and how many there are. */
export interface SizedContent {
  readonly size: number;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/**
 * Writes an object from pieces of any size: in one request when they fit into one part, and otherwise in parts, of which one is
 * in memory at a time. An upload that fails, or whose attempt ends, is aborted, so that its store keeps no parts that cost money.
 */
export async function uploadObject(
  store: ObjectStore,
  object: ObjectName,
  { size, pieces }: SizedContent,
  options: PutOptions,
): Promise<UploadedObject> {
  const parts = toParts(pieces, Math.max(1, Math.min(size, TRANSFER_LIMITS.partBytes)));
  try {
    if (size > TRANSFER_LIMITS.partBytes) return await uploadParts(store, object, parts, options);
    const { value: body = NO_BYTES } = await parts.next();
    return { size: body.length, etag: await store.put(object, body, options) };
  } finally {
    // Closes the file that they come from.
    await parts.return(undefined);
  }
}

const NO_BYTES = new Uint8Array();

async function uploadParts(
  store: ObjectStore,
  object: ObjectName,
  parts: AsyncIterable<Uint8Array<ArrayBuffer>>,
  options: PutOptions,
): Promise<UploadedObject> {
  const uploadId = await store.beginUpload(object, options.contentType);
  try {
    let size = 0;
    const uploaded: UploadedPart[] = [];
    for await (const part of parts) {
      const number = uploaded.length + 1;
      if (number > TRANSFER_LIMITS.parts) throw tooLarge(object);
      uploaded.push(await store.uploadPart(object, uploadId, number, part));
      size += part.length;
    }
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
): AsyncGenerator<Uint8Array<ArrayBuffer>, undefined> {
  let part = Buffer.allocUnsafeSlow(partBytes);
  let length = 0;
  for await (const piece of pieces) {
    for (let start = 0; start < piece.length; ) {
      const taken = piece.subarray(start, start + partBytes - length);
      part.set(taken, length);
      start += taken.length;
      length += taken.length;
      if (length < partBytes) continue;
      yield part;
      // A request may hold the part before for some time after its answer.
      part = Buffer.allocUnsafeSlow(partBytes);
      length = 0;
    }
  }
  if (length > 0) yield part.subarray(0, length);
  return undefined;
}

function tooLarge(object: ObjectName): ToolError {
  const { parts, partBytes } = TRANSFER_LIMITS;
  return ToolError.nonRetryable(
    `${formatObjectUrl(object)} would be larger than ${formatMebibytes(parts * partBytes)}, the maximum`,
  );
}
