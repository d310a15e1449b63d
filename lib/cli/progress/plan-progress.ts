import type { SubPipelineStatus } from '../../../machines/types.js';
import type { LiveEvent, SubPipelineEvent } from '../../execution/events/event.js';
import { pushRecent, PipelineProgress } from './run-progress.js';

/** The waves of each sub-pipeline, by its id. */
export type WavesBySubPipeline = ReadonlyMap<string, readonly (readonly string[])[]>;

export interface RunningSubPipeline {
  readonly id: string;
  readonly startedAt: number;
  readonly progress: PipelineProgress;
  /** True when the sub-pipeline is cancelled, but its current wave still finishes. */
  isDraining: boolean;
}

export interface SettledSubPipeline {
  readonly id: string;
  readonly status: SubPipelineStatus;
  readonly waves: number;
  readonly durationMs: number;
  /** True when all tasks of the sub-pipeline reuse outputs of an earlier run (D35). */
  readonly reused: boolean;
  /** Why it has failed, or was skipped. */
  readonly error: string | undefined;
}

/** No sub-pipeline can have this id. */
const HANDLERS = 'handlers of the plan';

/** Keeps the progress of a plan run, read from its events. Each event costs the same, however large the plan. */
export class PlanProgress {
  readonly total: number;
  /** Covers all ids if the waves are known, so that columns do not move; otherwise those that have started. */
  longestIdLength: number;
  /** In the order in which the sub-pipelines started. */
  readonly running = new Map<string, RunningSubPipeline>();
  readonly lastSettled: SettledSubPipeline[] = [];
  settledCount = 0;
  readonly #waves: WavesBySubPipeline | undefined;

  constructor(total: number, waves?: WavesBySubPipeline) {
    this.total = total;
    this.#waves = waves;
    this.longestIdLength = [...(waves?.keys() ?? [])].reduce((most, id) => Math.max(most, id.length), 0);
  }

  /** No sub-pipeline begins once handlers of the plan run. */
  get pendingCount(): number {
    if (this.running.has(HANDLERS)) return 0;
    return Math.max(0, this.total - this.settledCount - this.running.size);
  }

  /** @param now milliseconds, of the clock that the display uses */
  onEvent(event: LiveEvent, now: number): void {
    if (event.kind === 'run') return;
    if (event.kind === 'sub_pipeline') {
      this.#setStatus(event, now);
      return;
    }
    const { sub_pipeline: id } = event;
    if (id === undefined) return this.#onHandlerEvent(event, now);
    // The event log of a server may have dropped the start of the sub-pipeline.
    const running = this.running.get(id) ?? (isWaveStart(event) ? this.#start(id, now) : undefined);
    if (running === undefined) return;
    running.progress.onEvent(event, now);
    if (running.isDraining) this.#settleIfDrained(running, now);
  }

  /** Takes in what the handlers of the plan do (D80), which are shown among the sub-pipelines while they run. */
  #onHandlerEvent(event: LiveEvent, now: number): void {
    const known = this.running.get(HANDLERS);
    if (known === undefined && !isWaveStart(event)) return;
    const { progress } = known ?? this.#start(HANDLERS, now);
    progress.onEvent(event, now);
    if (progress.currentWave === undefined) this.running.delete(HANDLERS);
  }

  #setStatus({ sub_pipeline: id, status, error, reason }: SubPipelineEvent, now: number): void {
    const running = this.running.get(id) ?? this.#start(id, now);
    switch (status) {
      case 'queued':
      case 'running':
        break;
      case 'cancelled':
        running.isDraining = true;
        this.#settleIfDrained(running, now);
        break;
      case 'succeeded':
      case 'failed':
        this.#settle(running, status, now, error);
        break;
      case 'skipped':
        this.#settle(running, status, now, reason);
        break;
    }
  }

  #start(id: string, now: number): RunningSubPipeline {
    const progress = new PipelineProgress(this.#waves?.get(id));
    const running = { id, startedAt: now, progress, isDraining: false };
    this.longestIdLength = Math.max(this.longestIdLength, id.length);
    this.running.set(id, running);
    return running;
  }

  /** The event of a cancellation comes before the current wave has finished (D21). */
  #settleIfDrained(running: RunningSubPipeline, now: number): void {
    if (running.progress.currentWave === undefined) this.#settle(running, 'cancelled', now);
  }

  #settle(running: RunningSubPipeline, status: SubPipelineStatus, now: number, error?: string): void {
    const { id, startedAt, progress } = running;
    this.running.delete(id);
    this.settledCount += 1;
    pushRecent(this.lastSettled, {
      id,
      status,
      waves: progress.settledWaveCount,
      durationMs: now - startedAt,
      reused: progress.allReused === true,
      error,
    });
  }
}

function isWaveStart(event: LiveEvent): boolean {
  return event.kind === 'wave' && event.phase === 'start' && event.within === undefined;
}
