import type { Span } from '@opentelemetry/api';
import type { AttemptFacts } from '../execution/attempt-observer.js';
import type { LiveEvent, TaskEvent } from '../execution/event.js';
import type { RunFacts } from '../runs/registry.js';
import type { Spans } from './spans.js';

/** The spans of one run: run > wave > task > attempt. */
export class RunSpans {
  readonly #spans: Spans;
  readonly #root: Span;
  readonly #tasks = new Map<string, Span>();
  #wave: Span | undefined;
  #hasStatus = false;

  constructor(spans: Spans, run: RunFacts, timeMs: number) {
    this.#spans = spans;
    this.#root = spans.begin(undefined, `run ${run.pipeline_id}`, timeMs, {
      'wavetrain.run.id': run.run_id,
      'wavetrain.pipeline.id': run.pipeline_id,
      'wavetrain.tenant.id': run.tenant_id,
    });
  }

  /** Takes what comes next, and answers whether the run is over. */
  hear(event: LiveEvent, timeMs: number): boolean {
    if (event.kind === 'run') this.#enter(event, timeMs);
    else if (event.kind === 'wave') this.#turnWave(event, timeMs);
    else if (event.kind === 'start') this.#startTask(event, timeMs);
    else if (event.kind === 'finish' || event.kind === 'fail') this.#endTask(event, timeMs);
    // A cancelled run has its last status while its wave still drains (D21).
    const isOver = this.#hasStatus && this.#wave === undefined;
    if (isOver) this.#spans.end(this.#root, timeMs);
    return isOver;
  }

  /** An attempt begins; to be called with its end. */
  attempt({ task_id: taskId, tool, item, attempt }: AttemptFacts, timeMs: number): Ended {
    const parent = this.#tasks.get(taskId) ?? this.#wave ?? this.#root;
    const span = this.#spans.begin(parent, `attempt ${attempt}`, timeMs, {
      'wavetrain.attempt': attempt,
      'wavetrain.task.id': taskId,
      'wavetrain.tool': tool,
      ...(item !== undefined && { 'wavetrain.item': item }),
    });
    return (endMs, error) => this.#spans.end(span, endMs, error);
  }

  #enter({ status, error }: Extract<LiveEvent, { kind: 'run' }>, timeMs: number): void {
    this.#root.setAttribute('wavetrain.run.status', status);
    if (status === 'queued') return;
    if (status === 'running') this.#spans.note(this.#root, 'running', timeMs);
    else this.#hasStatus = true;
    if (error !== undefined) this.#spans.blame(this.#root, timeMs, error);
  }

  #turnWave({ wave, phase, tasks }: Extract<LiveEvent, { kind: 'wave' }>, timeMs: number): void {
    if (this.#wave !== undefined) this.#spans.end(this.#wave, timeMs);
    const facts = { 'wavetrain.wave': wave, 'wavetrain.wave.tasks': tasks };
    this.#wave = phase === 'start' ? this.#spans.begin(this.#root, `wave ${wave}`, timeMs, facts) : undefined;
  }

  #startTask({ task_id: taskId, tool, items, reused }: TaskEvent, timeMs: number): void {
    const span = this.#spans.begin(this.#wave ?? this.#root, `task ${taskId}`, timeMs, {
      'wavetrain.task.id': taskId,
      'wavetrain.tool': tool,
      ...(items !== undefined && { 'wavetrain.task.items': items }),
      ...(reused && { 'wavetrain.task.reused': true }),
    });
    this.#tasks.set(taskId, span);
  }

  #endTask({ task_id: taskId, attempt, error }: TaskEvent, timeMs: number): void {
    const span = this.#tasks.get(taskId);
    if (span === undefined) return;
    this.#tasks.delete(taskId);
    if (attempt !== undefined) span.setAttribute('wavetrain.task.attempts', attempt);
    this.#spans.end(span, timeMs, error);
  }
}

export type Ended = (timeMs: number, error?: string) => void;
