import { diag, type DiagLogger, DiagLogLevel } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { Clock } from '../common/clock.js';
import { messageOf } from '../common/errors.js';
import type { AttemptObserver } from '../execution/invocation/attempt-observer.js';
import type { LiveEvent } from '../execution/events/event.js';
import type { RunFacts } from '../runs/registry.js';
import { RunTracer } from './run-spans.js';
import { Spans } from './spans.js';

/** Where traces go, and what they say of this service. */
export interface TraceSettings {
  readonly url: string;
  /** Attributes of the resource, `service.name` among them. */
  readonly resource: Readonly<Record<string, string>>;
  /** What was asked for and cannot be done. */
  readonly warnings: readonly string[];
}

/** Watches every run and sends a trace of each. */
export interface Tracing {
  readonly onEvent: (event: LiveEvent, run: RunFacts) => void;
  readonly onAttempt: AttemptObserver;
  /** Sends what is left, as far as that is possible within three seconds. Never rejects. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** That of the runs, so that the times of attempts fit those of events. */
  readonly clock: Clock;
  /** Tells what keeps traces from being sent. */
  readonly warn: (message: string) => void;
}

/** What spans go through; specs bring their own. */
export interface TraceOutlet {
  readonly exporter: (url: string) => SpanExporter;
  readonly processor: (exporter: SpanExporter) => SpanProcessor;
}

const OTLP: TraceOutlet = {
  exporter: (url) => new OTLPTraceExporter({ url }),
  processor: (exporter) => new BatchSpanProcessor(exporter),
};

/** What was not sent by then is lost: a server must end though its collector does not answer. */
const CLOSE_LIMIT_MS = 3000;

/** Sends traces of runs by OTLP over HTTP. */
export function openOtlp(
  { url, resource, warnings }: TraceSettings,
  { clock, warn }: TracingOptions,
  outlet: TraceOutlet = OTLP,
): Tracing {
  diag.setLogger(tellingOnce(warn), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  for (const warning of warnings) warn(warning);
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    spanProcessors: [outlet.processor(outlet.exporter(url))],
  });
  const tracer = new RunTracer(new Spans(provider.getTracer('wavetrain')), clock);
  return {
    onEvent: tracer.onEvent,
    onAttempt: tracer.onAttempt,
    async close() {
      tracer.close();
      await new Promise<void>((resolve) => {
        const giveUp = (why: string): void => {
          warn(`the last traces were not sent: ${why}`);
          resolve();
        };
        const timer = clock.setTimeout(
          () => giveUp(`no answer within ${CLOSE_LIMIT_MS / 1000} s`),
          CLOSE_LIMIT_MS,
        );
        provider
          .shutdown()
          .then(resolve, (thrown: unknown) => giveUp(messageOf(thrown)))
          .finally(() => clock.clearTimeout(timer));
      });
      diag.disable();
    },
  };
}

/** What troubles the SDK, each thing once: a collector that is away is away for every batch. */
function tellingOnce(warn: (message: string) => void): DiagLogger {
  let last: string | undefined;
  const tell = (message: string): void => {
    const words = wordsOf(message);
    if (words !== last) warn(`traces: ${words}`);
    last = words;
  };
  const ignore = (): void => {};
  return { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore };
}

/** The SDK tells errors as JSON, with their stacks. */
function wordsOf(message: string): string {
  const words = /"message":("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  return words === undefined ? message : String(JSON.parse(words));
}
