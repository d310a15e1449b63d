import type { LiveEvent } from '../../execution/event.js';

/** What people see on standard error while a run lasts. */
export interface Display {
  /** Whether it shows events at all. */
  readonly listens: boolean;
  event(event: LiveEvent): void;
  /** Says something besides the events. */
  say(line: string): void;
  /** Leaves the screen in order: shows how far the run came, and draws no more. */
  close(): void;
}
