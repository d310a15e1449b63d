import { ToolError } from '../../common/errors.js';
import { joinFirst } from '../../common/text.js';
import type { ConnectionSource, ObjectStoreConnection } from './connection.js';

/** A connection of an object store. */
interface NamedStore extends Pick<ObjectStoreConnection, 'buckets'> {
  readonly name: string;
}

/** Maximum number of names in an error message. */
const MAX_LISTED = 10;

const EXAMPLE = '{type: s3, endpoint: "https://…", region: "…", access_key_id: "…", secret_access_key: "…"}';

/**
 * Chooses the connection of a tenant for a bucket that a task names without one: the only one that lists the bucket, else the only one of
 * an object store.
 *
 * @throws ToolError, not retryable, that says what to write
 */
export function chooseStore(source: ConnectionSource | undefined, tenantId: string, bucket: string): string {
  const stores = listStores(source, tenantId);
  const listing = stores.filter(({ buckets }) => buckets?.includes(bucket));
  const candidates = listing.length > 0 ? listing : stores;
  const [first, ...others] = candidates;
  if (first === undefined) {
    throw ToolError.nonRetryable(
      `no connection leads to the bucket "${bucket}": add one to the file of SERVICE_CONNECTIONS, such as ${EXAMPLE}`,
    );
  }
  if (others.length === 0) return first.name;
  const names = joinFirst(
    candidates.map(({ name }) => name),
    MAX_LISTED,
  );
  const reason = listing.length > 0 ? 'several connections list it' : 'no connection lists it';
  throw ToolError.nonRetryable(
    `it is not known which connection leads to the bucket "${bucket}", because ${reason}: write "connection: NAME" with one of ${names}`,
  );
}

function listStores(source: ConnectionSource | undefined, tenantId: string): NamedStore[] {
  return (source?.namesOf(tenantId) ?? []).flatMap((name) => {
    const found = source?.find(tenantId, name);
    return found?.type === 's3' ? [{ name, buckets: found.buckets }] : [];
  });
}
