import { formatCost, formatCount, formatDuration, formatNumber, nameWave } from '../../common/text.js';
import type { createLogUpdate } from 'log-update';
import type {
  EventLocation,
  ItemEvent,
  LiveEvent,
  SubPipelineEvent,
  TaskEvent,
} from '../../execution/events/event.js';
import type { CliContext } from '../context.js';
import { detectTerminal, type Style } from '../render/terminal.js';
import { toSingleLine } from '../render/text.js';
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
    wantsEvents: verbose,
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

/** Formats an event as one line for `--verbose`: `12:00:01.123 extract[17] finished`. */
export function formatEvent(event: LiveEvent, style: Style): string {
  return `${style.dim(event.time.slice(11, 23))} ${describeEvent(event, style)}`;
}

function formatSkip(event: TaskEvent | ItemEvent | SubPipelineEvent, style: Style): string {
  const name = event.kind === 'sub_pipeline' ? `sub-pipeline ${event.sub_pipeline}` : formatTask(event);
  return `${name} ${style.dim('skipped')}: ${toSingleLine(event.reason ?? '')}`;
}

function describeEvent(event: LiveEvent, style: Style): string {
  switch (event.kind) {
    case 'run':
      return `run ${event.paused ? 'paused' : event.status}${formatError(event)}`;
    case 'sub_pipeline':
      if (event.status === 'skipped') return formatSkip(event, style);
      return `sub-pipeline ${event.sub_pipeline} ${event.paused ? 'paused' : event.status}${formatError(event)}`;
    case 'wave': {
      const change = event.phase === 'start' ? 'started' : 'settled';
      return `${formatParents(event, ' ')}${nameWave(event.wave, event.handler)} ${change} (${formatCount(event.tasks, 'task')})`;
    }
    case 'start': {
      const task = formatTask(event);
      const tool = toSingleLine(event.tool);
      if (event.reused) return `${task} reuses its output of the earlier run (${tool})`;
      const items = event.items === undefined ? '' : `, ${formatCount(event.items, 'item')}`;
      return `${task} started (${tool}${items})`;
    }
    case 'finish':
      if (event.reused) return `${formatTask(event)} ${style.green('reused')}`;
      return `${formatTask(event)} ${style.green('finished')}${formatElapsed(event)}${formatCached(event)}`;
    case 'fail':
      return `${formatTask(event)} ${style.red('failed')}${formatElapsed(event)}: ${toSingleLine(event.error ?? '')}`;
    case 'skip':
      return formatSkip(event, style);
    case 'item': {
      if (event.phase === 'skip') return formatSkip(event, style);
      if (event.phase === 'finish') {
        return `${formatTask(event)} ${event.reused ? 'reused' : 'finished'}${formatCached(event)}`;
      }
      const attempts = formatCount(event.attempt, 'attempt');
      return `${formatTask(event)} ${style.red('failed')} after ${attempts}: ${toSingleLine(event.error ?? '')}`;
    }
    case 'retry': {
      const failure = `attempt ${event.attempt} failed: ${toSingleLine(event.error)}`;
      const next = `attempt ${event.attempt + 1} in ${formatDuration(event.delay_ms)}`;
      return `${formatTask(event)} ${failure}; ${style.yellow(next)}`;
    }
    case 'round':
      return `${formatTask(event)} ${formatRound(event, style)}`;
    case 'log':
      return `${formatTask(event)} ${event.waits_for === undefined ? 'logged: ' : ''}${toSingleLine(event.message)}`;
    case 'text':
      return `${formatTask(event)} writes: ${toSingleLine(event.text)}`;
    case 'usage': {
      const { model, input_tokens: asked, output_tokens: answered, cost } = event.usage;
      const paid = cost === undefined ? '' : `, ${formatCost(cost)}`;
      return `${formatTask(event)} asked ${toSingleLine(model)}: ${asked} tokens in, ${answered} out${paid}`;
    }
  }
}

type RoundEvent = Extract<LiveEvent, { kind: 'round' }>;

/** `round 3 of 20: {{this.output.state}} is "pending"; round 4 in 30.0 s`. */
function formatRound({ round, at_most, reason, delay_ms }: RoundEvent, style: Style): string {
  const done = `round ${round} of ${formatNumber(at_most)}: ${toSingleLine(reason ?? 'its condition holds')}`;
  if (delay_ms === undefined) return done;
  return `${done}; ${style.yellow(`round ${round + 1} in ${formatDuration(delay_ms)}`)}`;
}

/** Says that outputs were in the cache (D65). */
function formatCached({ cached, cached_items: items }: Pick<TaskEvent, 'cached' | 'cached_items'>): string {
  if (cached) return ', from the cache';
  return items === undefined ? '' : `, ${formatCount(items, 'item')} from the cache`;
}

function formatError({ error }: { readonly error?: string }): string {
  return error === undefined ? '' : `: ${toSingleLine(error)}`;
}

/** `task` or `task[item]`, after its parents: `ingest/task`. */
export function formatTask(
  event: EventLocation & { readonly task_id: string; readonly item?: number },
): string {
  const { task_id, item } = event;
  return `${formatParents(event, '/')}${item === undefined ? task_id : `${task_id}[${item}]`}`;
}

/** The sub-pipeline and the tasks that contain the event, then `end`; empty without any. */
function formatParents({ sub_pipeline, within = [] }: EventLocation, end: string): string {
  const parents = sub_pipeline === undefined ? within : [sub_pipeline, ...within];
  return parents.length === 0 ? '' : `${parents.join('/')}${end}`;
}

function formatElapsed({ duration_ms }: TaskEvent): string {
  return duration_ms === undefined ? '' : ` in ${formatDuration(duration_ms)}`;
}
