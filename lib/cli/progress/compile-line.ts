import type { CliContext } from '../context.js';
import { detectTerminal } from '../render/terminal.js';
import { truncateToWidth } from '../render/text.js';

const REDRAW_INTERVAL_MS = 500;

/**
 * The line on a terminal that says what a compilation does, and for which model it waits. Into a file or a pipe it prints one
 * line for a model that lets it wait, and nothing with `--json`.
 */
export class CompileLine {
  readonly #context: Pick<CliContext, 'stderr' | 'env' | 'clock' | 'modelWaits'>;
  readonly #isDrawn: boolean;
  readonly #stopAnnouncing: (() => void) | undefined;
  #text = '';
  #timer: unknown;

  constructor({ json }: { readonly json: boolean }, context: CliContext) {
    const { stderr, env, modelWaits } = context;
    this.#context = context;
    this.#isDrawn = !json && detectTerminal(stderr, env).canRedraw;
    if (json || this.#isDrawn) return;
    this.#stopAnnouncing = modelWaits.announce((line) => stderr.write(`${line}\n`));
  }

  /** Says from now on what is being done. */
  show(text: string): void {
    if (!this.#isDrawn) return;
    this.#text = text;
    this.#draw();
  }

  /** Removes the line. May be called twice. */
  close(): void {
    this.#stopAnnouncing?.();
    if (!this.#isDrawn || this.#timer === undefined) return;
    this.#context.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#context.stderr.write('\r\u001B[K');
  }

  #draw(): void {
    const { stderr, env, clock, modelWaits } = this.#context;
    clock.clearTimeout(this.#timer);
    const waiting = modelWaits.describe();
    const line = waiting === undefined ? this.#text : `${this.#text} ${waiting}`;
    stderr.write(`\r\u001B[K${truncateToWidth(line, detectTerminal(stderr, env).columns - 1)}`);
    this.#timer = clock.setTimeout(() => this.#draw(), REDRAW_INTERVAL_MS);
  }
}
