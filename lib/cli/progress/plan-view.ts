import type { LiveEvent } from '../../execution/events/event.js';
import { STATUS_STYLES, statusMark } from '../render/run-summary.js';
import { formatCount, formatDuration, padToWidth, toSingleLine } from '../render/text.js';
import {
  PlanProgress,
  type RunningSubPipeline,
  type SettledSubPipeline,
  type WavesBySubPipeline,
} from './plan-progress.js';
import {
  availableRows,
  createLayout,
  formatSettledTasks,
  formatWave,
  pipelineRows,
  type RowLayout,
  type RunView,
  spinnerFrame,
  styleRows,
  type StyledText,
  takeFirst,
  type Viewport,
} from './run-view.js';

const MAX_SETTLED = 5;
const INDENT: StyledText = ['plain', '  '];

/** Renders the run of a plan: its sub-pipelines, with the waves and tasks of those that run. */
export class PlanRunView implements RunView {
  readonly #progress: PlanProgress;

  /** @param waves undefined for a run on a server, which does not return its definition */
  constructor(subPipelines: number, waves?: WavesBySubPipeline) {
    this.#progress = new PlanProgress(subPipelines, waves);
  }

  onEvent(event: LiveEvent, now: number): void {
    this.#progress.onEvent(event, now);
  }

  render(viewport: Viewport): string[] {
    const layout = createLayout(this.#progress.longestIdLength, viewport);
    return styleRows(planRows(this.#progress, layout, availableRows(viewport)), viewport);
  }
}

/**
 * Returns at most `space` rows. If space is short, running sub-pipelines take it first, then the number of pending ones
 * and the settled ones.
 */
function planRows(progress: PlanProgress, layout: RowLayout, space: number): StyledText[][] {
  if (progress.running.size === 0) return settledRows(progress, layout, space);
  const after = space >= 6 ? pendingRow(progress) : [];
  const before =
    space >= 8 ? settledRows(progress, layout, Math.min(MAX_SETTLED, Math.floor(space / 4))) : [];
  return [...before, ...runningRows(progress, layout, space - after.length - before.length), ...after];
}

function settledRows(
  { lastSettled, settledCount }: PlanProgress,
  layout: RowLayout,
  space: number,
): StyledText[][] {
  if (settledCount > space && space < 2) return [];
  const shown = settledCount > space ? lastSettled.slice(1 - space) : lastSettled;
  const rows = shown.map((settled) => settledRow(settled, layout));
  if (settledCount <= space) return rows;
  return [[['dim', `… ${formatCount(settledCount - shown.length, 'earlier sub-pipeline')}`]], ...rows];
}

/** `✓ ingest  3 waves  1.2 s`, `✗ report  connection refused`, `! report  cancelled after 1 wave  1.2 s` */
function settledRow(settled: SettledSubPipeline, { style, idColumns }: RowLayout): StyledText[] {
  const { id, status, durationMs, reused, error } = settled;
  const waves = formatCount(settled.waves, 'wave');
  const head: StyledText[] = [
    [STATUS_STYLES[status], `${statusMark(status, style)} `],
    ['plain', `${padToWidth(id, idColumns)}  `],
  ];
  switch (status) {
    case 'failed':
      return [...head, ['plain', toSingleLine(error ?? '')]];
    case 'cancelled':
      return [...head, ['dim', `cancelled after ${waves}  ${formatDuration(durationMs)}`]];
    default:
      return [...head, ['dim', `${waves}  ${reused ? 'reused' : formatDuration(durationMs)}`]];
  }
}

/** Shares the space evenly: one row for each sub-pipeline, the rest for their waves and tasks. */
function runningRows({ running }: PlanProgress, layout: RowLayout, space: number): StyledText[][] {
  const allFit = running.size <= space;
  const shown = takeFirst(running.values(), allFit ? space : space - 1);
  const hidden = running.size - shown.length;
  const share = Math.floor(space / running.size);
  const rest = space - share * running.size;
  const rows = shown.flatMap((one, index) => subPipelineRows(one, layout, index < rest ? share + 1 : share));
  if (hidden > 0 && space > 0) rows.push([['dim', `… ${hidden} more running`]]);
  return rows;
}

function subPipelineRows(running: RunningSubPipeline, layout: RowLayout, space: number): StyledText[][] {
  if (space < 2) return [runningRow(running, layout, true)];
  const { progress } = running;
  const indented = createLayout(progress.longestIdLength, {
    ...layout,
    columns: layout.columns - INDENT[1].length,
  });
  const rows = pipelineRows(progress, indented, space - 1);
  return [runningRow(running, layout, false), ...rows.map((row): StyledText[] => [INDENT, ...row])];
}

/** `⠙ extract  0.8 s`, or on its only row with the wave: `⠙ extract  wave 2 of 3  1 of 5 tasks  0.8 s` */
function runningRow(running: RunningSubPipeline, layout: RowLayout, showsWave: boolean): StyledText[] {
  const { id, startedAt, isDraining, progress } = running;
  const { currentWave, waveCount } = progress;
  const row: StyledText[] = [
    ['cyan', `${spinnerFrame(layout)} `],
    ['bold', `${padToWidth(id, layout.idColumns)}  `],
  ];
  if (showsWave && currentWave !== undefined) {
    row.push(['plain', `${formatWave(currentWave, waveCount)}  ${formatSettledTasks(currentWave)}  `]);
  }
  if (isDraining) row.push(['yellow', 'cancelled  ']);
  row.push(['dim', formatDuration(layout.now - startedAt)]);
  return row;
}

function pendingRow({ pendingCount }: PlanProgress): StyledText[][] {
  return pendingCount === 0 ? [] : [[['dim', `… ${formatCount(pendingCount, 'sub-pipeline')} to come`]]];
}
