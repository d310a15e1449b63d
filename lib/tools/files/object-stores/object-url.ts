import { ToolError } from '../../../common/errors.js';
import { ellipsize } from '../../../common/text.js';
import { TRANSFER_LIMITS } from '../transfer-limits.js';

/** The bucket and the key in a URL such as `s3://bucket/folder/report.csv`. */
export interface ObjectName {
  readonly bucket: string;
  /** Empty for the bucket itself. */
  readonly key: string;
}

const URL_START = /^s3:\/\//i;
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Returns true if a path names an object of a store, and no file. */
export function isObjectUrl(path: string): boolean {
  return URL_START.test(path);
}

/**
 * Reads the URL of an object, or of a bucket or of the beginning of keys. The key is taken as it is written: `%20` is no space.
 *
 * @throws ToolError, not retryable
 */
export function parseObjectUrl(url: string): ObjectName {
  const rest = url.replace(URL_START, '');
  const slash = rest.indexOf('/');
  const [bucket, key] = slash < 0 ? [rest, ''] : [rest.slice(0, slash), rest.slice(slash + 1)];
  if (!BUCKET.test(bucket)) {
    throw refuse(
      url,
      'the name of a bucket has 3 to 63 small letters, digits, dots and hyphens: write s3://bucket/key',
    );
  }
  const problem = findKeyProblem(key);
  if (problem !== undefined) throw refuse(url, problem);
  return { bucket, key };
}

/** Reads the URL of an object. @throws ToolError, not retryable, also when it names none */
export function parseObjectName(url: string): ObjectName {
  const name = parseObjectUrl(url);
  if (name.key !== '' && !name.key.endsWith('/')) return name;
  throw refuse(url, 'it names no object: write s3://bucket/key');
}

/** Says why a request may not name a key: its server, or a server before it, would read another one. */
function findKeyProblem(key: string): string | undefined {
  if (key.length > TRANSFER_LIMITS.keyBytes || Buffer.byteLength(key) > TRANSFER_LIMITS.keyBytes)
    return `its key has more than ${TRANSFER_LIMITS.keyBytes} bytes`;
  if (CONTROL.test(key)) return 'its key has a NUL or another control character';
  if (/\p{Surrogate}/u.test(key)) return 'its key contains half of a character';
  if (key.split('/').some((part) => part === '..' || part === '.'))
    return 'its key may not have "." or ".." between slashes';
  return undefined;
}

/** Writes `s3://bucket/key`. */
export function formatObjectUrl({ bucket, key }: ObjectName): string {
  return `s3://${bucket}/${key}`;
}

const MAX_SHOWN = 200;

function refuse(url: string, reason: string): ToolError {
  return ToolError.nonRetryable(`${JSON.stringify(ellipsize(url, MAX_SHOWN))} cannot be used: ${reason}`);
}
