import type { Writable } from 'node:stream';
import type { CliContext } from '../context.js';
import { terminalOf } from './terminal.js';

/** A stream that outlives its reader: `wavetrain tools | head -1` ends without a word. */
export class Output {
  readonly #stream: Writable;
  readonly #onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') this.failure ??= error;
  };
  /** Why something could not be written; undefined when all was, or when nobody reads any more. */
  failure: Error | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', this.#onError);
  }

  /** Waits until everything written has left this process. */
  drain(): Promise<void> {
    return drained(this.#stream);
  }

  close(): void {
    this.#stream.off('error', this.#onError);
  }
}

/** Waits until everything written to a stream has left this process. */
export async function drained(stream: Writable): Promise<void> {
  if (stream.destroyed || !stream.writable) return;
  await new Promise<void>((resolve) => {
    stream.write('', () => resolve());
  });
}

/** Prints one JSON document: indented for people, on one line for programs (D41). */
export function printJson(value: unknown, { stdout, env }: Pick<CliContext, 'stdout' | 'env'>): void {
  const { interactive } = terminalOf(stdout, env);
  stdout.write(`${JSON.stringify(value, null, interactive ? 2 : 0)}\n`);
}
