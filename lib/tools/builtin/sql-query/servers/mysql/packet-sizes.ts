import { ToolError } from '../../../../../common/errors.js';
import { isObject } from '../../../../../common/json/json.js';
import { formatMebibytes } from '../../../../../common/text.js';

/** The longest packet: a longer message comes in several, which mysql2 would put together in memory. */
const LONGEST = 0xff_ff_ff;

/** Three bytes of length, and a number. */
const HEADER_BYTES = 4;

/**
 * Looks at the lengths of packets before mysql2 does, also of those within TLS.
 *
 * @param refuse is called with the error of the first message that is too long
 */
export function watchPackets(connection: object, refuse: (error: ToolError) => void): void {
  const parser: unknown = 'packetParser' in connection ? connection.packetParser : undefined;
  const execute = isObject(parser) ? parser['execute'] : undefined;
  if (!isObject(parser) || typeof execute !== 'function') return;
  const isRefused = createWatcher();
  parser['execute'] = (chunk: Buffer) => {
    if (isRefused(chunk))
      return refuse(
        ToolError.nonRetryable(
          `a row has more than ${formatMebibytes(LONGEST + 1)}, the maximum: select less of it`,
        ),
      );
    execute.call(parser, chunk);
  };
}

function createWatcher(): (chunk: Buffer) => boolean {
  /** Bytes up to the next header. */
  let rest = 0;
  let header = Buffer.alloc(0);
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      const skipped = Math.min(rest, chunk.length - at);
      rest -= skipped;
      at += skipped;
      if (at >= chunk.length) return false;
      const taken = chunk.subarray(at, at + HEADER_BYTES - header.length);
      header = Buffer.concat([header, taken]);
      at += taken.length;
      if (header.length < HEADER_BYTES) return false;
      rest = header.readUIntLE(0, 3);
      header = Buffer.alloc(0);
      if (rest === LONGEST) return true;
    }
    return false;
  };
}
