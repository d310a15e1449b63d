import type { Writable } from 'node:stream';
import { messageOf } from '../../common/errors.js';
import type { ProcessEvents } from '../context.js';
import { oneLine } from './text.js';

const EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Errors that tools throw after they have settled, or in a callback of their own, belong to no task. They are told
 * in a line and end nothing.
 *
 * @returns stops listening.
 */
export function tellStrays(events: ProcessEvents, say: (line: string) => void): () => void {
  const tell = (thrown: unknown): void => {
    say(`a tool left an error behind, outside of its task: ${oneLine(messageOf(thrown))}`);
  };
  for (const event of EVENTS) events.on(event, tell);
  return () => {
    for (const event of EVENTS) events.off(event, tell);
  };
}

/**
 * Standard output belongs to the outputs alone (D41), but tools may print: while they run, what they write there is
 * told line by line instead.
 *
 * @returns gives the stream back.
 */
export function divertWrites(stream: Writable, say: (line: string) => void): () => void {
  const write = stream.write.bind(stream);
  let unfinished = '';
  stream.write = (chunk: unknown, ...rest: unknown[]): boolean => {
    const lines = (unfinished + textOf(chunk)).split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) say(line);
    const written = rest.at(-1);
    if (typeof written === 'function') queueMicrotask(() => void written());
    return true;
  };
  return () => {
    stream.write = write;
    if (unfinished !== '') say(unfinished);
  };
}

function textOf(chunk: unknown): string {
  return chunk instanceof Uint8Array ? Buffer.from(chunk).toString('utf8') : String(chunk);
}
