import type { Environment } from '../common/config.js';
import type { TraceOutlet, Tracing, TracingOptions } from './otlp.js';
import { readTraceSettings } from './trace-settings.js';

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
