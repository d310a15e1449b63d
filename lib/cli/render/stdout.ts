import type { Writable } from 'node:stream';
import type { CliContext } from '../context.js';
import { detectTerminal } from './terminal.js';

/** Lets a stream outlive its reader, so that `wavetrain tools | head -1` ends without an error. */
export class BrokenPipeGuard {
  readonly #stream: Writable;
  readonly #onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') this.failure ??= error;
  };
  /** The first error of the stream, such as a full disk; a closed pipe is none. */
  failure: Error | undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', this.#onError);
  }

  drain(): Promise<void> {
    return drain(this.#stream);
  }

  close(): void {
    this.#stream.off('error', this.#onError);
  }
}

/** Waits until everything written to the stream has left this process. */
export async function drain(stream: Writable): Promise<void> {
  if (stream.destroyed || !stream.writable) return;
  await new Promise<void>((resolve) => {
    stream.write('', () => resolve());
  });
}

/** Prints one JSON document: indented on a terminal, otherwise on one line (D41). */
export function printJson(value: unknown, { stdout, env }: Pick<CliContext, 'stdout' | 'env'>): void {
  const { interactive } = detectTerminal(stdout, env);
  stdout.write(`${JSON.stringify(value, null, interactive ? 2 : 0)}\n`);
}
