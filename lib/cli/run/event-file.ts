import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../../common/errors.js';
import { describeErrno } from '../../common/files.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { UsageError } from '../usage-errors.js';

/** The file of `--events`: one JSON document per line, written as events happen (D42). */
export class EventFile {
  readonly #stream: WriteStream;
  readonly #name: string;
  #error: Error | undefined;

  /**
   * Opens the file and empties it.
   *
   * @param definitionFiles the files of the run's definition, which must not be overwritten
   * @throws UsageError when the file cannot be opened or is one of `definitionFiles`
   */
  static async open(name: string, definitionFiles: readonly string[], cwd: string): Promise<EventFile> {
    const path = resolve(cwd, name);
    if (name === '-') throw new UsageError('--events takes a file', 'as in --events events.jsonl');
    if (definitionFiles.some((file) => path === resolve(cwd, file)))
      throw new UsageError(`--events would overwrite ${name}, a file of the definition to run`);
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
