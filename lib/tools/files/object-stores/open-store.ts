import { formatMebibytes } from '../../../common/text.js';
import type { ToolContext } from '../../tool.js';
import { readError } from '../regular-file.js';
import { ObjectStore } from './object-store.js';
import { parseObjectName } from './object-url.js';
import type { StoreContext } from './store-request.js';

/** The attempt that reads and writes the objects of its tenant. */
export type ObjectContext = StoreContext & Pick<ToolContext, 'connections' | 'holdMemory'>;

/** Opens the store that has a bucket, through a connection of the tenant. @throws ToolError, not retryable */
export function openStore(
  bucket: string,
  connection: string | undefined,
  context: ObjectContext,
): ObjectStore {
  return new ObjectStore(context.connections.ofBucket(bucket, connection), context);
}

/** Reads all of an object, which is memory of the run until the attempt ends. Rejects with a ToolError. */
export async function readObject(
  url: string,
  connection: string | undefined,
  context: ObjectContext,
  limitBytes: number,
): Promise<Buffer> {
  const object = parseObjectName(url);
  const store = openStore(object.bucket, connection, context);
  const found = await store.find(object);
  if (found === undefined) throw readError(url, 'there is no such object');
  const { size, etag } = found;
  if (size > limitBytes)
    throw readError(url, `it is larger than the limit of ${formatMebibytes(limitBytes)}`);
  context.holdMemory(size);
  return size === 0 ? Buffer.alloc(0) : await store.readPart(object, 0, size, etag);
}
