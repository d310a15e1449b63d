import type { LiveEvent } from '../../execution/event.js';
import { drawFrame, type FrameView } from './frame.js';
import type { Picture } from './picture.js';
import { Progress } from './progress.js';

/** A run of a pipeline: its waves and their tasks. */
export class RunPicture implements Picture {
  readonly #progress: Progress;

  constructor(waves: readonly (readonly string[])[]) {
    this.#progress = new Progress(waves);
  }

  take(event: LiveEvent, now: number): void {
    this.#progress.take(event, now);
  }

  draw(view: FrameView): string[] {
    return drawFrame(this.#progress, view);
  }
}
