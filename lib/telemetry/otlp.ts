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
import { errorMessage } from '../common/errors.js';
import { createNodeAgent } from '../common/requests/node-agent.js';
import type { Outbound } from '../common/requests/outbound.js';
import type { AttemptObserver } from '../execution/invocation/attempt/attempt-observer.js';
import type { LiveEvent } from '../execution/events/event.js';
import type { RunIdentity, SettledRun } from '../runs/run-entry.js';
import { RunTracer } from './run-spans.js';
import { Spans } from './spans.js';

/** The collector, and the resource attributes of this service. */
export interface TraceSettings {
  readonly url: string;
  /** Includes `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  /** The proxies, and the certificates that are trusted; absent when nothing is configured. */
  readonly outbound?: Outbound;
  /** Settings that were ignored, as sentences. */
  readonly warnings: readonly string[];
}

/** Observes all runs and exports a trace of each. */
export interface Tracing {
  readonly onEvent: (event: LiveEvent, run: RunIdentity) => void;
  readonly onSettled: (run: Pick<SettledRun, 'id'>) => void;
  readonly onAttempt: AttemptObserver;
  /** Exports the remaining spans, for at most three seconds. Never rejects. */
  close(): Promise<void>;
}

export interface TracingOptions {
  /** The clock of the runs, so that the times of attempts match those of events. */
  readonly clock: Clock;
  /** Called with a sentence when traces cannot be exported. */
  readonly warn: (message: string) => void;
}

/** Creates the parts that export spans. Specs replace them. */
export interface SpanExport {
  readonly exporter: (url: string, outbound?: Outbound) => SpanExporter;
  readonly processor: (exporter: SpanExporter) => SpanProcessor;
}

const OTLP: SpanExport = {
  exporter: (url, outbound) => {
    if (outbound === undefined) return new OTLPTraceExporter({ url });
    return new OTLPTraceExporter({ url, httpAgentOptions: () => createNodeAgent(new URL(url), outbound) });
  },
  processor: (exporter) => new BatchSpanProcessor(exporter),
};

/** Spans that are not exported by then are lost: a server must stop even if its collector does not respond. */
const CLOSE_LIMIT_MS = 3000;

/** Starts to export traces by OTLP over HTTP. */
export function startOtlp(
  { url, outbound, resource, warnings }: TraceSettings,
  { clock, warn }: TracingOptions,
  { exporter, processor }: SpanExport = OTLP,
): Tracing {
  diag.setLogger(createDiagLogger(warn), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  for (const warning of warnings) warn(warning);
  const provider = new BasicTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    spanProcessors: [processor(exporter(url, outbound))],
  });
  const tracer = new RunTracer(new Spans(provider.getTracer('wavetrain')), clock);
  return {
    onEvent: tracer.onEvent,
    onSettled: tracer.onSettled,
    onAttempt: tracer.onAttempt,
    async close() {
      tracer.close();
      await new Promise<void>((resolve) => {
        const giveUp = (reason: string): void => {
          warn(`the last traces were not sent: ${reason}`);
          resolve();
        };
        const timer = clock.setTimeout(
          () => giveUp(`no response within ${CLOSE_LIMIT_MS / 1000} s`),
          CLOSE_LIMIT_MS,
        );
        provider
          .shutdown()
          .then(resolve, (error: unknown) => giveUp(errorMessage(error)))
          .finally(() => clock.clearTimeout(timer));
      });
      diag.disable();
    },
  };
}

/** Logs the problems of the SDK without repetitions: an unreachable collector fails every export. */
function createDiagLogger(warn: (message: string) => void): DiagLogger {
  let last: string | undefined;
  const log = (text: string): void => {
    const message = extractMessage(text);
    if (message !== last) warn(`traces: ${message}`);
    last = message;
  };
  const ignore = (): void => {};
  return { error: log, warn: log, info: ignore, debug: ignore, verbose: ignore };
}

/** The SDK logs errors as JSON, with their stacks. */
function extractMessage(text: string): string {
  const message = /"message":("(?:[^"\\]|\\.)*")/.exec(text)?.[1];
  return message === undefined ? text : String(JSON.parse(message));
}
