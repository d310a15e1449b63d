import type { createLogUpdate } from 'log-update';
import type { LiveEvent } from '../../execution/event.js';
import type { CliContext } from '../context.js';
import { type Style, styleFor } from '../style.js';
import { terminalOf } from '../terminal.js';
import type { Display } from './display.js';
import { eventLine } from './event-line.js';
import type { FrameView } from './frame.js';
import type { Picture } from './picture.js';

/** Between two redraws; events in between only change the numbers. */
const REDRAW_MS = 100;

/**
 * Draws a run on a terminal in place, at most ten times a second. A run that is over before the first redraw is
 * drawn once, and never pays for the means to redraw.
 */
export class LiveDisplay implements Display {
  readonly listens = true;
  readonly #picture: Picture;
  readonly #verbose: boolean;
  readonly #context: CliContext;
  readonly #style: Style;
  /** Said since the last redraw. */
  #lines: string[] = [];
  #render: ReturnType<typeof createLogUpdate> | undefined;
  #timer: unknown;
  #frame = 0;
  /** Rows of the last redraw. */
  #height = 0;
  #open = true;

  constructor(picture: Picture, verbose: boolean, context: CliContext) {
    this.#picture = picture;
    this.#verbose = verbose;
    this.#context = context;
    this.#style = styleFor(context.stderr, context.env);
    this.#schedule();
  }

  event(event: LiveEvent): void {
    this.#picture.take(event, this.#context.clock.now());
    if (this.#verbose) this.#lines.push(eventLine(event, this.#style));
  }

  say(line: string): void {
    this.#lines.push(line);
    if (!this.#open) this.#writeLines();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#context.clock.clearTimeout(this.#timer);
    this.#render?.clear();
    // What stays may be taller than the screen: it scrolls.
    this.#lines.push(...this.#picture.draw({ ...this.#view(), rows: Number.POSITIVE_INFINITY }));
    this.#writeLines();
    this.#render?.done();
  }

  #schedule(): void {
    this.#timer = this.#context.clock.setTimeout(() => void this.#redraw(), REDRAW_MS);
  }

  async #redraw(): Promise<void> {
    const { createLogUpdate } = await import('log-update');
    if (!this.#open) return;
    this.#render ??= createLogUpdate(this.#context.stderr);
    this.#frame += 1;
    const rows = this.#picture.draw(this.#view());
    // It rewrites what differs, and leaves rows that stay the same where they were, though others above them went.
    if (this.#lines.length > 0 || rows.length !== this.#height) this.#render.clear();
    this.#height = rows.length;
    this.#writeLines();
    this.#render(rows.join('\n'));
    this.#schedule();
  }

  /** What was said stays, above the frame. */
  #writeLines(): void {
    if (this.#lines.length > 0) this.#context.stderr.write(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }

  #view(): FrameView {
    const { stderr, env, clock } = this.#context;
    const { columns, rows } = terminalOf(stderr, env);
    return { columns, rows, style: this.#style, now: clock.now(), frame: this.#frame };
  }
}
