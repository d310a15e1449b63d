import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

/** Makes spans with the times and parents they are told, and knows those that have not ended. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #open = new Set<Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** Spans that have not ended. */
  get open(): number {
    return this.#open.size;
  }

  begin(parent: Span | undefined, name: string, timeMs: number, attributes: Attributes): Span {
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, parent);
    const span = this.#tracer.startSpan(name, { attributes, startTime: timeMs }, context);
    this.#open.add(span);
    return span;
  }

  /** Something happened within the span. */
  note(span: Span, name: string, timeMs: number): void {
    span.addEvent(name, timeMs);
  }

  /** The span has failed. */
  blame(span: Span, timeMs: number, error: string): void {
    span.recordException({ message: error }, timeMs);
    span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  }

  /** Ends a span once; whoever comes later is not heard. */
  end(span: Span, timeMs: number, error?: string): void {
    if (!this.#open.delete(span)) return;
    if (error !== undefined) this.blame(span, timeMs, error);
    span.end(timeMs);
  }

  /** Ends what is open, the innermost first. */
  endAll(timeMs: number): void {
    for (const span of [...this.#open].toReversed()) this.end(span, timeMs);
  }
}
