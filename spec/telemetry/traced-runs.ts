import { type HrTime, SpanStatusCode } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { RegistryOptions } from '../../lib/runs/registry-options.js';
import { RunTracer } from '../../lib/telemetry/run-spans.js';
import { Spans } from '../../lib/telemetry/spans.js';
import { ManualClock } from '../support/manual-clock.js';
import { ControlledRuns } from '../runs/controlled-runs.js';
import { ControlledPlans } from '../runs/controlled-plans.js';

/** Creates runs with these observers. */
type Holding<H extends ControlledRuns> = (options: RegistryOptions) => H;

/** Runs that a spec controls, and their ended spans. */
export class Traced<H extends ControlledRuns> {
  readonly held: H;
  readonly tracer: RunTracer;
  readonly spans: Spans;
  readonly #clock = new ManualClock();
  readonly #began = this.#clock.now();
  readonly #exporter = new InMemorySpanExporter();

  constructor(holding: Holding<H>) {
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.#exporter)] });
    this.spans = new Spans(provider.getTracer('spec'));
    this.tracer = new RunTracer(this.spans, this.#clock);
    const { onEvent, onSettled, onAttempt } = this.tracer;
    this.held = holding({ onEvent, onSettled, onAttempt, clock: this.#clock });
  }

  /** Advances the clock and lets the woken code run. */
  async advance(ms: number): Promise<void> {
    this.#clock.advance(ms);
    await this.held.waitUntilIdle();
  }

  /** Sets the wall clock forwards, or back when negative. */
  stepWall(ms: number): void {
    this.#clock.stepWall(ms);
  }

  /** The ended spans, in the order in which they ended. */
  get ended(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /**
   * The ended spans as `run p > wave 0 > task a 0-1500`: the path from the root, and start and end in milliseconds
   * since the first run was created; a failed span adds `!` and its error.
   */
  get lines(): string[] {
    return this.ended.map((span) => {
      const { code, message } = span.status;
      const failure = code === SpanStatusCode.ERROR ? ` ! ${message}` : '';
      return `${this.#path(span)} ${this.#since(span.startTime)}-${this.#since(span.endTime)}${failure}`;
    });
  }

  /** Returns the only span of a name. */
  named(name: string): ReadableSpan {
    const [span, ...others] = this.ended.filter((span) => span.name === name);
    if (span === undefined || others.length > 0) throw new Error(`there is not one span "${name}"`);
    return span;
  }

  #path(span: ReadableSpan): string {
    const above = span.parentSpanContext?.spanId;
    if (above === undefined) return span.name;
    const parent = this.ended.find((other) => other.spanContext().spanId === above);
    if (parent === undefined) return `? > ${span.name}`;
    if (parent.spanContext().traceId !== span.spanContext().traceId) throw new Error('another trace');
    return `${this.#path(parent)} > ${span.name}`;
  }

  #since([seconds, nanos]: HrTime): number {
    return seconds * 1000 + nanos / 1e6 - this.#began;
  }
}

export class TracedRuns extends Traced<ControlledRuns> {
  constructor(pipeline?: string, options: RegistryOptions = {}) {
    super((observers) => new ControlledRuns({ ...observers, ...options }, pipeline));
  }
}

export class TracedPlans extends Traced<ControlledPlans> {
  /** @param head further fields of the plan, each followed by a comma */
  constructor(subPipelines: readonly string[], options: RegistryOptions = {}, head = '') {
    super((observers) => new ControlledPlans(subPipelines, { ...observers, ...options }, { head }));
  }
}
