import type { EventLoopBudget } from '../../../../machines/ports.js';
import { errorCode, errorMessage, ToolError } from '../../../common/errors.js';
import { describeKind } from '../../../common/json/json.js';
import { MAX_ARTIFACT_BYTES } from '../../../common/limits.js';
import { endOfPiece, formatMebibytes } from '../../../common/text.js';
import { assertFileName } from '../../../tools/files/file-name.js';
import type { ArtifactContent, WrittenArtifact } from '../../../tools/files/artifacts.js';
import type { Artifact } from '../json-output.js';
import { eventLoopBudget, nextSliceWhenOver } from '../../run/event-loop-budget.js';
import type { RunArtifact } from '../../results.js';
import type { NameOwner } from './artifact-names.js';
import type { ArtifactFolder, FileBytes } from './artifact-store.js';
import type { ArtifactSource } from './published-file.js';
import { isStream, StreamedBytes } from './streamed-bytes.js';

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}(; ?charset=[\w-]{1,32})?$/;
const BYTES_TYPE = 'application/octet-stream';

/** A file of an attempt. */
interface StagedFile {
  artifact: RunArtifact;
  /** Where the file is once it is published. */
  readonly path: string;
  /** Where the file is before it is published; undefined before it is written, and once it is published. */
  stagedPath: string | undefined;
  isPublished: boolean;
  /** Memory that was taken for the file; undefined while it does not count, because nothing has been written. */
  reservedBytes: number | undefined;
}

/** The files of one attempt (D24, D63), written or returned: they appear when it succeeds, and are removed when it fails. */
export class StagedFiles {
  readonly #folder: ArtifactFolder;
  readonly #owner: NameOwner;
  readonly #source: ArtifactSource;
  /** The files of the attempt that runs this pipeline: what succeeds here is removed when it fails. */
  readonly #outer: StagedFiles | undefined;
  readonly #budget: EventLoopBudget;
  /** The files of the attempt, by path. */
  readonly #files = new Map<string, StagedFile>();
  readonly #atWork = new Set<Promise<unknown>>();
  readonly #streams = new Set<StreamedBytes>();
  #isClosed = false;
  #isDiscarded = false;

  /** @param budget of the tenant; default: that of this process */
  constructor(
    folder: ArtifactFolder,
    owner: NameOwner,
    source: ArtifactSource,
    outer: StagedFiles | undefined,
    budget: EventLoopBudget = eventLoopBudget,
  ) {
    this.#folder = folder;
    this.#owner = owner;
    this.#source = source;
    this.#outer = outer;
    this.#budget = budget;
  }

  /** Writes a file, as the interface of tools promises. */
  write(file: ArtifactContent): Promise<WrittenArtifact> {
    return this.#track(this.#write(file));
  }

  async #write({ name, bytes, media_type: mediaType }: ArtifactContent): Promise<WrittenArtifact> {
    if (this.#isClosed) throw ToolError.nonRetryable('the file was not written: the attempt is over');
    assertFileName(name);
    if (typeof mediaType !== 'string' || !MEDIA_TYPE.test(mediaType)) {
      throw ToolError.nonRetryable(`the file "${name}" needs a media type, such as text/csv`);
    }
    const unique = this.#folder.names.claim(name, this.#owner);
    const file = this.#add(unique, mediaType, this.#folder.pathOfFile(unique));
    try {
      if (isStream(bytes)) await this.#stream(file, new StreamedBytes(name, bytes, this.#folder));
      else {
        const size = checkSize(name, bytes);
        await this.#stage(file, typeof bytes === 'string' ? await this.#encode(bytes) : bytes, size);
      }
    } catch (error) {
      // The tool may go on without this file. When the attempt is over, its names are free already.
      if (this.#files.delete(file.path)) this.#folder.names.release(unique);
      throw error;
    }
    return { name: unique, path: file.path, media_type: mediaType, size: file.artifact.size };
  }

  /** Writes a file of a size that nobody knows before. It takes disk until then. */
  async #stream(file: StagedFile, bytes: StreamedBytes): Promise<void> {
    const stagedPath = this.#folder.nextStagedPath(file.path);
    this.#streams.add(bytes);
    try {
      await this.#folder.write(stagedPath, bytes);
      const { size } = bytes;
      bytes.release();
      this.#folder.reserve(size);
      this.#setStaged(file, stagedPath, size);
    } catch (error) {
      bytes.release();
      await this.#folder.removeFile(stagedPath);
      throw toWriteError(file, error);
    } finally {
      this.#streams.delete(bytes);
    }
  }

