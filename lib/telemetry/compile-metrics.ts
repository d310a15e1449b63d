import { Counter, type Registry } from 'prom-client';
import { DurationHistogram, type DurationSeries } from './duration-histogram.js';

const OUTCOMES = ['succeeded', 'gave_up', 'failed', 'disconnected'] as const;

/**
 * How a compilation has ended: with a valid definition, with none, without an answer of the provider, or because its
 * client has disconnected.
 */
export type CompileOutcome = (typeof OUTCOMES)[number];

/** Upper bounds in seconds: from a recorded answer to five repairs of a slow model. */
const COMPILATION_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900];

/** Requests to compile, their durations, and the answers that they took. */
export class CompileMetrics {
  readonly #total: Counter<'outcome'>;
  readonly #answers: Counter;
  readonly #durations: DurationSeries;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#total = new Counter({
      name: 'wavetrain_compilations_total',
      help: 'Requests to compile that have ended, by how: succeeded, gave_up, failed (the provider) or disconnected.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of OUTCOMES) this.#total.inc({ outcome }, 0);
    this.#answers = new Counter({
      name: 'wavetrain_compilation_answers_total',
      help: 'Answers of models to these requests: one for each, and one for each repair.',
      registers,
    });
    this.#durations = new DurationHistogram<never>({
      name: 'wavetrain_compilation_duration_seconds',
      help: 'Time from a request to compile to its end, with the wait for its turn.',
      buckets: COMPILATION_BUCKETS,
      registers,
    }).createSeries({});
  }

  record(outcome: CompileOutcome, durationMs: number): void {
    this.#total.inc({ outcome });
    this.#durations.add(durationMs);
  }

  recordAnswer(): void {
    this.#answers.inc();
  }
}
