import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import { dirname, resolve } from 'node:path';
import type { LiveEvent } from '../../execution/events/event.js';
import { BadUsage } from '../usage-errors.js';
import type { CliContext } from '../context.js';
import { errorCode } from '../../common/errors.js';
import { reasonOf } from '../input/read-file.js';

/** A file of events, one JSON document per line, written as they come (D42). */
export class EventFile {
  readonly #stream: WriteStream;
  readonly #name: string;
  #failure: Error | undefined;

  /**
   * @param definitionFiles what is to be run
   * @throws BadUsage when the file cannot be opened, or is one of those.
   */
  static async open(
    name: string,
    definitionFiles: readonly string[],
    { cwd }: CliContext,
  ): Promise<EventFile> {
    const path = resolve(cwd, name);
    if (name === '-') throw new BadUsage('--events takes a file', 'as in --events events.jsonl');
    if (definitionFiles.some((file) => path === resolve(cwd, file)))
      throw new BadUsage(`--events would overwrite ${name}, which is to be run`);
    const stream = createWriteStream(path);
    try {
      await once(stream, 'open');
    } catch (error) {
      throw new BadUsage(complaint(name, error));
    }
    return new EventFile(stream, name);
  }

  private constructor(stream: WriteStream, name: string) {
    this.#stream = stream;
    this.#name = name;
    stream.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  write(event: LiveEvent): void {
    if (this.#failure === undefined) this.#stream.write(`${JSON.stringify(event)}\n`);
  }

  /** Waits until everything is written; answers what went wrong, such as a full disk. */
  async close(): Promise<string | undefined> {
    await this.#closed();
    const failure = this.#failure;
    return failure === undefined ? undefined : complaint(this.#name, failure);
  }

  async #closed(): Promise<void> {
    if (this.#stream.closed) return;
    const closed = new Promise<void>((resolve) => this.#stream.once('close', () => resolve()));
    this.#stream.end();
    await closed;
  }
}

function complaint(name: string, error: unknown): string {
  return `cannot write the --events file ${name}: ${whyNot(name, error)}`;
}

/** The file need not be there, but its folder must be. */
function whyNot(name: string, error: unknown): string {
  switch (errorCode(error)) {
    case 'ENOENT':
      return `there is no folder ${dirname(name)}`;
    case 'ENOTDIR':
      return `${dirname(name)} is no folder`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'you have no permission to write it';
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return reasonOf(error);
  }
}
