import { once } from 'node:events';
import { type BigIntStats, createWriteStream, type WriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../common/errors.js';
import { describeErrno } from '../../common/files.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { STANDARD_INPUT } from '../input/read-file.js';
import { UsageError } from '../usage-errors.js';

/** The file of `--events`: one JSON document per line, written as events happen (D42). */
export class EventFile {
  readonly #stream: WriteStream;
  readonly #name: string;
  #error: Error | undefined;

  /**
   * Opens the file and empties it.
   *
   * @param filesRead what the run was read from, which must not be overwritten
   * @throws UsageError when the file cannot be opened or is one of `filesRead`
   */
  static async open(name: string, filesRead: readonly string[], cwd: string): Promise<EventFile> {
    const path = resolve(cwd, name);
    if (name === '-') throw new UsageError('--events takes a file', 'as in --events events.jsonl');
    const same = await findSameFile(path, filesRead, cwd);
    if (same !== undefined) throw new UsageError(describeOverwriting(name, same));
    const stream = createWriteStream(path);
    try {
      await once(stream, 'open');
    } catch (error) {
      throw new UsageError(describeFailure(name, error));
    }
    return new EventFile(stream, name);
  }

  private constructor(stream: WriteStream, name: string) {
    this.#stream = stream;
    this.#name = name;
    stream.on('error', (error) => {
      this.#error ??= error;
    });
  }

  write(event: LiveEvent): void {
    if (this.#error === undefined) this.#stream.write(`${JSON.stringify(event)}\n`);
  }

  /** Waits until everything is written. Returns what went wrong, for example that the disk is full. */
  async close(): Promise<string | undefined> {
    if (!this.#stream.closed) {
      const closed = new Promise<void>((resolve) => this.#stream.once('close', () => resolve()));
      this.#stream.end();
      await closed;
    }
    return this.#error === undefined ? undefined : describeFailure(this.#name, this.#error);
  }
}

/** Finds the file that `path` is too, perhaps under another name: through symbolic links, or as a hard link. */
async function findSameFile(
  path: string,
  files: readonly string[],
  cwd: string,
): Promise<string | undefined> {
  const target = await identify(path);
  if (target === undefined) return undefined;
  for (const file of files) {
    const other = await identify(file === STANDARD_INPUT ? '/dev/stdin' : resolve(cwd, file));
    if (other?.ino === target.ino && other.dev === target.dev) return file;
  }
  return undefined;
}

/** Returns undefined when there is no such file; writing to a device or a pipe overwrites nothing. */
async function identify(path: string): Promise<BigIntStats | undefined> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  return stats?.isFile() === true ? stats : undefined;
}

function describeOverwriting(name: string, file: string): string {
  const what = file === STANDARD_INPUT ? 'the standard input' : file;
  return name === file
    ? `--events would overwrite ${name}, which the run is read from`
    : `--events would overwrite ${what}, which the run is read from: ${name} is the same file`;
}

function describeFailure(name: string, error: unknown): string {
  return `cannot write the --events file ${name}: ${describeWriteError(name, error)}`;
}

/** A missing file is created, so "no such file" means that its folder is missing. */
function describeWriteError(name: string, error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOENT':
      return `the folder ${dirname(name)} does not exist`;
    case 'ENOTDIR':
      return `${dirname(name)} is not a folder`;
    default:
      return describeErrno(error);
  }
}
