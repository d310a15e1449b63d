import type { Span } from '@opentelemetry/api';
import type { AttemptInfo } from '../execution/invocation/attempt/attempt-observer.js';
import type { ItemEvent, TaskEvent, WaveEvent } from '../execution/events/event.js';
import type { Spans } from './spans.js';

/** An event of the run of a pipeline: a run of its own, a sub-run or a nested run. */
export type PipelineEvent = TaskEvent | WaveEvent | ItemEvent;

export type EndSpan = (timeMs: number, error?: string) => void;

/** The spans below the run of a pipeline: wave > task > attempt, and nested runs below their tasks. */
export class PipelineSpans {
  readonly #spans: Spans;
  readonly #parent: Span;
  readonly #tasks = new Map<string, Span>();
  /** Nested runs by their caller: `task` or `task[item]`. */
  readonly #nestedRuns = new Map<string, PipelineSpans>();
  #wave: Span | undefined;

  constructor(spans: Spans, parent: Span) {
    this.#spans = spans;
    this.#parent = parent;
  }

  /** A wave has started and not ended. */
  get isInWave(): boolean {
    return this.#wave !== undefined;
  }

  /** Returns the spans of a nested run, given the path of its callers from the outermost. */
  nested([caller, ...path]: readonly string[]): PipelineSpans {
    if (caller === undefined) return this;
    let spans = this.#nestedRuns.get(caller);
    if (spans === undefined) {
      spans = new PipelineSpans(this.#spans, this.#findParent(parseTaskId(caller)));
      this.#nestedRuns.set(caller, spans);
    }
    return spans.nested(path);
  }

  onEvent(event: PipelineEvent, timeMs: number): void {
    if (event.kind === 'wave') this.#onWave(event, timeMs);
    else if (event.kind === 'start') this.#startTask(event, timeMs);
    else if (event.kind === 'skip') this.#skipTask(event, timeMs);
    else if (event.kind === 'item') this.#endNestedRun(`${event.task_id}[${event.item}]`, timeMs);
    else this.#endTask(event, timeMs);
  }

  /** Starts the span of an attempt and returns the function that ends it. */
  startAttempt({ taskId, tool, item, attempt }: AttemptInfo, timeMs: number): EndSpan {
    const span = this.#spans.start(this.#findParent(taskId), `attempt ${attempt}`, timeMs, {
      'wavetrain.attempt': attempt,
      'wavetrain.task.id': taskId,
      'wavetrain.tool': tool,
      ...(item !== undefined && { 'wavetrain.item': item }),
    });
    return (endMs, error) => this.#spans.end(span, endMs, error);
  }

  /** Ends all open spans, children before their parents. */
  end(timeMs: number): void {
    for (const caller of this.#nestedRuns.keys()) this.#endNestedRun(caller, timeMs);
    for (const span of this.#tasks.values()) this.#spans.end(span, timeMs);
    this.#tasks.clear();
    if (this.#wave !== undefined) this.#spans.end(this.#wave, timeMs);
    this.#wave = undefined;
  }

  #findParent(taskId: string): Span {
    return this.#tasks.get(taskId) ?? this.#wave ?? this.#parent;
  }

  #endNestedRun(caller: string, timeMs: number): void {
    this.#nestedRuns.get(caller)?.end(timeMs);
    this.#nestedRuns.delete(caller);
  }

  #onWave({ wave, handler, phase, tasks }: WaveEvent, timeMs: number): void {
    if (this.#wave !== undefined) this.#spans.end(this.#wave, timeMs);
    const attributes = {
      'wavetrain.wave': wave,
      'wavetrain.wave.tasks': tasks,
      ...(handler && { 'wavetrain.wave.handlers': handler }),
    };
    this.#wave =
      phase === 'start'
        ? this.#spans.start(this.#parent, handler ?? `wave ${wave}`, timeMs, attributes)
        : undefined;
  }

  #startTask({ task_id: taskId, tool, items, reused }: TaskEvent, timeMs: number): void {
    const span = this.#spans.start(this.#wave ?? this.#parent, `task ${taskId}`, timeMs, {
      'wavetrain.task.id': taskId,
      'wavetrain.tool': tool,
      ...(items !== undefined && { 'wavetrain.task.items': items }),
      ...(reused && { 'wavetrain.task.reused': true }),
    });
    this.#tasks.set(taskId, span);
  }

  #skipTask(event: TaskEvent, timeMs: number): void {
    this.#startTask(event, timeMs);
    this.#tasks.get(event.task_id)?.setAttribute('wavetrain.task.skip_reason', event.reason ?? '');
    this.#endTask(event, timeMs);
  }

  #endTask({ task_id: taskId, attempt, error }: TaskEvent, timeMs: number): void {
    const span = this.#tasks.get(taskId);
    if (span === undefined) return;
    for (const caller of this.#nestedRuns.keys()) {
      if (parseTaskId(caller) === taskId) this.#endNestedRun(caller, timeMs);
    }
    this.#tasks.delete(taskId);
    if (attempt !== undefined) span.setAttribute('wavetrain.task.attempts', attempt);
    this.#spans.end(span, timeMs, error);
  }
}

/** Returns the task id of a caller, `task` or `task[item]`. */
function parseTaskId(caller: string): string {
  const bracket = caller.indexOf('[');
  return bracket < 0 ? caller : caller.slice(0, bracket);
}
