import { formatCount, formatDuration, formatNumber } from '../../common/text.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { toSingleLine } from '../render/text.js';
import { formatRows, isNarrow, type Row, type StyledText, type Viewport } from './rows.js';
import { PipelineProgress, type RunningTask, type SettledTask, type WaveProgress } from './run-progress.js';

/** Follows a run by its events and renders its progress. */
export interface RunView {
  /** @param now milliseconds, of the clock that the display uses */
  onEvent(event: LiveEvent, now: number): void;
  /** Renders lines that fit on the screen. The work depends on the size of the screen, not of the run. */
  render(viewport: Viewport): string[];
}

/** More rows would not be read, however tall the screen is. */
const MAX_ROWS = 24;
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
    return formatRows(pipelineRows(this.#progress, viewport, availableRows(viewport)), viewport);
  }
}

/** Leaves one row free for the cursor below the last line. */
export function availableRows({ rows }: Viewport): number {
  return Math.max(0, Math.min(rows - 1, MAX_ROWS));
}

/** Returns at most `space` rows: first the current wave, then its tasks, the number of pending waves and the settled ones. */
export function pipelineRows(progress: PipelineProgress, viewport: Viewport, space: number): Row[] {
  const { currentWave, waveCount } = progress;
  if (currentWave === undefined) return settledWaveRows(progress, viewport, space);
  const current = currentWaveRow(currentWave, waveCount, viewport);
  if (space <= 1) return [current].slice(0, space);
  const after = space >= 6 ? pendingWavesRow(currentWave, waveCount) : [];
  const before =
    space >= 8 ? settledWaveRows(progress, viewport, Math.min(MAX_SETTLED_WAVES, Math.floor(space / 4))) : [];
  const tasks = taskRows(progress, currentWave, viewport, space - 1 - after.length - before.length);
  return [...before, current, ...tasks, ...after];
}

function settledWaveRows(progress: PipelineProgress, viewport: Viewport, space: number): Row[] {
  const { lastSettledWaves, currentWave, waveCount } = progress;
  const settled = currentWave?.index ?? (lastSettledWaves.at(-1)?.index ?? -1) + 1;
  if (settled > space && space < 2) return [];
  const shown = settled > space ? lastSettledWaves.slice(1 - space) : lastSettledWaves;
  const rows = shown.map((wave) => settledWaveRow(wave, waveCount, viewport));
  if (settled <= space) return rows;
  return [noteRow(2, `… ${formatCount(settled - shown.length, 'earlier wave')}`), ...rows];
}

/** A row that says what has no row. */
export function noteRow(indent: number, note: string): Row {
  return { indent, facts: [['dim', note]] };
}

/** `✓ wave 1 of 3  2 tasks  1.2 s` */
function settledWaveRow(wave: WaveProgress, waveCount: number | undefined, viewport: Viewport): Row {
  const { marks } = viewport.style;
  const reused = wave.reused > 0 ? `, ${formatNumber(wave.reused)} reused` : '';
  const failed = wave.failed > 0 ? `, ${formatNumber(wave.failed)} ${failedWord(viewport)}` : '';
  const counts = `${formatCount(wave.tasks, 'task')}${reused}${failed}`;
  return {
    indent: 0,
    mark: wave.failed > 0 ? ['red', `${marks.failed} `] : ['green', `${marks.done} `],
    facts: [
      ['plain', `${formatWave(wave, waveCount, viewport)}  `],
      ['dim', `${counts}  ${formatDuration(wave.durationMs ?? 0)}`],
    ],
  };
}

function failedWord(viewport: Viewport): string {
  return isNarrow(viewport) ? viewport.style.marks.failed : 'failed';
}

/** `⠙ wave 2 of 3  3 of 5 tasks  0.8 s` */
function currentWaveRow(wave: WaveProgress, waveCount: number | undefined, viewport: Viewport): Row {
  return {
    indent: 0,
    mark: spinnerMark(viewport),
    facts: [
      ['bold', `${formatWave(wave, waveCount, viewport)}  `],
      ['plain', `${formatSettledTasks(wave, viewport)}  `],
      ['dim', formatDuration(viewport.now - wave.startedAt)],
    ],
  };
}

/** `wave 2 of 3`, or `wave 2` if the number of waves is unknown; `wave 2/3` on a narrow terminal. Handlers have their list. */
export function formatWave(wave: WaveProgress, waveCount: number | undefined, viewport: Viewport): string {
  if (wave.handler !== undefined) return wave.handler;
  return `wave ${wave.index + 1}${waveCount === undefined ? '' : ofTotal(viewport) + waveCount}`;
}

/** `3 of 5 tasks`, `3/5 tasks` */
export function formatSettledTasks({ settled, tasks }: WaveProgress, viewport: Viewport): string {
  return `${formatNumber(settled)}${ofTotal(viewport)}${formatCount(tasks, 'task')}`;
}

function ofTotal(viewport: Viewport): string {
  return isNarrow(viewport) ? '/' : ' of ';
}

export function spinnerMark({ style, frame }: Viewport): StyledText {
  const { spinner } = style.marks;
  return ['cyan', `${spinner[frame % spinner.length] ?? ''} `];
}

function pendingWavesRow({ index }: WaveProgress, waveCount = 0): Row[] {
  const pending = waveCount - index - 1;
  return pending <= 0 ? [] : [noteRow(2, `… ${formatCount(pending, 'wave')} to come`)];
}

/**
 * The tasks of the current wave: the last that succeeded, the failed, the running. If space is short, failures take up
 * to a third of it, running tasks the rest.
 */
