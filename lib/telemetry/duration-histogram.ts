import { Histogram, type HistogramConfiguration, type LabelValues } from 'prom-client';

const MAX_UNREAD = 1000;

/**
 * A histogram in seconds that observes durations when it is read. Until then each duration is a number in a list:
 * prom-client hashes all labels at every observation, which takes longer than the rest of a short task or request.
 */
export class DurationHistogram<L extends string> {
  readonly #histogram: Histogram<L>;
  readonly #series: DurationSeries<L>[] = [];

  constructor(configuration: HistogramConfiguration<L>) {
    this.#histogram = new Histogram({
      ...configuration,
      collect: () => {
        for (const series of this.#series) series.observeAll();
      },
    });
  }

  /** Call once for each combination of labels, and keep what it returns. */
  createSeries(labels: LabelValues<L>): DurationSeries<L> {
    const series = new DurationSeries(this.#histogram, labels);
    this.#series.push(series);
    return series;
  }
}

/** The durations with one combination of labels. */
export class DurationSeries<L extends string> {
  readonly #histogram: Histogram<L>;
  readonly #labels: LabelValues<L>;
  #unreadMs: number[] = [];

  constructor(histogram: Histogram<L>, labels: LabelValues<L>) {
    this.#histogram = histogram;
    this.#labels = labels;
  }

  add(durationMs: number): void {
    this.#unreadMs.push(durationMs);
    if (this.#unreadMs.length === MAX_UNREAD) this.observeAll();
  }

  observeAll(): void {
    for (const ms of this.#unreadMs) this.#histogram.observe(this.#labels, ms / 1000);
    this.#unreadMs = [];
  }
}
