import { messageOf } from '../../common/errors.js';
import type { ProcessEvents } from '../context.js';
import { oneLine } from '../printable.js';

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
