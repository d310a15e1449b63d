import type { LiveEvent } from '../../execution/event.js';
import type { FrameView } from './frame.js';

/** What is known of a run from its events, and how it looks on a screen. */
export interface Picture {
  /** @param now milliseconds, of the clock that also draws */
  take(event: LiveEvent, now: number): void;
  /** Lines that fit on the screen. */
  draw(view: FrameView): string[];
}
