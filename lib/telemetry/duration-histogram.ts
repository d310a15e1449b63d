import { Histogram, type HistogramConfiguration, type LabelValues } from 'prom-client';
import type { Sample } from './long-metric.js';

type Configuration<L extends string> = HistogramConfiguration<L> & { readonly buckets: number[] };

/**
 * A histogram in seconds that counts durations in plain numbers: prom-client hashes all labels at every observation, which
 * takes longer than the rest of a short task or request.
 */
export class DurationHistogram<L extends string> extends Histogram<L> {
  readonly #configuration: Configuration<L>;
  readonly #series: DurationSeries[] = [];

  constructor(configuration: Configuration<L>) {
    super(configuration);
    this.#configuration = configuration;
  }

  /** Call once for each combination of labels, and keep what it returns. */
  createSeries(labels: LabelValues<L>): DurationSeries {
    const series = new DurationSeries(labels, this.#configuration.buckets);
    this.#series.push(series);
    return series;
  }

  /** The registry calls this to write all values; a series with labels is left out until it has one. */
  async getForPromString(): Promise<object> {
    const { name, help } = this.#configuration;
    const values = this.#series.filter(({ isShown }) => isShown).flatMap((series) => series.list(name));
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}

/** The durations with one combination of labels. */
export class DurationSeries {
  readonly #labels: LabelValues<string>;
  /** Upper bounds of the buckets, in seconds. */
  readonly #bounds: readonly number[];
  /** The number of durations in each bucket, and at last of those that are in none. */
  readonly #counts: number[];
  #sumMs = 0;

  constructor(labels: LabelValues<string>, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  add(durationMs: number): void {
    const seconds = durationMs / 1000;
    let bucket = 0;
    while (seconds > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    (this.#counts[bucket] as number) += 1;
    this.#sumMs += durationMs;
  }

  get isShown(): boolean {
    return this.#counts.some((count) => count > 0) || Object.keys(this.#labels).length === 0;
  }

  /** @param name of the histogram */
  list(name: string): Sample[] {
    const sharedLabels = this.#labels;
    let value = 0;
    const buckets = this.#counts.map((count, bucket): Sample => {
      value += count;
      const le = this.#bounds[bucket] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: this.#sumMs / 1000 },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value },
    ];
  }
}
