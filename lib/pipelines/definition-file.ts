import { realpath } from 'node:fs/promises';
import { errorCode, messageOf, WavetrainError } from '../common/errors.js';
import { LONGEST_TEXT_BYTES } from '../definition/text/guards.js';
import { decodeText } from '../tools/documents/text.js';
import { readRegularFile } from '../tools/regular-file.js';

/** The text of a definition's file. Rejects with `unreadable_file`, saying why. */
export async function readDefinition(file: string): Promise<string> {
  try {
    return await definitionTextAt(await realpath(file), file);
  } catch (cause) {
    throw new WavetrainError('unreadable_file', whyUnreadable(file, cause), { cause });
  }
}

/**
 * The text of an ordinary file in UTF-8 that is no larger than a definition may be.
 *
 * @param real the file's path with every link followed
 * @param asked the path to name in messages
 * @throws ToolError
 */
export async function definitionTextAt(real: string, asked: string): Promise<string> {
  return decodeText(await readRegularFile(real, asked, LONGEST_TEXT_BYTES), asked);
}

/** Why a file could not be found or read, in a sentence. */
export function whyUnreadable(asked: string, error: unknown): string {
  const code = errorCode(error);
  return code === undefined ? messageOf(error) : `cannot read "${asked}": ${REASONS.get(code) ?? code}`;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EACCES', 'permission denied'],
  ['ELOOP', 'its symbolic links lead in a circle'],
  ['ENAMETOOLONG', 'its name is too long'],
]);
