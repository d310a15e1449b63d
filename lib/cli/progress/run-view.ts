import type { LiveEvent } from '../../execution/events/event.js';
import type { Style } from '../render/terminal.js';
import {
  displayWidth,
  formatCount,
  formatDuration,
  formatNumber,
  padToWidth,
  toSingleLine,
  truncateToWidth,
} from '../render/text.js';
import { PipelineProgress, type RunningTask, type SettledTask, type WaveProgress } from './run-progress.js';

/** Follows a run by its events and renders its progress. */
export interface RunView {
  /** @param now milliseconds, of the clock that the display uses */
  onEvent(event: LiveEvent, now: number): void;
  /** Renders lines that fit on the screen. The work depends on the size of the screen, not of the run. */
  render(viewport: Viewport): string[];
}

export interface Viewport {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
  /** Milliseconds, of the clock that also dates the events. */
  readonly now: number;
  /** Counts the redraws, to animate the spinner. */
  readonly frame: number;
}

/** The viewport and what all rows share. */
export interface RowLayout extends Viewport {
  /** Width of the column of ids. */
  readonly idColumns: number;
}

/** A piece of a line and its style. */
export type StyledText = readonly [style: keyof Omit<Style, 'marks'>, text: string];

/** More rows would not be read, however tall the screen is. */
const MAX_ROWS = 24;
const MAX_ID_COLUMNS = 32;
const MAX_SETTLED_WAVES = 5;

/** Renders the run of a pipeline: its waves, and the tasks of the current wave. */
export class PipelineRunView implements RunView {
  readonly #progress: PipelineProgress;

  /** @param waves the task ids of each wave; empty lists if only the number of waves is known */
  constructor(waves: readonly (readonly string[])[]) {
    this.#progress = new PipelineProgress(waves);
  }

  onEvent(event: LiveEvent, now: number): void {
    this.#progress.onEvent(event, now);
  }

