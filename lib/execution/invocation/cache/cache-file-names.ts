import { createHmac, randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, WavetrainError } from '../../../common/errors.js';
import { makeFolders } from '../../../common/files.js';
import type { CacheKey } from './cached-output.js';

/** The folders of a cache's files. */
const GROUP = /^[0-9a-f]{2}$/;

/** A file of an output, complete or not yet. */
const FILE = /^[0-9a-f]{64}\.json(\.[0-9a-f]{12}\.tmp)?$/;

const KEY_BYTES = 32;

/** Names the files of a cache folder by a key that only its file `key` has: nobody can guess inputs from them (D65). */
export class CacheFileNames {
  readonly #folder: string;
  #key: Promise<Buffer> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Resolves with the path of the file of an output. Rejects when the key of the folder can be neither read nor made. */
  async fileOf({ hash }: CacheKey): Promise<string> {
    this.#key ??= readKey(this.#folder).catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    const name = createHmac('sha256', await this.#key)
      .update(hash)
      .digest('hex');
    return join(this.#folder, name.slice(0, 2), `${name}.json`);
  }
}

/** Returns true when a folder inside the folder of a cache holds files of the cache. */
export function isCacheGroup(name: string): boolean {
  return GROUP.test(name);
}

/** Returns true when a cache has named the file: somebody may give a cache a folder that has other files in it. */
export function isCacheFile(group: string, name: string): boolean {
  return name.startsWith(group) && FILE.test(name);
}

/** The name of a file until it is complete. */
export function toTemporaryName(file: string): string {
  return `${file}.${randomBytes(6).toString('hex')}.tmp`;
}

/** Reads the key of a folder, or makes it; of several processes that make it, the first one wins. */
async function readKey(folder: string): Promise<Buffer> {
  const file = join(folder, 'key');
  await makeFolders(folder, 0o700);
  const key = (await readIfPresent(file)) ?? (await makeKey(file)) ?? (await readFile(file));
  if (key.length === KEY_BYTES) return key;
  throw new WavetrainError(
    'unreadable_file',
    `${file} has ${key.length} bytes, and the key of a cache has ${KEY_BYTES}: remove it, and the next output makes another`,
    { fault: 'service' },
  );
}

/** Resolves with undefined when there is no such file. */
export async function readIfPresent(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes the file of a key, which appears with all its bytes. Resolves with undefined when another process was faster. */
async function makeKey(file: string): Promise<Buffer | undefined> {
  const key = randomBytes(KEY_BYTES);
  const temporary = toTemporaryName(file);
  try {
    await writeFile(temporary, key, { flag: 'wx', mode: 0o600, flush: true });
    await link(temporary, file);
    return key;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}
