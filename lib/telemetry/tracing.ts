import type { Environment } from '../common/config/environment.js';
import { readOutbound } from '../common/config/outbound-config.js';
import { errorCode, WavetrainError } from '../common/errors.js';
import type { SpanExport, TraceSettings, Tracing, TracingOptions } from './otlp.js';

export type { Tracing, TracingOptions } from './otlp.js';

/**
 * Starts tracing if the standard variables of OpenTelemetry ask for it (D35); else resolves with undefined and loads
 * nothing. Rejects with `bad_usage` when the endpoint is not a URL, or when OpenTelemetry is not installed.
 *
 * @param spanExport replaces the export to a collector in specs
 */
export async function openTracing(
  env: Environment,
  options: TracingOptions,
  spanExport?: SpanExport,
): Promise<Tracing | undefined> {
  const settings = readTraceSettings(env);
  if (settings === undefined) return undefined;
  const { startOtlp } = await loadOtlp();
  return startOtlp(settings, options, spanExport);
}

/** Optional peers of the package: most servers send no traces, and these are larger than all else together. */
const OTLP_PACKAGES = [
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-base',
];

async function loadOtlp(): Promise<typeof import('./otlp.js')> {
  try {
    return await import('./otlp.js');
  } catch (error) {
    if (errorCode(error)?.endsWith('MODULE_NOT_FOUND') !== true) throw error;
    throw new WavetrainError(
      'bad_usage',
      `OTEL_EXPORTER_OTLP_ENDPOINT asks for traces, but OpenTelemetry is not installed: run "npm install ${OTLP_PACKAGES.join(' ')}" where Wavetrain is installed (with -g if it is installed globally), or unset the variable`,
      { cause: error },
    );
  }
}

type GetVariable = (name: string) => string;

/**
 * Reads the standard variables of OpenTelemetry: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_ENDPOINT`,
 * `OTEL_SDK_DISABLED`, `OTEL_TRACES_EXPORTER`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. Returns undefined
 * when they do not enable traces. The SDK itself reads headers, sampling, sizes and timeouts.
 *
 * @throws WavetrainError `bad_usage` when the endpoint is not a URL
 */
export function readTraceSettings(env: Environment): TraceSettings | undefined {
  const get: GetVariable = (name) => env[name]?.trim() ?? '';
  const url = readEndpoint(get);
  if (url === undefined || isDisabled(get)) return undefined;
  const attributes = parseAttributes(get('OTEL_RESOURCE_ATTRIBUTES'));
  const name = get('OTEL_SERVICE_NAME');
  const outbound = readOutbound(env);
  return {
    url,
    ...(outbound && { outbound }),
    resource: { 'service.name': 'wavetrain', ...attributes, ...(name !== '' && { 'service.name': name }) },
    warnings: [
      ...(attributes === undefined
        ? ['OTEL_RESOURCE_ATTRIBUTES is ignored: it must be a list of pairs such as a=1,b=2']
        : []),
      ...protocolWarnings(get),
    ],
  };
}

function readEndpoint(get: GetVariable): string | undefined {
  const tracesUrl = get('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (tracesUrl !== '') return assertHttpUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', tracesUrl);
  const url = get('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (url === '') return undefined;
  return `${assertHttpUrl('OTEL_EXPORTER_OTLP_ENDPOINT', url).replace(/\/+$/, '')}/v1/traces`;
}

function assertHttpUrl(variable: string, url: string): string {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol === 'http:' || protocol === 'https:') return url;
  throw new WavetrainError(
    'bad_usage',
    `the environment variable ${variable} must be the address of a collector, as in ${variable}=http://localhost:4318`,
  );
}

function isDisabled(get: GetVariable): boolean {
  if (get('OTEL_SDK_DISABLED').toLowerCase() === 'true') return true;
  const exporters = get('OTEL_TRACES_EXPORTER');
  return exporters !== '' && !exporters.split(',').some((name) => name.trim() === 'otlp');
}

/** Parses percent-encoded pairs such as `a=1,b=2`. Returns undefined, and thus ignores all, if one is malformed. */
function parseAttributes(text: string): Record<string, string> | undefined {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const pairs = parts.map((part) => part.split('='));
  if (pairs.some((pair) => pair.length !== 2 || pair[0]?.trim() === '')) return undefined;
  try {
    return Object.fromEntries(pairs.map((pair) => pair.map((side) => decodeURIComponent(side.trim()))));
  } catch {
    return undefined;
  }
}

function protocolWarnings(get: GetVariable): string[] {
  const protocol = get('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || get('OTEL_EXPORTER_OTLP_PROTOCOL');
  return protocol === 'grpc' ? ['traces are sent over HTTP: the endpoint must not be a gRPC endpoint'] : [];
}
