import { lookup } from 'mime-types';
import type { Dirent } from 'node:fs';
import { opendir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ToolError } from '../../common/errors.js';
import { describeErrno, isPathInside } from '../../common/files.js';
import { PathPattern } from '../files/path-pattern.js';
import { openRegularFile } from '../files/regular-file.js';
import { COMMAND_LIMITS } from './command.js';
import type { CommandCaller } from './command-caller.js';

/**
 * Publishes the files that a command has left in its folder, as artifacts of the run. Symbolic links are not followed.
 *
 * @param patterns such as `out/*.csv`
 * @param folder of the command
 * @param allowed folder in which that of the command must be: the program need not have the right to read others
 * @throws ToolError, not retryable, when a pattern leads out of the folder or matches no file
 */
export async function publishFiles(
  patterns: readonly string[],
  folder: string,
  allowed: string,
  { writeFile, signal }: Pick<CommandCaller, 'writeFile' | 'signal'>,
): Promise<void> {
  if (patterns.length === 0) return;
  const published = new Set<string>();
  const root = await realpath(folder);
  if (!isPathInside(root, await realpath(allowed)))
    throw ToolError.nonRetryable(
      '"files": "cwd" leads out of the folder of commands, whose files alone are kept',
    );
  for (const pattern of patterns) {
    const found = await findFiles(pattern, root, signal);
    if (found.length === 0)
      throw ToolError.nonRetryable(`"files": no file of the command matches ${pattern}`);
    for (const file of found) {
      if (published.has(file)) continue;
      published.add(file);
      const { pieces } = await openRegularFile(join(root, file), file);
      await writeFile({ name: basename(file), bytes: pieces, media_type: mediaTypeOf(file) });
    }
  }
}

function mediaTypeOf(file: string): string {
  return lookup(file) || 'application/octet-stream';
}

/** Lists the files that match a pattern, relative to the folder, in the order of their names. */
async function findFiles(written: string, root: string, signal: AbortSignal): Promise<string[]> {
  const pattern = new PathPattern(written.replace(/^\.\//, ''), 'files');
  if (pattern.isLiteral) return [pattern.literalStart];
  const files: string[] = [];
  const folders = [pattern.literalFolder];
  let looked = 0;
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    signal.throwIfAborted();
    for (const entry of await readFolder(join(root, next), next, COMMAND_LIMITS.searchedEntries - looked)) {
      looked++;
      const path = next === '' ? entry.name : `${next}/${entry.name}`;
      if (entry.isDirectory() && pattern.isDeep) folders.push(path);
      else if (entry.isFile() && pattern.matches(path)) files.push(path);
    }
  }
  return files.toSorted();
}

/** @param most entries, of which there may be millions */
async function readFolder(path: string, shown: string, most: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(path)) {
      if (entries.length === most) throw ToolError.nonRetryable(TOO_MANY);
      entries.push(entry);
    }
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw ToolError.nonRetryable(`"files": cannot read the folder ${shown}: ${describeErrno(error)}`, error);
  }
  return entries;
}

const TOO_MANY = `"files": more than ${COMMAND_LIMITS.searchedEntries} files would be looked at: begin the pattern with a folder that has fewer`;
