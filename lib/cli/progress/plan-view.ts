import { formatCount, formatDuration } from '../../common/text.js';
import type { LiveEvent } from '../../execution/events/event.js';
import { STATUS_STYLES, statusMark } from '../render/run-summary.js';
import { toSingleLine } from '../render/text.js';
import {
  PlanProgress,
  type RunningSubPipeline,
  type SettledSubPipeline,
  type WavesBySubPipeline,
} from './plan-progress.js';
import { formatRows, type Row, type StyledText, type Viewport } from './rows.js';
import {
  availableRows,
  formatSettledTasks,
  formatWave,
  noteRow,
  pipelineRows,
  type RunView,
  spinnerMark,
  takeFirst,
} from './run-view.js';

const MAX_SETTLED = 5;
const INDENT = 2;

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
    return formatRows(planRows(this.#progress, viewport, availableRows(viewport)), viewport);
  }
}

/** Returns at most `space` rows: first running sub-pipelines, then the number of pending ones and the settled ones. */
function planRows(progress: PlanProgress, viewport: Viewport, space: number): Row[] {
  if (progress.running.size === 0) return settledRows(progress, viewport, space);
  const after = space >= 6 ? pendingRow(progress) : [];
  const before =
    space >= 8 ? settledRows(progress, viewport, Math.min(MAX_SETTLED, Math.floor(space / 4))) : [];
  return [...before, ...runningRows(progress, viewport, space - after.length - before.length), ...after];
}

function settledRows(progress: PlanProgress, viewport: Viewport, space: number): Row[] {
  const { lastSettled, settledCount, longestIdLength } = progress;
  if (settledCount > space && space < 2) return [];
  const shown = settledCount > space ? lastSettled.slice(1 - space) : lastSettled;
  const rows = shown.map((settled) => settledRow(settled, longestIdLength, viewport));
  if (settledCount <= space) return rows;
  return [noteRow(0, `… ${formatCount(settledCount - shown.length, 'earlier sub-pipeline')}`), ...rows];
}

/** `✓ ingest  3 waves  1.2 s`, `✗ report  connection refused`, `! report  cancelled after 1 wave  1.2 s` */
function settledRow(settled: SettledSubPipeline, longestName: number, { style }: Viewport): Row {
  const { id, status, durationMs, reused, error } = settled;
  const waves = formatCount(settled.waves, 'wave');
  const head = {
    indent: 0,
    mark: [STATUS_STYLES[status], `${statusMark(status, style)} `] as const,
    name: ['plain', id] as const,
    longestName,
  };
  switch (status) {
    case 'failed':
      return { ...head, facts: [], text: ['plain', toSingleLine(error ?? '')] };
    case 'skipped':
      return { ...head, facts: [['dim', 'skipped']], text: ['dim', toSingleLine(error ?? '')] };
    case 'cancelled':
      return { ...head, facts: [['dim', `cancelled after ${waves}  ${formatDuration(durationMs)}`]] };
    default:
      return { ...head, facts: [['dim', `${waves}  ${reused ? 'reused' : formatDuration(durationMs)}`]] };
  }
}

/** Shares the space evenly: one row for each sub-pipeline, the rest for their waves and tasks. */
function runningRows({ running, longestIdLength }: PlanProgress, viewport: Viewport, space: number): Row[] {
  const allFit = running.size <= space;
  const shown = takeFirst(running.values(), allFit ? space : space - 1);
  const hidden = running.size - shown.length;
  const share = Math.floor(space / running.size);
  const rest = space - share * running.size;
  const rows = shown.flatMap((one, index) =>
    subPipelineRows(one, longestIdLength, viewport, index < rest ? share + 1 : share),
  );
  if (hidden > 0 && space > 0) rows.push(noteRow(0, `… ${hidden} more running`));
  return rows;
}

function subPipelineRows(
  running: RunningSubPipeline,
  longestName: number,
  viewport: Viewport,
  space: number,
): Row[] {
  if (space < 2) return [runningRow(running, longestName, viewport, true)];
  const rows = pipelineRows(running.progress, viewport, space - 1);
  return [
    runningRow(running, longestName, viewport, false),
    ...rows.map((row) => ({ ...row, indent: row.indent + INDENT })),
  ];
}

/** `⠙ extract  0.8 s`, or on its only row with the wave: `⠙ extract  wave 2 of 3  1 of 5 tasks  0.8 s` */
function runningRow(
  running: RunningSubPipeline,
  longestName: number,
  viewport: Viewport,
  showsWave: boolean,
): Row {
  const { id, startedAt, isDraining, progress } = running;
  const { currentWave, waveCount } = progress;
  const facts: StyledText[] = [];
  if (showsWave && currentWave !== undefined) {
    const wave = formatWave(currentWave, waveCount, viewport);
    facts.push(['plain', `${wave}  ${formatSettledTasks(currentWave, viewport)}  `]);
  }
  if (isDraining) facts.push(['yellow', 'cancelled  ']);
  facts.push(['dim', formatDuration(viewport.now - startedAt)]);
  return { indent: 0, mark: spinnerMark(viewport), name: ['bold', id], longestName, facts };
}

function pendingRow({ pendingCount }: PlanProgress): Row[] {
  return pendingCount === 0 ? [] : [noteRow(0, `… ${formatCount(pendingCount, 'sub-pipeline')} to come`)];
}
