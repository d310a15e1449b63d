import type { Span } from '@opentelemetry/api';
import type { AttemptFacts } from '../execution/invocation/attempt-observer.js';
import type { ItemEvent, TaskEvent, WaveEvent } from '../execution/events/event.js';
import type { Spans } from './spans.js';

/** What happens in the run of a pipeline, wherever that stands. */
export type PipelineEvent = TaskEvent | WaveEvent | ItemEvent;

/** The spans below the run of a pipeline: wave > task > attempt, and the runs of other pipelines inside its tasks. */
export class PipelineSpans {
  readonly #spans: Spans;
  readonly #above: Span;
  readonly #tasks = new Map<string, Span>();
  /** By `task` or `task[item]`: whose tool runs them. */
  readonly #within = new Map<string, PipelineSpans>();
  #wave: Span | undefined;

  constructor(spans: Spans, above: Span) {
    this.#spans = spans;
    this.#above = above;
  }

  /** A wave is at hand. */
  get isAtWork(): boolean {
    return this.#wave !== undefined;
  }

  /** The spans of the run inside a task, or inside a task of that, and so on: the outermost task first. */
  inside([caller, ...deeper]: readonly string[]): PipelineSpans {
    if (caller === undefined) return this;
    let within = this.#within.get(caller);
    if (within === undefined) {
      within = new PipelineSpans(this.#spans, this.#spanOf(caller));
      this.#within.set(caller, within);
    }
    return within.inside(deeper);
  }

  hear(event: PipelineEvent, timeMs: number): void {
    if (event.kind === 'wave') this.#turnWave(event, timeMs);
    else if (event.kind === 'start') this.#startTask(event, timeMs);
    else if (event.kind === 'item') this.#leave(`${event.task_id}[${event.item}]`, timeMs);
    else this.#endTask(event, timeMs);
  }

  /** An attempt begins; to be called with its end. */
  attempt({ task_id: taskId, tool, item, attempt }: AttemptFacts, timeMs: number): Ended {
    const parent = this.#tasks.get(taskId) ?? this.#wave ?? this.#above;
    const span = this.#spans.begin(parent, `attempt ${attempt}`, timeMs, {
      'wavetrain.attempt': attempt,
      'wavetrain.task.id': taskId,
      'wavetrain.tool': tool,
      ...(item !== undefined && { 'wavetrain.item': item }),
    });
    return (endMs, error) => this.#spans.end(span, endMs, error);
  }

  /** Ends what is open, the innermost first. */
  end(timeMs: number): void {
    for (const caller of this.#within.keys()) this.#leave(caller, timeMs);
    for (const span of this.#tasks.values()) this.#spans.end(span, timeMs);
    this.#tasks.clear();
    if (this.#wave !== undefined) this.#spans.end(this.#wave, timeMs);
    this.#wave = undefined;
  }

  #spanOf(caller: string): Span {
    return this.#tasks.get(taskOf(caller)) ?? this.#wave ?? this.#above;
  }

  #leave(caller: string, timeMs: number): void {
    this.#within.get(caller)?.end(timeMs);
    this.#within.delete(caller);
  }

  #turnWave({ wave, phase, tasks }: WaveEvent, timeMs: number): void {
    if (this.#wave !== undefined) this.#spans.end(this.#wave, timeMs);
    const facts = { 'wavetrain.wave': wave, 'wavetrain.wave.tasks': tasks };
    this.#wave =
      phase === 'start' ? this.#spans.begin(this.#above, `wave ${wave}`, timeMs, facts) : undefined;
  }

  #startTask({ task_id: taskId, tool, items, reused }: TaskEvent, timeMs: number): void {
    const span = this.#spans.begin(this.#wave ?? this.#above, `task ${taskId}`, timeMs, {
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
    for (const caller of this.#within.keys()) {
      if (taskOf(caller) === taskId) this.#leave(caller, timeMs);
    }
    this.#tasks.delete(taskId);
    if (attempt !== undefined) span.setAttribute('wavetrain.task.attempts', attempt);
    this.#spans.end(span, timeMs, error);
  }
}

/** The id of the task in `task` or `task[item]`. */
function taskOf(caller: string): string {
  const bracket = caller.indexOf('[');
  return bracket < 0 ? caller : caller.slice(0, bracket);
}

export type Ended = (timeMs: number, error?: string) => void;
