import type { RunStatus } from '../../machines/vocabulary.js';
import type { Journal } from './journal.js';

/** What is told of a run itself: that it came to a status, that a wave began and settled. */
export class RunNotes {
  readonly #journal: Journal;
  readonly #waves: readonly (readonly string[])[];
  #told: RunStatus | undefined;
  #openWave: number | undefined;

  constructor(journal: Journal, waves: readonly (readonly string[])[]) {
    this.#journal = journal;
    this.#waves = waves;
  }

  /** Tells it, unless it was told before. */
  status({ status, error }: { readonly status: RunStatus; readonly error: string | null }): void {
    if (!this.#journal.isRead || status === this.#told) return;
    this.#told = status;
    this.#journal.write({ kind: 'run', status, ...(error === null ? {} : { error }) });
  }

  beginWave(wave: number, run: { readonly status: RunStatus; readonly error: string | null }): void {
    if (!this.#journal.isRead) return;
    this.status(run);
    this.closeWave();
    this.#openWave = wave;
    this.#write(wave, 'start');
  }

  closeWave(): void {
    if (this.#openWave === undefined) return;
    const wave = this.#openWave;
    this.#openWave = undefined;
    this.#write(wave, 'finish');
  }

  #write(wave: number, phase: 'start' | 'finish'): void {
    this.#journal.write({ kind: 'wave', wave, phase, tasks: this.#waves[wave]?.length ?? 0 });
  }
}