function taskRows(
  progress: PipelineProgress,
  { tasks }: WaveProgress,
  viewport: Viewport,
  space: number,
): Row[] {
  if (space <= 0) return [];
  const taskSpace = tasks > space ? space - 1 : space;
  const failures = progress.failures.slice(0, Math.ceil(taskSpace / 3));
  const running = takeFirst(progress.runningTasks.values(), taskSpace - failures.length);
  const free = taskSpace - failures.length - running.length;
  const succeeded = free > 0 ? progress.lastSucceeded.slice(-free) : [];
  const hidden = tasks - failures.length - running.length - succeeded.length;
  const longestName = progress.longestIdLength;
  return [
    ...succeeded.map((task) => settledTaskRow(task, longestName, viewport)),
    ...failures.map((task) => settledTaskRow(task, longestName, viewport)),
    ...running.map((task) => runningTaskRow(task, longestName, viewport)),
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

function hiddenTasksRow(hidden: number, running: number): Row {
  const ofThemRunning = running > 0 ? `, ${formatNumber(running)} of them running` : '';
  return noteRow(2, `… ${formatNumber(hidden)} more${ofThemRunning}`);
}

/** `  ✓ fetch  320 ms`, `  ✗ load  connection refused` */
function settledTaskRow(task: SettledTask, longestName: number, viewport: Viewport): Row {
  const { error, failedItems } = task;
  const failed = failedItems === 0 ? '' : `, ${formatNumber(failedItems)} ${failedWord(viewport)}`;
  const items = task.items === undefined ? '' : `${formatCount(task.items, 'item')}${failed}  `;
  const { marks } = viewport.style;
  const shared = { indent: 2, longestName };
  if (error !== undefined) {
    return {
      ...shared,
      mark: ['red', `${marks.failed} `],
      name: ['red', task.id],
      facts: [['plain', items]],
      text: ['plain', toSingleLine(error)],
    };
  }
  return {
    ...shared,
    mark: ['green', `${marks.done} `],
    name: ['plain', task.id],
    facts: [['dim', `${items}${task.reused ? 'reused' : formatDuration(task.durationMs)}`]],
  };
}

/**
 * `  ⠙ extract  [#####-----] 512/1,000  0.8 s`, `  ⠙ load  attempt 2 in 0.5 s: connection refused`,
 * `  ⠙ report  0.8 s  running write`
 */
function runningTaskRow(task: RunningTask, longestName: number, viewport: Viewport): Row {
  const { retry, items, startedAt } = task;
  const row = {
    indent: 2,
    mark: spinnerMark(viewport),
    name: ['plain', task.id] as const,
    longestName,
  };
  const elapsed: StyledText = ['dim', formatDuration(viewport.now - startedAt)];
  const facts = items === undefined ? [elapsed] : [...itemProgress(task, items, viewport), elapsed];
  const delayMs = retry === undefined ? 0 : retry.until - viewport.now;
  if (retry !== undefined && delayMs > 0) {
    const delay = `attempt ${retry.attempt} in ${formatDuration(delayMs)}`;
    const error = `: ${toSingleLine(retry.error)}`;
    // The delay of one item says little of the others.
    if (items !== undefined) return { ...row, facts, text: ['yellow', `  ${delay}${error}`] };
    return { ...row, facts: [['yellow', delay]], text: ['yellow', error] };
  }
  if (task.round !== undefined && task.round.until > viewport.now)
    return waitingRow(row, task.round, viewport);
  if (task.round !== undefined) facts.push(['dim', `  round ${formatNumber(task.round.number + 1)}`]);
  // Attempts of items are not counted together.
  if (retry !== undefined && items === undefined) facts.push(['yellow', `  attempt ${retry.attempt}`]);
  if (task.nestedTask === undefined) return { ...row, facts };
  return { ...row, facts, text: ['dim', `  running ${toSingleLine(task.nestedTask)}`] };
}

/** `  ⠙ poll  round 4 of 20 in 12.0 s: {{this.output.state}} is "pending"` */
function waitingRow(
  row: Omit<Row, 'facts'>,
  { number, atMost, until, reason }: NonNullable<RunningTask['round']>,
  { now }: Viewport,
): Row {
  const next = `round ${formatNumber(number + 1)} of ${formatNumber(atMost)} in ${formatDuration(until - now)}`;
  return { ...row, facts: [['yellow', next]], text: ['dim', `: ${toSingleLine(reason)}`] };
}

/** `[#####-----] 512/1,000  3 failed  `; without the bar on a narrow terminal: `512/1,000  3 ✗  ` */
function itemProgress(task: RunningTask, items: number, viewport: Viewport): StyledText[] {
  const { itemsFailed } = task;
  const settled = task.itemsFinished + itemsFailed;
  return [
    ...(isNarrow(viewport) ? [] : progressBar(settled, items, viewport.columns >= 72 ? 20 : 10)),
    ['plain', `${formatNumber(settled)}/${formatNumber(items)}  `],
    ['red', itemsFailed === 0 ? '' : `${formatNumber(itemsFailed)} ${failedWord(viewport)}  `],
  ];
}

function progressBar(settled: number, items: number, cells: number): StyledText[] {
  const filled = items === 0 ? cells : Math.floor((settled / items) * cells);
  return [
    ['plain', '['],
    ['green', '#'.repeat(filled)],
    ['dim', '-'.repeat(cells - filled)],
    ['plain', '] '],
  ];
}
