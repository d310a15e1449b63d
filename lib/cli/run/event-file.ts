import { once } from 'node:events';
import { type BigIntStats, createWriteStream, type WriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../common/errors.js';
import { describeErrno } from '../../common/files.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { STANDARD_INPUT } from '../input/read-file.js';
import { UsageError } from '../usage-errors.js';

type LineFlag = '--events' | '--record';

const EXAMPLES: Readonly<Record<LineFlag, string>> = { '--events': 'events.jsonl', '--record': 'out.wtrec' };

/** The file of `--events` or of `--record`: one JSON document per line, written as things happen (D42). */
export class EventFile {
  readonly #stream: WriteStream;
  readonly #name: string;
  readonly #flag: LineFlag;
  #error: Error | undefined;

  /**
   * Opens the file and empties it.
   *
   * @param filesRead what the run was read from, which must not be overwritten
   * @param flag that named the file
   * @throws UsageError when the file cannot be opened or is one of `filesRead`
   */
  static async open(
    name: string,
    filesRead: readonly string[],
    cwd: string,
    flag: LineFlag = '--events',
  ): Promise<EventFile> {
    const path = resolve(cwd, name);
    if (name === '-') throw new UsageError(`${flag} takes a file`, `as in ${flag} ${EXAMPLES[flag]}`);
    const same = await findSameFile(path, filesRead, cwd);
    if (same !== undefined) throw new UsageError(describeOverwriting(flag, name, same));
    const stream = createWriteStream(path);
    try {
      await once(stream, 'open');
    } catch (error) {
      throw new UsageError(describeFailure(flag, name, error));
    }
    return new EventFile(stream, name, flag);
  }

  private constructor(stream: WriteStream, name: string, flag: LineFlag) {
    this.#stream = stream;
    this.#flag = flag;
    this.#name = name;
    stream.on('error', (error) => {
      this.#error ??= error;
    });
  }

  write(event: LiveEvent): void {
    this.writeText(`${JSON.stringify(event)}\n`);
  }

  /** Writes whole lines. */
  writeText(lines: string): void {
    if (this.#error === undefined) this.#stream.write(lines);
  }

  /** Waits until everything is written. Returns what went wrong, for example that the disk is full. */
  async close(): Promise<string | undefined> {
    if (!this.#stream.closed) {
      const closed = new Promise<void>((resolve) => this.#stream.once('close', () => resolve()));
      this.#stream.end();
      await closed;
    }
    return this.#error === undefined ? undefined : describeFailure(this.#flag, this.#name, this.#error);
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

function describeOverwriting(flag: LineFlag, name: string, file: string): string {
  const what = file === STANDARD_INPUT ? 'the standard input' : file;
  return name === file
    ? `${flag} would overwrite ${name}, which the run is read from`
    : `${flag} would overwrite ${what}, which the run is read from: ${name} is the same file`;
}

function describeFailure(flag: LineFlag, name: string, error: unknown): string {
  return `cannot write the ${flag} file ${name}: ${describeWriteError(name, error)}`;
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
