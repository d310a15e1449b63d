import type { Writable } from 'node:stream';
import { errorMessage } from '../../common/errors.js';
import type { ProcessEvents } from '../signals.js';
import { toSingleLine } from './text.js';

const UNCAUGHT = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Prints errors that tools throw after they have settled or in a callback. No task catches such an error, and the run
 * goes on.
 *
 * @returns a function that stops it
 */
export function reportUncaughtToolErrors(events: ProcessEvents, print: (line: string) => void): () => void {
  const report = (thrown: unknown): void => {
    print(`uncaught error of a tool, outside of its task: ${toSingleLine(errorMessage(thrown))}`);
  };
  for (const event of UNCAUGHT) events.on(event, report);
  return () => {
    for (const event of UNCAUGHT) events.off(event, report);
  };
}

/**
 * Prints what tools write to standard output line by line elsewhere, because standard output is for the outputs alone
 * (D41).
 *
 * @returns a function that restores the stream
 */
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
