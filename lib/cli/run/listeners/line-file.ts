import { once } from 'node:events';
import { type BigIntStats, createWriteStream, type WriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../../common/errors.js';
import { describeErrno } from '../../../common/files.js';
import type { LiveEvent } from '../../../execution/events/event.js';
import { STANDARD_INPUT } from '../../input/read-file.js';
import { UsageError } from '../../input/usage-errors.js';

type LineFlag = '--events' | '--record';

const EXAMPLES: Readonly<Record<LineFlag, string>> = { '--events': 'events.jsonl', '--record': 'out.wtrec' };

export interface WantedFile {
  readonly flag: LineFlag;
  readonly name: string;
}

/** The file of `--events` or of `--record`: one JSON document per line, written as things happen (D42). */
export class LineFile {
  readonly #stream: WriteStream;
  readonly #wanted: WantedFile;
  #error: Error | undefined;

  /** Refuses files that would overwrite each other, or what the run was read from. Call it before `open` empties one. */
  static async check(
    wanted: readonly WantedFile[],
    filesRead: readonly string[],
    cwd: string,
  ): Promise<void> {
    for (const [index, { flag, name }] of wanted.entries()) {
      if (name === '-') throw new UsageError(`${flag} takes a file`, `as in ${flag} ${EXAMPLES[flag]}`);
      const path = resolve(cwd, name);
      const read = await findSameFile(path, filesRead, cwd);
      if (read !== undefined) throw new UsageError(describeOverwriting(flag, name, read));
      for (const other of wanted.slice(0, index)) {
        // A file that is not there yet has nothing but its name.
        const isSame = path === resolve(cwd, other.name) && !path.startsWith(DEVICES);
        if (!isSame && (await findSameFile(path, [other.name], cwd)) === undefined) continue;
        throw new UsageError(
          `${flag} would overwrite ${other.name}, which ${other.flag} writes`,
          `write another name, as in ${flag} ${EXAMPLES[flag]}`,
        );
      }
    }
  }

  /** Opens the file and empties it. @throws UsageError when the file cannot be opened */
  static async open(wanted: WantedFile, cwd: string): Promise<LineFile> {
    const stream = createWriteStream(resolve(cwd, wanted.name));
    try {
      await once(stream, 'open');
    } catch (error) {
      throw new UsageError(describeFailure(wanted, error));
    }
    return new LineFile(stream, wanted);
  }

  private constructor(stream: WriteStream, wanted: WantedFile) {
    this.#stream = stream;
    this.#wanted = wanted;
    stream.on('error', (error) => {
      this.#error ??= error;
    });
  }

  write(event: LiveEvent): void {
    this.writeText(`${JSON.stringify(event)}\n`);
  }

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
    return this.#error === undefined ? undefined : describeFailure(this.#wanted, this.#error);
  }
}

/** Two flags may write to one device, such as /dev/null. */
const DEVICES = '/dev/';

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

function describeFailure({ flag, name }: WantedFile, error: unknown): string {
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