  /** Encoding a text of 10 MiB takes some milliseconds, and the items of a fan-out may all write one in the same turn. */
  async #encode(text: string): Promise<FileBytes> {
    if (text.length <= LONG_TEXT) return Buffer.from(text);
    const pause = (): Promise<void> | undefined => nextSliceWhenOver(this.#budget);
    await pause();
    return withPauses(encodePieces(text), pause);
  }

  /** Takes a name for bytes in the output, and returns the path of their file. */
  claimBytes(): string {
    // Nobody gets the output of an attempt that is over, and its name would never be free again.
    if (this.#isClosed) return this.#folder.pathOfBytes(`${this.#source.task_id}.bin`);
    const { item } = this.#owner;
    const owner = { item, number: (item ?? 0) + 1 };
    const name = this.#folder.names.claim(`${this.#source.task_id}.bin`, owner, true);
    return this.#add(name, BYTES_TYPE, this.#folder.pathOfBytes(name)).path;
  }

  /** Publishes the files with the bytes of the output. Rejects when one cannot be written: `discard` is to be called then. */
  publish(bytes: readonly Artifact[]): Promise<void> {
    const written = [...this.#atWork];
    this.#isClosed = true;
    return this.#track(this.#publish(bytes, written));
  }

  async #publish(bytes: readonly Artifact[], written: readonly Promise<unknown>[]): Promise<void> {
    // A tool need not have awaited the files that it has written.
    await Promise.all(written);
    for (const { path, bytes: content } of bytes) {
      const file = this.#files.get(path);
      if (file !== undefined) await this.#stage(file, content, content.byteLength);
    }
    for (const file of this.#files.values()) {
      if (file.stagedPath === undefined) continue;
      await this.#move(file, file.stagedPath);
    }
    if (this.#isDiscarded) return;
    const files = [...this.#files.values()];
    this.#files.clear();
    if (this.#outer === undefined) this.#folder.publish(files);
    else this.#outer.#takeOver(files);
  }

  async #move(file: StagedFile, stagedPath: string): Promise<void> {
    try {
      await this.#folder.move(stagedPath, file.path);
    } catch (error) {
      throw toWriteError(file, error);
    }
    file.stagedPath = undefined;
    file.isPublished = true;
  }

  /** Takes over the files of a task that has succeeded in a nested run. */
  #takeOver(files: readonly StagedFile[]): void {
    for (const file of files) {
      const { name, media_type: mediaType, size } = file.artifact;
      const artifact = { name, ...this.#source, media_type: mediaType, size };
      this.#files.set(file.path, { ...file, artifact });
    }
    if (this.#isDiscarded) this.#removeFiles();
  }

  /** Removes the files and returns their memory. Call when the attempt has failed. */
  discard(): void {
    if (this.#isDiscarded) return;
    this.#isDiscarded = true;
    this.#isClosed = true;
    for (const stream of this.#streams) stream.stop();
    this.#removeFiles();
  }

  #removeFiles(): void {
    const files = [...this.#files.values()];
    this.#files.clear();
    if (files.length > 0) this.#folder.freeNames(files, this.#folder.track(this.#remove(files)));
  }

  async #remove(files: readonly StagedFile[]): Promise<void> {
    await Promise.allSettled(this.#atWork);
    for (const { stagedPath, isPublished, path, reservedBytes } of files) {
      if (reservedBytes !== undefined) this.#folder.release(reservedBytes);
      if (stagedPath !== undefined) await this.#folder.removeFile(stagedPath);
      if (isPublished) await this.#folder.removeFile(path);
    }
  }

  #add(name: string, mediaType: string, path: string): StagedFile {
    const artifact = { name, ...this.#source, media_type: mediaType, size: 0 };
    const file = { artifact, path, stagedPath: undefined, isPublished: false, reservedBytes: undefined };
    this.#files.set(path, file);
    return file;
  }

  async #stage(file: StagedFile, content: FileBytes, size: number): Promise<void> {
    const stagedPath = this.#folder.nextStagedPath(file.path);
    this.#folder.reserve(size);
    try {
      await this.#folder.write(stagedPath, content);
    } catch (error) {
      this.#folder.release(size);
      await this.#folder.removeFile(stagedPath);
      throw toWriteError(file, error);
    }
    this.#setStaged(file, stagedPath, size);
  }

  #setStaged(file: StagedFile, stagedPath: string, size: number): void {
    file.stagedPath = stagedPath;
    file.reservedBytes = size;
    file.artifact = { ...file.artifact, size };
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#atWork.add(work);
    void work.catch(() => undefined).then(() => this.#atWork.delete(work));
    return this.#folder.track(work);
  }
}

/** Another attempt may find room, or a place that a cleaner of temporary files has removed. */
const TEMPORARY = new Set('ENOSPC EDQUOT EMFILE ENFILE ENOENT EAGAIN EBUSY EINTR EIO'.split(' '));
const FULL = new Set(['ENOSPC', 'EDQUOT']);

function toWriteError({ path }: StagedFile, error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  const code = errorCode(error) ?? '';
  const advice = FULL.has(code)
    ? '; free some of the disk, or have files written elsewhere with SERVICE_ARTIFACTS or run --artifacts'
    : '';
  return new ToolError(`the file ${path} cannot be written: ${errorMessage(error)}${advice}`, {
    retryable: TEMPORARY.has(code),
    cause: error,
  });
}

/** A longer text is encoded in steps. */
const LONG_TEXT = 64 * 1024;

/** Returns the number of bytes of a file. @throws ToolError, not retryable */
function checkSize(name: string, content: unknown): number {
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) {
    throw ToolError.nonRetryable(
      `the file "${name}" must consist of text or bytes, not ${describeKind(content)}`,
    );
  }
  const size = Buffer.byteLength(content);
  if (size <= MAX_ARTIFACT_BYTES) return size;
  const [given, limit] = [size, MAX_ARTIFACT_BYTES].map(formatMebibytes);
  throw ToolError.nonRetryable(
    `the file "${name}" has ${given}, and ${limit} are allowed: write several files`,
  );
}

/** So many characters are encoded at once. */
const PIECE_LENGTH = 256 * 1024;

const MAX_BYTES_PER_UNIT = 3;

/** Encodes a text as UTF-8. Each piece takes the memory of the one before: many files may be written at the same time. */
export function* encodePieces(text: string): Iterable<Buffer> {
  const room = Buffer.allocUnsafeSlow(MAX_BYTES_PER_UNIT * Math.min(text.length, PIECE_LENGTH));
  for (let start = 0; start < text.length; ) {
    const end = endOfPiece(text, start, PIECE_LENGTH);
    yield room.subarray(0, room.write(text.slice(start, end)));
    start = end;
  }
}

async function* withPauses(
  pieces: Iterable<Buffer>,
  pause: () => Promise<void> | undefined,
): AsyncIterable<Buffer> {
  let isFirst = true;
  for (const piece of pieces) {
    if (!isFirst) await pause();
    isFirst = false;
    yield piece;
  }
}
