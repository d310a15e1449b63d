import type { Attributes, Span } from '@opentelemetry/api';
import { type Clock, Timeline } from '../common/clock.js';
import type { AttemptInfo, AttemptObserver } from '../execution/invocation/attempt/attempt-observer.js';
import type { LiveEvent, SubPipelineEvent } from '../execution/events/event.js';
import type { RunIdentity, SettledRun } from '../runs/run-entry.js';
import { type EndSpan, type PipelineEvent, PipelineSpans } from './pipeline-spans.js';
import { recordError, type Spans } from './spans.js';

/** Creates a trace of every run from its events, and forgets a run when it is over. */
export class RunTracer {
  readonly #spans: Spans;
  readonly #clock: Clock;
  readonly #runs = new Map<string, RunSpans>();

  constructor(spans: Spans, clock: Clock) {
    this.#spans = spans;
    this.#clock = clock;
  }

  /** Number of runs that are not over. */
  get size(): number {
    return this.#runs.size;
  }

  readonly onEvent = (event: LiveEvent, run: RunIdentity): void => {
    const timeMs = Date.parse(event.time);
    const spans = this.#runs.get(run.run_id) ?? this.#startRun(event, run, timeMs);
    if (spans?.onEvent(event, timeMs)) this.#runs.delete(run.run_id);
  };

  /** Ends the trace of a run whose handlers have run: none of its events says that they have ended (D80). */
  readonly onSettled = ({ id }: Pick<SettledRun, 'id'>): void => {
    this.#runs.get(id)?.endHandled();
    this.#runs.delete(id);
  };

  readonly onAttempt: AttemptObserver = (attempt) => {
    const run = this.#runs.get(attempt.runId);
    if (run === undefined) return ignoreEnd;
    const end = run.startAttempt(attempt, run.now());
    return (error) => end(run.now(), error);
  };

  /** Ends the spans of runs that are not over. */
  close(): void {
    const times = Array.from(this.#runs.values(), (run) => run.now());
    this.#runs.clear();
    this.#spans.endAll(Math.max(this.#clock.now(), ...times));
  }

  /** Starts a trace on the first event only: a tool may still emit events when its run is over. */
  #startRun(event: LiveEvent, run: RunIdentity, timeMs: number): RunSpans | undefined {
    if (event.kind !== 'run' || event.seq !== 1) return undefined;
    const spans = new RunSpans(this.#spans, run, this.#clock, timeMs);
    this.#runs.set(run.run_id, spans);
    return spans;
  }
}

function ignoreEnd(): void {}

const NO_CALLERS: readonly string[] = [];

/** The span of a run or of a sub-pipeline, and the spans below it. */
interface RunSpan {
  readonly span: Span;
  readonly pipeline: PipelineSpans;
  /** True when the status is final, though the wave may still be draining (D21). */
  hasFinalStatus: boolean;
  /** True when handlers run after the final status: the span ends when the whole run has settled. */
  isHandling: boolean;
  lastEventMs: number;
}

/** The spans of one run: run > wave > task > attempt; of a plan: run > sub-pipeline > wave > task > attempt. */
class RunSpans {
  readonly #spans: Spans;
  readonly #run: RunSpan;
  readonly #timeline: Timeline;
  #lastEventMs: number;
  /** The sub-runs that are not over, by the id of their sub-pipeline. */
  readonly #subRuns = new Map<string, RunSpan>();

