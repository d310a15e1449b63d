import type { Span } from '@opentelemetry/api';
import type { Clock } from '../common/clock.js';
import type { AttemptFacts, AttemptObserver } from '../execution/invocation/attempt-observer.js';
import type { LiveEvent, SubPipelineEvent } from '../execution/events/event.js';
import type { RunFacts } from '../runs/registry.js';
import { type Ended, type PipelineEvent, PipelineSpans } from './pipeline-spans.js';
import type { Spans } from './spans.js';

const NOWHERE: readonly string[] = [];

/** A pipeline at work: of the run itself, or of a part of a plan. */
interface Part {
  readonly span: Span;
  readonly pipeline: PipelineSpans;
  /** It has come to its last status, though its wave may still drain (D21). */
  hasEnded: boolean;
}

/** The spans of one run: run > wave > task > attempt; of a plan: run > sub-pipeline > wave > task > attempt. */
class RunSpans {
  readonly #spans: Spans;
  readonly #whole: Part;
  /** Sub-pipelines of a plan that are not over, by id. */
  readonly #parts = new Map<string, Part>();

  constructor(spans: Spans, run: RunFacts, timeMs: number) {
    this.#spans = spans;
    this.#whole = this.#part(undefined, `run ${run.pipeline_id}`, timeMs, {
      'wavetrain.run.id': run.run_id,
      'wavetrain.pipeline.id': run.pipeline_id,
      'wavetrain.tenant.id': run.tenant_id,
    });
  }

  /** Takes what comes next, and answers whether the run is over. */
  hear(event: LiveEvent, timeMs: number): boolean {
    if (event.kind === 'retry' || event.kind === 'log') return false;
    if (event.kind === 'run') this.#enter(this.#whole, event, timeMs);
    else this.#hearPart(event, timeMs);
    if (!isOver(this.#whole) || this.#parts.size > 0) return false;
    this.#end(this.#whole, timeMs);
    return true;
  }

  #hearPart(event: SubPipelineEvent | PipelineEvent, timeMs: number): void {
    const { sub_pipeline: id } = event;
    const part = event.kind === 'sub_pipeline' ? this.#begunPart(event, timeMs) : this.#partOf(id);
    if (event.kind === 'sub_pipeline') this.#enter(part, event, timeMs);
    else part.pipeline.inside(event.within ?? NOWHERE).hear(event, timeMs);
    if (id === undefined || part === this.#whole || !isOver(part)) return;
    this.#parts.delete(id);
    this.#end(part, timeMs);
  }

  /** An attempt begins; to be called with its end. */
  attempt(facts: AttemptFacts, timeMs: number): Ended {
    const { sub_pipeline: id, within = NOWHERE } = facts.place;
    return this.#partOf(id).pipeline.inside(within).attempt(facts, timeMs);
  }

  #partOf(id: string | undefined): Part {
    return (id === undefined ? undefined : this.#parts.get(id)) ?? this.#whole;
  }

  #begunPart({ sub_pipeline: id }: SubPipelineEvent, timeMs: number): Part {
    const known = this.#parts.get(id);
    if (known !== undefined) return known;
    const facts = { 'wavetrain.sub_pipeline.id': id };
    const part = this.#part(this.#whole.span, `sub-pipeline ${id}`, timeMs, facts);
    this.#parts.set(id, part);
    return part;
  }

  #part(above: Span | undefined, name: string, timeMs: number, facts: Record<string, string>): Part {
    const span = this.#spans.begin(above, name, timeMs, facts);
    return { span, pipeline: new PipelineSpans(this.#spans, span), hasEnded: false };
  }

  #enter(
    part: Part,
    { kind, status, error }: Extract<LiveEvent, { readonly status: unknown }>,
    timeMs: number,
  ): void {
    const { span } = part;
    span.setAttribute(kind === 'run' ? 'wavetrain.run.status' : 'wavetrain.sub_pipeline.status', status);
    if (status === 'queued') return;
    if (status === 'running') this.#spans.note(span, 'running', timeMs);
    else part.hasEnded = true;
    if (error !== undefined) this.#spans.blame(span, timeMs, error);
  }

  #end({ span, pipeline }: Part, timeMs: number): void {
    pipeline.end(timeMs);
    this.#spans.end(span, timeMs);
  }
}

/** A cancelled run has its last status while its wave still drains (D21). */
function isOver({ hasEnded, pipeline }: Part): boolean {
  return hasEnded && !pipeline.isAtWork;
}

const NOT_TRACED = (): void => {};

/** Makes a trace of every run out of what it tells, and keeps nothing of a run that is over. */
export class RunTracer {
  readonly #spans: Spans;
  readonly #clock: Clock;
  readonly #runs = new Map<string, RunSpans>();

  constructor(spans: Spans, clock: Clock) {
    this.#spans = spans;
    this.#clock = clock;
  }

  /** Runs that are not over. */
  get size(): number {
    return this.#runs.size;
  }

  readonly onEvent = (event: LiveEvent, run: RunFacts): void => {
    const timeMs = Date.parse(event.time);
    const spans = this.#runs.get(run.run_id) ?? this.#begin(event, run, timeMs);
    if (spans?.hear(event, timeMs)) this.#runs.delete(run.run_id);
  };

  readonly onAttempt: AttemptObserver = (attempt) => {
    const ended = this.#runs.get(attempt.run_id)?.attempt(attempt, this.#clock.now());
    return ended === undefined ? NOT_TRACED : (error) => ended(this.#clock.now(), error);
  };

  /** Ends the spans of runs that are still at work. */
  close(): void {
    this.#runs.clear();
    this.#spans.endAll(this.#clock.now());
  }

  /** Only its first event begins a run: a tool may have a last word when its run is over. */
  #begin(event: LiveEvent, run: RunFacts, timeMs: number): RunSpans | undefined {
    if (event.kind !== 'run' || event.seq !== 1) return undefined;
    const spans = new RunSpans(this.#spans, run, timeMs);
    this.#runs.set(run.run_id, spans);
    return spans;
  }
}
