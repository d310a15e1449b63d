import type { createLogUpdate } from 'log-update';
import type { EventPlace, LiveEvent, TaskEvent } from '../../execution/events/event.js';
import type { CliContext } from '../context.js';
import { type Style, styleFor, terminalOf } from '../render/terminal.js';
import { duration, oneLine, plural } from '../render/text.js';
import type { FrameView, Picture } from './run-view.js';

/** What people see on standard error while a run lasts. */
export interface Display {
  /** Whether it shows events at all. */
  readonly listens: boolean;
  event(event: LiveEvent): void;
  /** Says something besides the events. */
  say(line: string): void;
  /** Leaves the screen in order: shows how far the run came, and draws no more. */
  close(): void;
}

interface DisplayFlags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/** A live display on a terminal, lines with `--verbose`, otherwise nothing (D41). */
export function openDisplay(flags: DisplayFlags, picture: () => Picture, context: CliContext): Display {
  const { redraws } = terminalOf(context.stderr, context.env);
  if (!redraws || flags.json || flags.quiet) return lineDisplay(flags, context);
  return new LiveDisplay(picture(), flags.verbose, context);
}

function lineDisplay({ verbose }: DisplayFlags, { stderr, env }: CliContext): Display {
  const style = styleFor(stderr, env);
  const say = (line: string): void => {
    stderr.write(`${line}\n`);
  };
  const tell = (event: LiveEvent): void => say(eventLine(event, style));
  return { listens: verbose, event: verbose ? tell : () => undefined, say, close: () => undefined };
}

/** An event on one line, for `--verbose`: `12:00:01.123 extract[17] finished`. */
export function eventLine(event: LiveEvent, style: Style): string {
  return `${style.dim(event.time.slice(11, 23))} ${wordsOf(event, style)}`;
}

function wordsOf(event: LiveEvent, style: Style): string {
  switch (event.kind) {
    case 'run':
      return `run ${event.status}${event.error === undefined ? '' : `: ${oneLine(event.error)}`}`;
    case 'sub_pipeline':
      return `sub-pipeline ${event.sub_pipeline} ${event.status}${event.error === undefined ? '' : `: ${oneLine(event.error)}`}`;
    case 'wave':
      return `${placeOf(event, ' ')}wave ${event.wave + 1} ${event.phase === 'start' ? 'started' : 'settled'} (${plural(event.tasks, 'task')})`;
    case 'start':
      if (event.reused) return `${nameOf(event)} is taken over from the earlier run (${oneLine(event.tool)})`;
      return `${nameOf(event)} started (${oneLine(event.tool)}${itemsOf(event)})`;
    case 'finish':
      if (event.reused) return `${nameOf(event)} ${style.green('taken over')}`;
      return `${nameOf(event)} ${style.green('finished')}${timeOf(event)}`;
    case 'fail':
      return `${nameOf(event)} ${style.red('failed')}${timeOf(event)}: ${oneLine(event.error ?? '')}`;
    case 'item':
      return event.phase === 'finish'
        ? `${nameOf(event)} finished`
        : `${nameOf(event)} ${style.red('failed')} after ${plural(event.attempt, 'attempt')}: ${oneLine(event.error ?? '')}`;
    case 'retry': {
      const failure = `attempt ${event.attempt} failed: ${oneLine(event.error)}`;
      return `${nameOf(event)} ${failure}; ${style.yellow(`attempt ${event.attempt + 1} in ${duration(event.delay_ms)}`)}`;
    }
    case 'log':
      break;
  }
  return `${nameOf(event)} says: ${oneLine(event.message)}`;
}

/** `task`, `task[item]`; in a run within another with its place: `ingest/task`. */
function nameOf(event: EventPlace & { readonly task_id: string; readonly item?: number }): string {
  const { task_id, item } = event;
  return `${placeOf(event, '/')}${item === undefined ? task_id : `${task_id}[${item}]`}`;
}

/** The sub-pipeline and the tasks that something happened in, and `end`; nothing of what happened in none. */
function placeOf({ sub_pipeline, within = [] }: EventPlace, end: string): string {
  const names = sub_pipeline === undefined ? within : [sub_pipeline, ...within];
  return names.length === 0 ? '' : `${names.join('/')}${end}`;
}

function itemsOf({ items }: TaskEvent): string {
  return items === undefined ? '' : `, ${plural(items, 'item')}`;
}

function timeOf({ duration_ms }: TaskEvent): string {
  return duration_ms === undefined ? '' : ` in ${duration(duration_ms)}`;
}

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
