import { ToolError } from '../../../../../common/errors.js';
import { isObject } from '../../../../../common/json/json.js';
import { formatMebibytes } from '../../../../../common/text.js';
import { SQL_LIMITS } from '../../limits.js';

/** A letter for the kind, and the length of the rest with these four bytes. */
const HEADER_BYTES = 5;

interface Stream {
  prependListener(event: 'data', listener: (chunk: Buffer) => void): unknown;
}

/**
 * Looks at the lengths of the messages of a server before pg does, which would keep one of any length in memory.
 *
 * @param refuse is called with the error of the first message that is too long
 */
export function watchMessages(client: object, refuse: (error: ToolError) => void): void {
  const connection: unknown = 'connection' in client ? client.connection : undefined;
  if (!isObject(connection) || typeof connection['on'] !== 'function') return;
  const watch = (): void => {
    const { stream } = connection;
    if (isStream(stream)) stream.prependListener('data', createWatcher(refuse));
  };
  // With TLS, messages begin when it is there.
  if (connection['ssl'] === false) watch();
  else connection['on']('sslconnect', watch);
}

function isStream(value: unknown): value is Stream {
  return isObject(value) && typeof value['prependListener'] === 'function';
}

function createWatcher(refuse: (error: ToolError) => void): (chunk: Buffer) => void {
  /** Bytes up to the next header. */
  let rest = 0;
  let header = Buffer.alloc(0);
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (rest > 0) {
        const skipped = Math.min(rest, chunk.length - at);
        rest -= skipped;
        at += skipped;
        continue;
      }
      let length: number;
      if (header.length === 0 && at + HEADER_BYTES <= chunk.length) {
        length = chunk.readUInt32BE(at + 1);
        at += HEADER_BYTES;
      } else {
        const taken = chunk.subarray(at, at + HEADER_BYTES - header.length);
        header = Buffer.concat([header, taken]);
        at += taken.length;
        if (header.length < HEADER_BYTES) return;
        length = header.readUInt32BE(1);
        header = Buffer.alloc(0);
      }
      if (length > SQL_LIMITS.rowBytes) {
        const [size, most] = [length, SQL_LIMITS.rowBytes].map(formatMebibytes);
        return refuse(
          ToolError.nonRetryable(`a row has ${size}, and ${most} are allowed: select less of it`),
        );
      }
      rest = length - 4;
    }
  };
}
