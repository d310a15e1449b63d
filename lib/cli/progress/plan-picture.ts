import type { LiveEvent } from '../../execution/event.js';
import type { FrameView } from './frame.js';
import type { Picture } from './picture.js';
import { drawPlanFrame } from './plan-frame.js';
import { type KnownWaves, PlanProgress } from './plan-progress.js';

/** A run of a plan: its sub-pipelines, and the waves and tasks of those at work. */
export class PlanPicture implements Picture {
  readonly #progress: PlanProgress;

  /** @param known the waves of each sub-pipeline, where the plan is at hand */
  constructor(subPipelines: number, known?: KnownWaves) {
    this.#progress = new PlanProgress(subPipelines, known);
  }

  take(event: LiveEvent, now: number): void {
    this.#progress.take(event, now);
  }

  draw(view: FrameView): string[] {
    return drawPlanFrame(this.#progress, view);
  }
}
