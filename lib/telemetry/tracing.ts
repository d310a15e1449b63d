import type { Environment } from '../common/config.js';
import { WavetrainError } from '../common/errors.js';
import type { TraceOutlet, TraceSettings, Tracing, TracingOptions } from './otlp.js';

/**
 * Reads the standard variables of OpenTelemetry: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_ENDPOINT`,
 * `OTEL_SDK_DISABLED`, `OTEL_TRACES_EXPORTER`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. Answers undefined
 * when no traces are asked for. Headers, sampling, sizes and limits of time are read by the SDK itself.
 *
 * @throws WavetrainError `bad_usage` when the endpoint is no address
 */
export function readTraceSettings(env: Environment): TraceSettings | undefined {
  const read = (name: string): string => env[name]?.trim() ?? '';
  const url = endpointOf(read);
  if (url === undefined || isTurnedOff(read)) return undefined;
  const attributes = attributesOf(read('OTEL_RESOURCE_ATTRIBUTES'));
  const name = read('OTEL_SERVICE_NAME');
  return {
    url,
    resource: {
      'service.name': 'wavetrain',
      ...attributes,
      ...(name !== '' && { 'service.name': name }),
    },
    warnings: [
      ...(attributes === undefined ? ['OTEL_RESOURCE_ATTRIBUTES is ignored: it must be as in a=1,b=2'] : []),
      ...protocolWarning(read),
    ],
  };
}

type Read = (name: string) => string;

function endpointOf(read: Read): string | undefined {
  const own = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (own !== '') return checked('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own);
  const common = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (common === '') return undefined;
  return `${checked('OTEL_EXPORTER_OTLP_ENDPOINT', common).replace(/\/+$/, '')}/v1/traces`;
}

function checked(name: string, url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new WavetrainError(
    'bad_usage',
    `the environment variable ${name} must be the address of a collector, as in ${name}=http://localhost:4318`,
  );
}

function isTurnedOff(read: Read): boolean {
  if (read('OTEL_SDK_DISABLED').toLowerCase() === 'true') return true;
  const exporters = read('OTEL_TRACES_EXPORTER');
  return exporters !== '' && !exporters.split(',').some((name) => name.trim() === 'otlp');
}

function protocolWarning(read: Read): string[] {
  const protocol = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || read('OTEL_EXPORTER_OTLP_PROTOCOL');
  return protocol === 'grpc' ? ['traces are sent over HTTP: the endpoint must not be one for gRPC'] : [];
}

/** Pairs as in `a=1,b=2`, percent-encoded. Undefined when one of them is none: then none of them counts. */
function attributesOf(text: string): Record<string, string> | undefined {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const pairs = parts.map((part) => part.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair[0]?.trim() === '')) return undefined;
  try {
    return Object.fromEntries(pairs.map((pair) => pair.map((side) => decodeURIComponent(side.trim()))));
  } catch {
    return undefined;
  }
}

export type { Tracing, TracingOptions } from './otlp.js';

/**
 * Opens tracing when the standard variables of OpenTelemetry ask for it (D35); otherwise answers undefined and loads
 * nothing.
 *
 * @param outlet stands in for the collector, in specs
 * Rejects with `bad_usage` when the endpoint is no address.
 */
export async function openTracing(
  env: Environment,
  options: TracingOptions,
  outlet?: TraceOutlet,
): Promise<Tracing | undefined> {
  const settings = readTraceSettings(env);
  if (settings === undefined) return undefined;
  const { openOtlp } = await import('./otlp.js');
  return openOtlp(settings, options, outlet);
}
