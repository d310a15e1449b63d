import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { errorCode, WavetrainError } from '../../common/errors.js';
import { describeErrno } from '../../common/files.js';
import type { CliContext } from '../context.js';
import { detectTerminal } from './terminal.js';
import { escapeControlCharactersInJson, toSingleLine, wrapLine } from './text.js';

/** Lets a stream outlive its reader, so that `wavetrain tools | head -1` ends without an error. */
export class BrokenPipeGuard {
  readonly #stream: Writable;
  // Without a listener, an error would end the process.
  readonly #onError = (): void => undefined;

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', this.#onError);
  }

  /**
   * The first error of the stream, such as a full disk; a closed pipe is none. Asks the stream, because it emits the
   * event later, and a short run may be over by then.
   */
  get failure(): Error | undefined {
    const error = this.#stream.errored;
    return error === null || errorCode(error) === 'EPIPE' ? undefined : error;
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
  const json = JSON.stringify(value, null, interactive ? 2 : 0);
  stdout.write(`${interactive ? escapeControlCharactersInJson(json) : json}\n`);
}

/** Prints a line for people beside the output, on standard error. */
export function printNote(line: string, { stderr, env }: Pick<CliContext, 'stderr' | 'env'>): void {
  stderr.write(`${wrapLine(line, detectTerminal(stderr, env)).join('\n')}\n`);
}

/** Prints a text, or writes it to the file of `--output`, which it replaces, and says so on standard error. */
export async function printOrWrite(
  text: string,
  output: string | undefined,
  { stdout, stderr, cwd }: Pick<CliContext, 'stdout' | 'stderr' | 'cwd'>,
): Promise<void> {
  if (output === undefined) {
    stdout.write(text);
    return;
  }
  try {
    await writeFile(resolve(cwd, output), text);
  } catch (cause) {
    const reason = errorCode(cause) === 'ENOENT' ? 'there is no such folder' : describeErrno(cause);
    throw new WavetrainError('unreadable_file', `cannot write ${output}: ${reason}`, { cause });
  }
  stderr.write(`wrote ${toSingleLine(output)}\n`);
}

/** Passes what tools write to `print`, until the returned call: standard output is for the outputs alone (D41). */
export function captureStdout(stdout: Writable, print: (line: string) => void): () => void {
  const write = stdout.write.bind(stdout);
  let unfinished = '';
  stdout.write = (chunk: unknown, ...rest: unknown[]): boolean => {
    const text = chunk instanceof Uint8Array ? Buffer.from(chunk).toString('utf8') : String(chunk);
    const lines = (unfinished + text).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) print(line);
    const callback = rest.at(-1);
    if (typeof callback === 'function') queueMicrotask(() => void callback());
    return true;
  };
  return () => {
    stdout.write = write;
    if (unfinished !== '') print(unfinished);
  };
}
