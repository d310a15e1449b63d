import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

/** Creates spans with explicit times and parents, and tracks those that have not ended. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #open = new Set<Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Number of spans that have not ended. */
  get open(): number {
    return this.#open.size;
  }

  start(parent: Span | undefined, name: string, timeMs: number, attributes: Attributes): Span {
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
    const span = this.#tracer.startSpan(name, { attributes, startTime: timeMs }, context);
    this.#open.add(span);
    return span;
  }

  /** Ends a span, as failed if there is an error. Does nothing if it has ended already. */
  end(span: Span, timeMs: number, error?: string): void {
    if (!this.#open.delete(span)) return;
    if (error !== undefined) recordError(span, timeMs, error);
    span.end(timeMs);
  }

  /** Ends all open spans, children before their parents. */
  endAll(timeMs: number): void {
    for (const span of [...this.#open].toReversed()) this.end(span, timeMs);
  }
}

/** Marks a span as failed. */
export function recordError(span: Span, timeMs: number, error: string): void {
  span.recordException({ message: error }, timeMs);
  span.setStatus({ code: SpanStatusCode.ERROR, message: error });
}
