import { open, rename, rm, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Clock } from '../../../common/clock.js';
import { errorMessage } from '../../../common/errors.js';
import { makeFolders } from '../../../common/files.js';
import { isObject, type Json } from '../../../common/json/json.js';
import { JsonWriter } from '../../../common/json/json-writer.js';
import type { RunSteps, Steps } from '../../../common/scheduling/steps.js';
import { warnHost } from '../../../common/warnings.js';
import { parseJsonInSteps } from '../../../common/json/parse-json.js';
import { copyToJsonInSteps } from '../json-output.js';
import type { Write } from '../../session/session-overrides.js';
import { CacheFileNames, readIfPresent, toTemporaryName } from './cache-file-names.js';
import type { CachedOutput, CacheFolder, CacheKey } from './cached-output.js';
import { removeOldFiles } from './old-files.js';

/** Size of all files, and of the largest one, in bytes (Limits). */
const MAX_BYTES = 2 ** 30;
const MAX_FILE_BYTES = 16 * 2 ** 20;

/** Files that nobody has used for longer are removed. */
const MAX_AGE_MS = 30 * 24 * 3600 * 1000;

/** The folder is tidied after the first new file of a process, and after each further so many. */
const FILES_PER_SWEEP = 200;

/** Keeps outputs as files (D65) that processes may share: each appears when complete, is checked when read, and may be gone. */
export class DiskCache implements CacheFolder {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #runSteps: RunSteps;
  readonly #maxBytes: number;
  readonly #names: CacheFileNames;
  #written = 0;
  #sweeping: Promise<void> | undefined;
  #hasWarned = false;

  /** @param path of a folder, which is created when the first output is kept */
  constructor(path: string, clock: Clock, runSteps: RunSteps, maxBytes = MAX_BYTES) {
    this.#path = path;
    this.#names = new CacheFileNames(path);
    this.#clock = clock;
    this.#runSteps = runSteps;
    this.#maxBytes = maxBytes;
  }

  async read(key: CacheKey): Promise<CachedOutput | undefined> {
    const file = await this.#names.fileOf(key);
    const bytes = await readIfPresent(file);
    if (bytes === undefined) return undefined;
    const entry = toEntry(await this.#parse(bytes, key.tenantId));
    if (entry === undefined || entry.expiresAt <= this.#clock.now()) {
      await rm(file, { force: true });
      return undefined;
    }
    // Another process may have removed the file meanwhile; what was read counts.
    await this.#touch(file).catch(() => undefined);
    return this.#freeze(entry.cached, key.tenantId);
  }

  /** Freezes an output, because other tasks read it, and must not change it. */
  async #freeze(cached: CachedOutput, tenantId: string): Promise<CachedOutput> {
    const { json } = await this.#runSteps(copyToJsonInSteps(cached), tenantId);
    return json as unknown as CachedOutput;
  }

  /** Remembers when a file was used. */
  async #touch(file: string): Promise<void> {
    const now = new Date(this.#clock.now());
    await utimes(file, now, now);
  }

  async #parse(bytes: Buffer, tenantId: string): Promise<Json | undefined> {
    try {
      return await this.#runSteps(parseBytes(bytes), tenantId);
    } catch {
      // A file that is no JSON is one that somebody else has put there.
      return undefined;
    }
  }

  async write(key: CacheKey, { output, writes, sizeBytes }: CachedOutput, expiresAt: number): Promise<void> {
    if (sizeBytes > MAX_FILE_BYTES) return;
    const file = await this.#names.fileOf(key);
    await makeFolders(dirname(file), 0o700);
    const temporary = toTemporaryName(file);
    const expires_at = expiresAt === Number.POSITIVE_INFINITY ? null : expiresAt;
    try {
      await this.#writeChunks(
        temporary,
        new JsonWriter({ expires_at, sizeBytes, writes, output }),
        key.tenantId,
      );
      await this.#touch(temporary);
      await rename(temporary, file);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    if (++this.#written % FILES_PER_SWEEP === 1) this.#sweep();
  }

  /** Writes an output in chunks, because many may be written at once, and share the time of their tenants. */
  async #writeChunks(file: string, writer: JsonWriter, tenantId: string): Promise<void> {
    const next = (): Promise<Buffer> => this.#runSteps(nextChunk(writer), tenantId);
    const handle = await open(file, 'wx', 0o600);
    try {
      for (let chunk = await next(); chunk.length > 0; chunk = await next()) await handle.write(chunk);
    } finally {
      await handle.close();
    }
  }

  /** Resolves when the folder is tidied, if that is under way. For callers who look at the folder. */
  async swept(): Promise<void> {
    await this.#sweeping;
  }

  #sweep(): void {
    this.#sweeping ??= this.#removeOld().finally(() => {
      this.#sweeping = undefined;
    });
  }

  /** Removes old files. A file that cannot be removed now is tried again the next time. */
  async #removeOld(): Promise<void> {
    const [failure] = await removeOldFiles(this.#path, this.#clock.now() - MAX_AGE_MS, this.#maxBytes);
    if (failure === undefined || this.#hasWarned) return;
    this.#hasWarned = true;
    warnHost(
      `files of the cache cannot be removed: ${errorMessage(failure)}; remove them yourself, or let the user of this ` +
        'process write to the folder',
    );
  }
}

function* nextChunk(writer: JsonWriter): Steps<Buffer> {
  yield;
  return Buffer.from(writer.next());
}

/** Decoding letters of several bytes takes some milliseconds for each MiB. */
const DECODED_PER_STEP = 2 ** 18;

/** @throws SyntaxError */
function* parseBytes(bytes: Buffer): Steps<Json> {
  const decoder = new StringDecoder('utf8');
  let text = '';
  for (let start = 0; start < bytes.length; start += DECODED_PER_STEP) {
    text += decoder.write(bytes.subarray(start, start + DECODED_PER_STEP));
    yield;
  }
  return yield* parseJsonInSteps(text + decoder.end());
}

/** Reads what a file holds; undefined when it is not what this class writes. */
function toEntry(value: Json | undefined): { expiresAt: number; cached: CachedOutput } | undefined {
  if (!isObject(value)) return undefined;
  const { expires_at: expiresAt, sizeBytes, writes, output } = value;
  const isComplete =
    (expiresAt === null || typeof expiresAt === 'number') &&
    typeof sizeBytes === 'number' &&
    Array.isArray(writes) &&
    output !== undefined;
  if (!isComplete) return undefined;
  const cached = { output, writes: writes as unknown as readonly Write[], sizeBytes };
  return { expiresAt: expiresAt ?? Number.POSITIVE_INFINITY, cached };
}
