import type { Metrics } from '../../lib/telemetry/metrics.js';

/** Samples by their name and labels, as in `wavetrain_runs_total{status="queued"}`. */
export type Samples = ReadonlyMap<string, number>;

/** Parses the text format of Prometheus strictly: every line is a comment, or a sample of a family declared before. */
export function parseSamples(text: string): Samples {
  const samples = new Map<string, number>();
  const families = new Set<string>();
  for (const line of text.split('\n').filter((line) => line !== '')) {
    const type = /^# TYPE (\w+) (?:counter|gauge|histogram|summary)$/.exec(line)?.[1];
    if (type !== undefined) families.add(type);
    if (/^# (?:HELP \w+ .+|TYPE .+)$/.test(line)) continue;
    const [, series = '', name = '', value = ''] = /^((\w+)(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
    if (!families.has(name) && !families.has(name.replace(/_(?:bucket|sum|count)$/, ''))) {
      throw new Error(`no sample of a known family: ${line}`);
    }
    if (samples.has(series)) throw new Error(`duplicate series: ${series}`);
    samples.set(series, Number(value));
  }
  return samples;
}

export async function readSamples(metrics: Metrics): Promise<Samples> {
  return parseSamples(await metrics.read());
}

/** Returns the samples whose series starts with a prefix, without that prefix. */
export function under(samples: Samples, beginning: string): Record<string, number> {
  const found = [...samples].filter(([series]) => series.startsWith(beginning));
  return Object.fromEntries(found.map(([series, value]) => [series.slice(beginning.length), value]));
}