  constructor(spans: Spans, run: RunIdentity, clock: Clock, timeMs: number) {
    this.#spans = spans;
    this.#timeline = new Timeline(clock, timeMs);
    this.#lastEventMs = timeMs;
    this.#run = this.#start(undefined, `run ${run.pipeline_id}`, timeMs, {
      'wavetrain.run.id': run.run_id,
      'wavetrain.pipeline.id': run.pipeline_id,
      'wavetrain.tenant.id': run.tenant_id,
    });
  }

  /** The time in milliseconds since 1970, UTC: never before that of an event that has happened. */
  now(): number {
    return Math.max(this.#lastEventMs, this.#timeline.now());
  }

  /** Handles the next event. Returns true when the run is over. */
  onEvent(event: LiveEvent, timeMs: number): boolean {
    this.#lastEventMs = timeMs;
    if (!isTraced(event)) return false;
    if (event.kind === 'run') this.#setStatus(this.#run, event, timeMs);
    else if (event.kind === 'sub_pipeline') this.#onSubPipelineEvent(event, timeMs);
    else this.#onPipelineEvent(event, timeMs);
    if (!isOver(this.#run) || this.#subRuns.size > 0) return false;
    this.#end(this.#run, timeMs);
    return true;
  }

  /** Ends what is open of a run that has settled, each part with its last event. */
  endHandled(): void {
    for (const subRun of this.#subRuns.values()) this.#end(subRun, subRun.lastEventMs);
    this.#end(this.#run, this.#lastEventMs);
  }

  /** Starts the span of an attempt and returns the function that ends it. */
  startAttempt(attempt: AttemptInfo, timeMs: number): EndSpan {
    const { sub_pipeline: id, within = NO_CALLERS } = attempt.location;
    return this.#find(id).pipeline.nested(within).startAttempt(attempt, timeMs);
  }

  #onSubPipelineEvent(event: SubPipelineEvent, timeMs: number): void {
    const { sub_pipeline: id } = event;
    let subRun = this.#subRuns.get(id);
    if (subRun === undefined) {
      const attributes = { 'wavetrain.sub_pipeline.id': id };
      subRun = this.#start(this.#run.span, `sub-pipeline ${id}`, timeMs, attributes);
      this.#subRuns.set(id, subRun);
    }
    this.#setStatus(subRun, event, timeMs);
    this.#endIfOver(id, timeMs);
  }

  #onPipelineEvent(event: PipelineEvent, timeMs: number): void {
    const { sub_pipeline: id, within = NO_CALLERS } = event;
    const run = this.#find(id);
    run.lastEventMs = timeMs;
    run.pipeline.nested(within).onEvent(event, timeMs);
    if (id !== undefined) this.#endIfOver(id, timeMs);
  }

  #find(subPipelineId: string | undefined): RunSpan {
    return (subPipelineId === undefined ? undefined : this.#subRuns.get(subPipelineId)) ?? this.#run;
  }

  #start(parent: Span | undefined, name: string, timeMs: number, attributes: Attributes): RunSpan {
    const span = this.#spans.start(parent, name, timeMs, attributes);
    const pipeline = new PipelineSpans(this.#spans, span);
    return { span, pipeline, hasFinalStatus: false, isHandling: false, lastEventMs: timeMs };
  }

  #setStatus(
    run: RunSpan,
    { kind, status, error, handling }: Extract<LiveEvent, { readonly status: unknown }>,
    timeMs: number,
  ): void {
    const { span } = run;
    span.setAttribute(kind === 'run' ? 'wavetrain.run.status' : 'wavetrain.sub_pipeline.status', status);
    if (status === 'queued') return;
    if (status === 'running') span.addEvent('running', timeMs);
    else run.hasFinalStatus = true;
    run.isHandling = handling === true;
    if (error !== undefined) recordError(span, timeMs, error);
  }

  #endIfOver(subPipelineId: string, timeMs: number): void {
    const subRun = this.#subRuns.get(subPipelineId);
    if (subRun === undefined || !isOver(subRun)) return;
    this.#subRuns.delete(subPipelineId);
    this.#end(subRun, timeMs);
  }

  #end({ span, pipeline }: RunSpan, timeMs: number): void {
    pipeline.end(timeMs);
    this.#spans.end(span, timeMs);
  }
}

/** A cancelled run has its final status while its wave is still draining (D21). */
function isOver({ hasFinalStatus, isHandling, pipeline }: RunSpan): boolean {
  return hasFinalStatus && !isHandling && !pipeline.isInWave;
}

type UntracedEvent = Extract<LiveEvent, { readonly kind: 'retry' | 'round' | 'log' | 'text' | 'usage' }>;

function isTraced(event: LiveEvent): event is Exclude<LiveEvent, UntracedEvent> {
  return !['retry', 'round', 'log', 'text', 'usage'].includes(event.kind);
}
