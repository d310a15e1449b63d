import type { Style } from '../style.js';
import { grouped, plural } from '../words.js';
import type { Progress } from './progress.js';
import { pastWaveRow, presentWaveRow, type RowView, runningRow, settledRow } from './rows.js';
import { paintLine, type Span } from './spans.js';

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
