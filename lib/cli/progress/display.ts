import type { createLogUpdate } from 'log-update';
import type { LiveEvent } from '../../execution/events/event.js';
import type { CliContext } from '../context.js';
import { detectTerminal, type Style } from '../render/terminal.js';
import { formatEvent } from './event-line.js';
import { formatRows, type Viewport } from './rows.js';
import { noteRow, type RunView } from './run-view.js';
import { wantsTransitions } from '../runs/inspection/transitions.js';

/** Shows the progress of a run on standard error. */
export interface Display {
  /** If false, the display ignores events and the run need not create any. */
  readonly wantsEvents: boolean;
  onEvent(event: LiveEvent): void;
  /** Prints a line among the events, or above the live view. */
  print(line: string): void;
  /** Stops drawing, so that somebody can type, and prints lines at once. May be called twice. */
  hold(): void;
  /** Draws again after {@link hold}. May be called twice. */
  release(): void;
  /** Leaves the final state of the run on the screen and stops drawing. May be called twice. */
  close(): void;
}

export interface DisplayFlags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/** Opens a live display on a terminal; elsewhere one that prints a line per event with `--verbose` or nothing (D41). */
export function openDisplay(flags: DisplayFlags, createView: () => RunView, context: CliContext): Display {
  const { canRedraw, style } = detectTerminal(context.stderr, context.env);
  // The lines of DEBUG would come between what is redrawn.
  const isLines = flags.json || flags.quiet || wantsTransitions(context.env);
  if (!canRedraw || isLines) return createLineDisplay(flags, style, context);
  return new LiveDisplay(createView(), flags.verbose, context);
}

function createLineDisplay(
  { verbose, json, quiet }: DisplayFlags,
  style: Style,
  { stderr, modelWaits, clock }: CliContext,
): Display {
  const print = (line: string): void => {
    stderr.write(`${line}\n`);
  };
  const isSilent = json || quiet;
  const stopAnnouncing = isSilent || verbose ? () => undefined : modelWaits.announce(print);
  const onEvent = isSilent ? () => undefined : (event: LiveEvent) => modelWaits.onEvent(event, clock);
  return {
    wantsEvents: verbose || !isSilent,
    onEvent: verbose ? (event) => print(formatEvent(event, style)) : onEvent,
    print,
    hold: () => undefined,
    release: () => undefined,
    close: stopAnnouncing,
  };
}

const REDRAW_INTERVAL_MS = 100;

/** Redraws the view of a run in place. A run that ends before the first redraw never loads `log-update`. */
export class LiveDisplay implements Display {
  readonly wantsEvents = true;
  readonly #view: RunView;
  readonly #verbose: boolean;
  readonly #context: CliContext;
  readonly #style: Style;
  /** Lines to print above the view at the next redraw. */
  #lines: string[] = [];
  #logUpdate: ReturnType<typeof createLogUpdate> | undefined;
  #timer: unknown;
  #frame = 0;
  #lastRowCount = 0;
  #isOpen = true;
  #isHeld = false;

  constructor(view: RunView, verbose: boolean, context: CliContext) {
    this.#view = view;
    this.#verbose = verbose;
    this.#context = context;
    this.#style = detectTerminal(context.stderr, context.env).style;
    this.#scheduleRedraw();
  }

  onEvent(event: LiveEvent): void {
    const { clock, modelWaits } = this.#context;
    this.#view.onEvent(event, clock.monotonicNow());
    modelWaits.onEvent(event, clock);
    if (this.#verbose) this.#lines.push(formatEvent(event, this.#style));
  }

  print(line: string): void {
    this.#lines.push(line);
    if (!this.#isOpen || this.#isHeld) this.#writeLines();
  }

  hold(): void {
    if (this.#isHeld || !this.#isOpen) return;
    this.#isHeld = true;
    this.#context.clock.clearTimeout(this.#timer);
    this.#logUpdate?.clear();
    this.#lines.push(...this.#view.render(this.#viewport()));
    this.#writeLines();
    this.#logUpdate?.done();
    this.#lastRowCount = 0;
  }

  release(): void {
    if (!this.#isHeld || !this.#isOpen) return;
    this.#isHeld = false;
    this.#scheduleRedraw();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#context.clock.clearTimeout(this.#timer);
    this.#logUpdate?.clear();
    // The final state may be taller than the screen: it is not redrawn, so it can scroll.
    this.#lines.push(...this.#view.render({ ...this.#viewport(), rows: Number.POSITIVE_INFINITY }));
    this.#writeLines();
    this.#logUpdate?.done();
  }

  #scheduleRedraw(): void {
    this.#timer = this.#context.clock.setTimeout(() => void this.#redraw(), REDRAW_INTERVAL_MS);
  }

  async #redraw(): Promise<void> {
    const { createLogUpdate } = await import('log-update');
    if (!this.#isOpen || this.#isHeld) return;
    this.#logUpdate ??= createLogUpdate(this.#context.stderr);
    this.#frame += 1;
    const rows = this.#render();
    // log-update rewrites only the rows that differ, and misplaces equal rows when the height changes.
    if (this.#lines.length > 0 || rows.length !== this.#lastRowCount) this.#logUpdate.clear();
    this.#lastRowCount = rows.length;
    this.#writeLines();
    this.#logUpdate(rows.join('\n'));
    this.#scheduleRedraw();
  }

  /** The progress, and below it the model that is waited for. */
  #render(): string[] {
    const waiting = this.#context.modelWaits.describe();
    const viewport = this.#viewport();
    if (waiting === undefined) return this.#view.render(viewport);
    const line = formatRows([noteRow(2, waiting)], viewport);
    return [...this.#view.render({ ...viewport, rows: viewport.rows - 1 }), ...line];
  }

  #writeLines(): void {
    if (this.#lines.length > 0) this.#context.stderr.write(`${this.#lines.join('\n')}\n`);
    this.#lines = [];
  }

  #viewport(): Viewport {
    const { stderr, env, clock } = this.#context;
    const { columns, rows } = detectTerminal(stderr, env);
    return { columns, rows, style: this.#style, now: clock.monotonicNow(), frame: this.#frame };
  }
}
