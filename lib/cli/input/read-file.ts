import { createReadStream, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { WavetrainError } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import type { CliContext } from '../context.js';

/** Names standard input instead of a file (D41). */
export const STANDARD_INPUT = '-';

/** Limit for files that are read into memory as a whole. */
const MAX_MEBIBYTES = 64;

/** Reads a text file, or standard input for `-`. @param what it is, in messages: `pipeline file`, `--inputs file` */
export async function readText(
  name: string,
  what: string,
  { cwd, stdin }: Pick<CliContext, 'cwd' | 'stdin'>,
): Promise<string> {
  const isStandardInput = name === STANDARD_INPUT;
  const description = isStandardInput ? 'standard input' : `the ${what} ${name}`;
  try {
    const path = resolve(cwd, name);
    if (!isStandardInput && isShortFile(path)) return decodeUtf8(readFileSync(path));
    const stream = isStandardInput ? stdin : createReadStream(path);
    return decodeUtf8(await readStream(stream, description));
  } catch (error) {
    if (error instanceof WavetrainError) throw error;
    throw new WavetrainError('unreadable_file', `cannot read ${description}: ${describeErrno(error)}`, {
      cause: error,
    });
  }
}

/** A file for which a stream, which Node.js has to compile first, takes longer than reading it. */
function isShortFile(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size <= MAX_SHORT_BYTES;
}

const MAX_SHORT_BYTES = 64 * 1024;

/** Counts the bytes while it reads, because pipes and devices do not announce their size. */
async function readStream(stream: AsyncIterable<Uint8Array | string>, description: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_MEBIBYTES * 1024 * 1024) {
      throw new WavetrainError(
        'unreadable_file',
        `${description} is larger than ${MAX_MEBIBYTES} MiB, the limit`,
      );
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