  render(viewport: Viewport): string[] {
    const layout = createLayout(this.#progress.longestIdLength, viewport);
    return styleRows(pipelineRows(this.#progress, layout, availableRows(viewport)), viewport);
  }
}

export function createLayout(longestId: number, viewport: Viewport): RowLayout {
  return {
    ...viewport,
    idColumns: Math.min(longestId, MAX_ID_COLUMNS, Math.floor(viewport.columns / 3)),
  };
}

/** Leaves one row free for the cursor below the last line. */
export function availableRows({ rows }: Viewport): number {
  return Math.max(0, Math.min(rows - 1, MAX_ROWS));
}

/** Leaves the last column free: some terminals break the line there. */
export function styleRows(rows: readonly StyledText[][], { columns, style }: Viewport): string[] {
  return rows.map((row) => styleRow(row, columns - 1, style));
}

/** Truncates the piece that does not fit into `columns` and drops those after it. Escape sequences take no columns. */
function styleRow(row: readonly StyledText[], columns: number, style: Style): string {
  let line = '';
  let free = columns;
  for (const [name, text] of row) {
    if (free <= 0) break;
    const shown = truncateToWidth(text, free);
    free -= displayWidth(shown);
    line += style[name](shown);
    if (shown !== text) break;
  }
  return line;
}

/**
 * Returns at most `space` rows. If space is short, the current wave takes it first, then its tasks, then the number of
 * pending waves and the settled ones.
 */
export function pipelineRows(progress: PipelineProgress, layout: RowLayout, space: number): StyledText[][] {
  const { currentWave, waveCount } = progress;
  if (currentWave === undefined) return settledWaveRows(progress, layout, space);
  const current = currentWaveRow(currentWave, waveCount, layout);
  if (space <= 1) return [current].slice(0, space);
  const after = space >= 6 ? pendingWavesRow(currentWave, waveCount) : [];
  const before =
    space >= 8 ? settledWaveRows(progress, layout, Math.min(MAX_SETTLED_WAVES, Math.floor(space / 4))) : [];
  const tasks = taskRows(progress, currentWave, layout, space - 1 - after.length - before.length);
  return [...before, current, ...tasks, ...after];
}

function settledWaveRows(
  { lastSettledWaves, currentWave, waveCount }: PipelineProgress,
  layout: RowLayout,
  space: number,
): StyledText[][] {
  const settled = currentWave?.index ?? (lastSettledWaves.at(-1)?.index ?? -1) + 1;
  if (settled > space && space < 2) return [];
  const shown = settled > space ? lastSettledWaves.slice(1 - space) : lastSettledWaves;
  const rows = shown.map((wave) => settledWaveRow(wave, waveCount, layout));
  if (settled <= space) return rows;
  return [[['dim', `  … ${formatCount(settled - shown.length, 'earlier wave')}`]], ...rows];
}

/** `✓ wave 1 of 3  2 tasks  1.2 s` */
function settledWaveRow(
  wave: WaveProgress,
  waveCount: number | undefined,
  { style: { marks } }: RowLayout,
): StyledText[] {
  const reused = wave.reused > 0 ? `, ${formatNumber(wave.reused)} reused` : '';
  const failed = wave.failed > 0 ? `, ${formatNumber(wave.failed)} failed` : '';
  return [
    wave.failed > 0 ? ['red', `${marks.failed} `] : ['green', `${marks.done} `],
    ['plain', `${formatWave(wave, waveCount)}  `],
    ['dim', `${formatCount(wave.tasks, 'task')}${reused}${failed}  ${formatDuration(wave.durationMs ?? 0)}`],
  ];
}

/** `⠙ wave 2 of 3  3 of 5 tasks  0.8 s` */
function currentWaveRow(wave: WaveProgress, waveCount: number | undefined, layout: RowLayout): StyledText[] {
  return [
    ['cyan', `${spinnerFrame(layout)} `],
    ['bold', `${formatWave(wave, waveCount)}  `],
    ['plain', `${formatSettledTasks(wave)}  `],
    ['dim', formatDuration(layout.now - wave.startedAt)],
  ];
}

/** `wave 2 of 3`, or `wave 2` if the number of waves is unknown. */
export function formatWave({ index }: WaveProgress, waveCount: number | undefined): string {
  return `wave ${index + 1}${waveCount === undefined ? '' : ` of ${waveCount}`}`;
}

/** `3 of 5 tasks` */
export function formatSettledTasks({ settled, tasks }: WaveProgress): string {
  return `${formatNumber(settled)} of ${formatCount(tasks, 'task')}`;
}

export function spinnerFrame({ style, frame }: RowLayout): string {
  const { spinner } = style.marks;
  return spinner[frame % spinner.length] ?? '';
}

function pendingWavesRow({ index }: WaveProgress, waveCount = 0): StyledText[][] {
  const pending = waveCount - index - 1;
  return pending <= 0 ? [] : [[['dim', `  … ${formatCount(pending, 'wave')} to come`]]];
}

/**
 * The tasks of the current wave: the last that succeeded, the failed, the running. If space is short, failures take up
 * to a third of it, running tasks the rest.
 */
function taskRows(
  progress: PipelineProgress,
  { tasks }: WaveProgress,
  layout: RowLayout,
  space: number,
): StyledText[][] {
  if (space <= 0) return [];
  const taskSpace = tasks > space ? space - 1 : space;
  const failures = progress.failures.slice(0, Math.ceil(taskSpace / 3));
  const running = takeFirst(progress.runningTasks.values(), taskSpace - failures.length);
  const free = taskSpace - failures.length - running.length;
  const succeeded = free > 0 ? progress.lastSucceeded.slice(-free) : [];
  const hidden = tasks - failures.length - running.length - succeeded.length;
  return [
    ...succeeded.map((task) => settledTaskRow(task, layout)),
    ...failures.map((task) => settledTaskRow(task, layout)),
    ...running.map((task) => runningTaskRow(task, layout)),
    ...(hidden > 0 ? [hiddenTasksRow(hidden, progress.runningTasks.size - running.length)] : []),
  ];
}

/** Reads no more of `values` than it returns. */
export function takeFirst<T>(values: Iterable<T>, most: number): T[] {
  const first: T[] = [];
  for (const value of values) {
    if (first.length >= most) break;
    first.push(value);
  }
  return first;
}

function hiddenTasksRow(hidden: number, running: number): StyledText[] {
  const ofThemRunning = running > 0 ? `, ${formatNumber(running)} of them running` : '';
  return [['dim', `  … ${formatNumber(hidden)} more${ofThemRunning}`]];
}

/** `  ✓ fetch  320 ms`, `  ✗ load  connection refused` */
function settledTaskRow(task: SettledTask, { style: { marks }, idColumns }: RowLayout): StyledText[] {
  const id = `${padToWidth(task.id, idColumns)}  `;
  const items = task.items === undefined ? '' : `${formatCount(task.items, 'item')}  `;
  if (task.error !== undefined) {
    return [
      ['red', `  ${marks.failed} ${id}`],
      ['plain', `${items}${toSingleLine(task.error)}`],
    ];
  }
  return [
    ['green', `  ${marks.done} `],
    ['plain', id],
    ['dim', `${items}${task.reused ? 'reused' : formatDuration(task.durationMs)}`],
  ];
}

/**
 * `  ⠙ extract  [#####-----] 512/1,000  0.8 s`, `  ⠙ load  attempt 2 in 0.5 s: connection refused`,
 * `  ⠙ report  0.8 s  running write`
 */
function runningTaskRow(task: RunningTask, layout: RowLayout): StyledText[] {
  const row: StyledText[] = [
    ['cyan', `  ${spinnerFrame(layout)} `],
    ['plain', `${padToWidth(task.id, layout.idColumns)}  `],
  ];
  if (task.items !== undefined) row.push(...progressBar(task, task.items, layout));
  row.push(...elapsedOrRetry(task, layout));
  if (task.nestedTask !== undefined) row.push(['dim', `  running ${toSingleLine(task.nestedTask)}`]);
  return row;
}

function progressBar(task: RunningTask, items: number, { columns }: RowLayout): StyledText[] {
  const cells = columns >= 72 ? 20 : 10;
  const settled = task.itemsFinished + task.itemsFailed;
  const filled = items === 0 ? cells : Math.floor((settled / items) * cells);
  const failed = task.itemsFailed === 0 ? '' : `${formatNumber(task.itemsFailed)} failed  `;
  return [
    ['plain', '['],
    ['green', '#'.repeat(filled)],
    ['dim', '-'.repeat(cells - filled)],
    ['plain', `] ${formatNumber(settled)}/${formatNumber(items)}  `],
    ['red', failed],
  ];
}

/** The elapsed time; during a retry delay, the rest of the delay and the error. */
function elapsedOrRetry({ startedAt, items, retry }: RunningTask, { now }: RowLayout): StyledText[] {
  const delayMs = retry === undefined ? 0 : retry.until - now;
  if (retry !== undefined && delayMs > 0) {
    return [
      ['yellow', `attempt ${retry.attempt} in ${formatDuration(delayMs)}: ${toSingleLine(retry.error)}`],
    ];
  }
  const elapsed: StyledText = ['dim', formatDuration(now - startedAt)];
  // Attempts of items are not counted together.
  if (retry === undefined || items !== undefined) return [elapsed];
  return [elapsed, ['yellow', `  attempt ${retry.attempt}`]];
}
