import type { LiveEvent } from '../../execution/events/event.js';
import type { Paint, Style } from '../render/terminal.js';
import { clip, duration, grouped, oneLine, padTo, plural, widthOf } from '../render/text.js';
import { Progress, type RunningTask, type SettledTask, type WaveProgress } from './progress.js';

/** A run of a pipeline: its waves and their tasks. */
export class RunPicture implements Picture {
  readonly #progress: Progress;

  constructor(waves: readonly (readonly string[])[]) {
    this.#progress = new Progress(waves);
  }

  take(event: LiveEvent, now: number): void {
    this.#progress.take(event, now);
  }

  draw(view: FrameView): string[] {
    return drawFrame(this.#progress, view);
  }
}

/** What is known of a run from its events, and how it looks on a screen. */
export interface Picture {
  /** @param now milliseconds, of the clock that also draws */
  take(event: LiveEvent, now: number): void;
  /** Lines that fit on the screen. */
  draw(view: FrameView): string[];
}

/** The screen that a frame is drawn for. */
export interface FrameView {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
  readonly now: number;
  readonly frame: number;
}

/** A taller screen is not filled: the eye follows about so many rows. */
const TALLEST = 24;
const WIDEST_ID = 32;
const MOST_PAST_WAVES = 5;

/**
 * A run drawn as lines, none wider than the screen and never more than fit on it. The work depends on the size of
 * the screen, not of the run.
 */
export function drawFrame(progress: Progress, view: FrameView): string[] {
  const idColumns = idColumnsFor(progress.longestId, view);
  return paintRows(runRows(progress, { ...view, idColumns, waves: progress.waves }, roomOf(view)), view);
}

/** How much of a row ids may take. */
export function idColumnsFor(longestId: number, { columns }: Pick<FrameView, 'columns'>): number {
  return Math.min(longestId, WIDEST_ID, Math.floor(columns / 3));
}

/** The last column stays free: some terminals break the line there. */
export function paintRows(rows: readonly Span[][], { columns, style }: FrameView): string[] {
  return rows.map((spans) => paintLine(spans, columns - 1, style));
}

/** The cursor waits on a row of its own below the frame. */
export function roomOf({ rows }: FrameView): number {
  return Math.max(0, Math.min(rows - 1, TALLEST));
}

/**
 * The rows of a run, as many as there is room for: the present wave comes first when room is short, then its tasks,
 * then the waves before and after.
 */
export function runRows(progress: Progress, view: RowView, room: number): Span[][] {
  const { present } = progress;
  if (present === undefined) return pastRows(progress, view, room);
  if (room <= 1) return [presentWaveRow(present, view)].slice(0, room);
  const after = room >= 6 ? afterRows(progress, present.index) : [];
  const before = room >= 8 ? pastRows(progress, view, Math.min(MOST_PAST_WAVES, Math.floor(room / 4))) : [];
  const tasks = taskRows(progress, view, room - 1 - after.length - before.length);
  return [...before, presentWaveRow(present, view), ...tasks, ...after];
}

function pastRows({ past, present }: Progress, view: RowView, room: number): Span[][] {
  const settledWaves = present?.index ?? (past.at(-1)?.index ?? -1) + 1;
  if (settledWaves <= room) return past.map((wave) => pastWaveRow(wave, view));
  if (room < 2) return [];
  const shown = past.slice(-(room - 1));
  const hidden = settledWaves - shown.length;
  return [[['dim', `  … ${plural(hidden, 'wave')} before`]], ...shown.map((wave) => pastWaveRow(wave, view))];
}

function afterRows(progress: Progress, present: number): Span[][] {
  const waves = (progress.waves ?? 0) - present - 1;
  return waves <= 0 ? [] : [[['dim', `  … ${plural(waves, 'wave')} to come`]]];
}

/** Failures, then the tasks at work, then those that finished last, drawn with the finished ones on top. */
function taskRows(progress: Progress, view: RowView, room: number): Span[][] {
  const total = progress.present?.tasks ?? 0;
  if (room <= 0) return [];
  const space = total > room ? room - 1 : room;
  const failures = progress.failures.slice(0, Math.ceil(space / 3));
  const running = firstOf(progress.running.values(), space - failures.length);
  const free = space - failures.length - running.length;
  const recent = free > 0 ? progress.recent.slice(-free) : [];
  const hidden = total - failures.length - running.length - recent.length;
  return [
    ...recent.map((task) => settledRow(task, view)),
    ...failures.map((task) => settledRow(task, view)),
    ...running.map((task) => runningRow(task, view)),
    ...(hidden > 0 ? [hiddenRow(hidden, progress.running.size - running.length)] : []),
  ];
}

function hiddenRow(hidden: number, running: number): Span[] {
  return [
    ['dim', `  … ${grouped(hidden)} more${running > 0 ? `, ${grouped(running)} of them running` : ''}`],
  ];
}

/** At most so many. */
export function firstOf<T>(values: Iterable<T>, most: number): T[] {
  const first: T[] = [];
  for (const value of values) {
    if (first.length >= most) break;
    first.push(value);
  }
  return first;
}

/** What rows need to know about the screen. */
export interface RowView {
  readonly style: Style;
  readonly now: number;
  /** Counts redraws; turns the spinner. */
  readonly frame: number;
  readonly columns: number;
  /** Columns of the task ids. */
  readonly idColumns: number;
  /** Number of waves of the run, where it is known. */
  readonly waves: number | undefined;
}

/** `✓ wave 1 of 3   2 tasks   1.2 s` */
function pastWaveRow(wave: WaveProgress, { style, waves }: RowView): Span[] {
  const failed = wave.failed > 0;
  const reused = wave.reused > 0 ? `, ${grouped(wave.reused)} taken over` : '';
  const count = `${plural(wave.tasks, 'task')}${reused}${failed ? `, ${grouped(wave.failed)} failed` : ''}`;
  return [
    failed ? ['red', `${style.marks.failed} `] : ['green', `${style.marks.done} `],
    ['plain', `${waveName(wave, waves)}  `],
    ['dim', `${count}  ${duration(wave.durationMs ?? 0)}`],
  ];
}

/** `wave 2 of 3`, or `wave 2` where nobody knows how many there are. */
export function waveName({ index }: WaveProgress, waves: number | undefined): string {
  return `wave ${index + 1}${waves === undefined ? '' : ` of ${waves}`}`;
}

/** `⠙ wave 2 of 3   3 of 5 tasks   0.8 s` */
function presentWaveRow(wave: WaveProgress, view: RowView): Span[] {
  const count = `${grouped(wave.settled)} of ${plural(wave.tasks, 'task')}`;
  return [
    ['cyan', `${spinner(view)} `],
    ['bold', `${waveName(wave, view.waves)}  `],
    ['plain', `${count}  `],
    ['dim', duration(view.now - wave.since)],
  ];
}

/** `  ✓ fetch   320 ms`, `  ✗ load   connection refused` */
function settledRow(task: SettledTask, { style, idColumns }: RowView): Span[] {
  const id = `${padTo(task.id, idColumns)}  `;
  const items = task.items === undefined ? '' : `${plural(task.items, 'item')}  `;
  if (task.error !== undefined) {
    return [
      ['red', `  ${style.marks.failed} ${id}`],
      ['plain', `${items}${oneLine(task.error)}`],
    ];
  }
  return [
    ['green', `  ${style.marks.done} `],
    ['plain', id],
    ['dim', `${items}${task.reused ? 'taken over' : duration(task.durationMs)}`],
  ];
}

/**
 * `  ⠙ extract   [#####-----] 512/1,000   0.8 s`, `  ⠙ load   attempt 2 in 0.5 s: connection refused`,
 * `  ⠙ report   0.8 s   running write`
 */
function runningRow(task: RunningTask, view: RowView): Span[] {
  const head: Span[] = [
    ['cyan', `  ${spinner(view)} `],
    ['plain', `${padTo(task.id, view.idColumns)}  `],
  ];
  const bar: Span[] = task.items === undefined ? [] : barSpans(task, task.items, view);
  const time: Span = ['dim', duration(view.now - task.since)];
  const inside: Span[] = task.inside === undefined ? [] : [['dim', `  running ${oneLine(task.inside)}`]];
  const rest = task.retry === undefined ? [time] : retrySpans(task.retry, task, view, time);
  return [...head, ...bar, ...rest, ...inside];
}

function barSpans(task: RunningTask, items: number, view: RowView): Span[] {
  const cells = view.columns >= 72 ? 20 : 10;
  const settled = task.itemsFinished + task.itemsFailed;
  const full = items === 0 ? cells : Math.floor((settled / items) * cells);
  const failed = task.itemsFailed === 0 ? '' : `${grouped(task.itemsFailed)} failed  `;
  return [
    ['plain', '['],
    ['green', '#'.repeat(full)],
    ['dim', '-'.repeat(cells - full)],
    ['plain', `] ${grouped(settled)}/${grouped(items)}  `],
    ['red', failed],
  ];
}

function retrySpans(
  retry: NonNullable<RunningTask['retry']>,
  task: RunningTask,
  view: RowView,
  time: Span,
): Span[] {
  const waiting = retry.until - view.now;
  if (waiting <= 0)
    return task.items === undefined ? [time, ['yellow', `  attempt ${retry.attempt}`]] : [time];
  return [['yellow', `attempt ${retry.attempt} in ${duration(waiting)}: ${oneLine(retry.error)}`]];
}

export function spinner({ style, frame }: RowView): string {
  const { spinner: frames } = style.marks;
  return frames[frame % frames.length] ?? '';
}

/** A piece of a line and how it is painted. */
export type Span = readonly [paint: keyof Omit<Style, 'marks'>, text: string];

/** Paints the spans that fit into `columns`; the last one is clipped. Paint takes no room. */
function paintLine(spans: readonly Span[], columns: number, style: Style): string {
  let line = '';
  let room = columns;
  for (const [paint, text] of spans) {
    if (room <= 0) break;
    const shown = clip(text, room);
    room -= widthOf(shown);
    line += (style[paint] satisfies Paint)(shown);
    if (shown !== text) break;
  }
  return line;
}
