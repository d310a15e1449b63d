import type { LabelValues } from 'prom-client';
import { eventLoopOverruns } from '../common/scheduling/event-loop-overruns.js';

/** A line of a metric as prom-client writes it, with the labels of its series beside its own. */
export interface Sample {
  readonly metricName: string;
  readonly labels: LabelValues<string>;
  readonly sharedLabels: LabelValues<string>;
  readonly value: number;
}

/** A metric of thousands of series: prom-client would write all of them at once, and hold the event loop for that long. */
export interface LongMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Lists the samples, in parts that are short. */
  readonly list: () => Iterable<readonly Sample[]>;
}

/** Returns a metric in the text format of Prometheus. @param pause as of `Metrics.read`, called between the parts */
export async function writeLongMetric(
  { name, help, type, list }: LongMetric,
  pause: () => Promise<void> | undefined,
): Promise<string> {
  const lines = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  await pause();
  for (const samples of list()) {
    const paused = pause();
    if (paused !== undefined) await paused;
    eventLoopOverruns.measure('metrics', () => {
      for (const sample of samples) lines.push(formatSample(sample));
    });
  }
  return lines.join('\n');
}

function formatSample({ metricName, labels, sharedLabels, value }: Sample): string {
  const pairs = [...Object.entries(labels), ...Object.entries(sharedLabels)];
  const texts = pairs.map(([name, label]) => `${name}="${escapeLabel(String(label))}"`);
  return `${metricName}{${texts.join(',')}} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
