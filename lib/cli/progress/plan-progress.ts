import type { RunStatus } from '../../../machines/types.js';
import type { LiveEvent, SubPipelineEvent } from '../../execution/events/event.js';
import { keep, Progress } from './progress.js';

/** The waves of each sub-pipeline, by its id. */
export type KnownWaves = ReadonlyMap<string, readonly (readonly string[])[]>;

/** A sub-pipeline at work. */
export interface PresentSubPipeline {
  readonly id: string;
  readonly since: number;
  readonly progress: Progress;
  /** Its wave at work finishes, and no further one starts. */
  isCancelled: boolean;
}

/** A sub-pipeline that is over. */
export interface PastSubPipeline {
  readonly id: string;
  readonly status: RunStatus;
  /** Waves that settled. */
  readonly waves: number;
  readonly durationMs: number;
  /** Every task of it was taken over from an earlier run (D35). */
  readonly reused: boolean;
  readonly error: string | undefined;
}

/**
 * What is known about a run of a plan from its events: enough to draw it. Taking in an event costs the same whatever
 * the size of the plan.
 */
export class PlanProgress {
  readonly total: number;
  /** Of all ids of sub-pipelines; of a run elsewhere of those that were heard of. */
  longestId: number;
  /** In the order in which they began. */
  readonly present = new Map<string, PresentSubPipeline>();
  /** The last ones that are over. */
  readonly past: PastSubPipeline[] = [];
  settled = 0;
  readonly #known: KnownWaves | undefined;

  constructor(total: number, known?: KnownWaves) {
    this.total = total;
    this.#known = known;
    this.longestId = [...(known?.keys() ?? [])].reduce((most, id) => Math.max(most, id.length), 0);
  }

  /** Sub-pipelines that have not begun. */
  get toCome(): number {
    return Math.max(0, this.total - this.settled - this.present.size);
  }

  /** @param now milliseconds, of the clock that also draws */
  take(event: LiveEvent, now: number): void {
    if (event.kind === 'run') return;
    if (event.kind === 'sub_pipeline') {
      this.#status(event, now);
      return;
    }
    const { sub_pipeline: id } = event;
    if (id === undefined) return;
    const present = this.present.get(id) ?? (isWaveStart(event) ? this.#begin(id, now) : undefined);
    if (present === undefined) return;
    present.progress.take(event, now);
    if (present.isCancelled) this.#endCancelled(present, now);
  }

  #status({ sub_pipeline: id, status, error }: SubPipelineEvent, now: number): void {
    const present = this.present.get(id) ?? this.#begin(id, now);
    switch (status) {
      case 'queued':
      case 'running':
        break;
      case 'cancelled':
        present.isCancelled = true;
        this.#endCancelled(present, now);
        break;
      case 'succeeded':
      case 'failed':
        this.#end(present, status, now, error);
        break;
    }
  }

  #begin(id: string, now: number): PresentSubPipeline {
    const progress = new Progress(this.#known?.get(id));
    const present = { id, since: now, progress, isCancelled: false };
    this.longestId = Math.max(this.longestId, id.length);
    this.present.set(id, present);
    return present;
  }

  /** It is told that a run was cancelled while its wave is still at work. */
  #endCancelled(present: PresentSubPipeline, now: number): void {
    if (present.progress.present === undefined) this.#end(present, 'cancelled', now);
  }

  #end({ id, since, progress }: PresentSubPipeline, status: RunStatus, now: number, error?: string): void {
    this.present.delete(id);
    this.settled += 1;
    const reused = progress.allReused === true;
    keep(this.past, { id, status, waves: progress.settledWaves, durationMs: now - since, reused, error });
  }
}

/** Of a run elsewhere that it began may have been lost. */
function isWaveStart(event: LiveEvent): boolean {
  return event.kind === 'wave' && event.phase === 'start' && event.within === undefined;
}
