import type { LiveEvent } from '../../execution/events/event.js';
import type { Style } from '../render/terminal.js';
import { duration, grouped, oneLine, padTo, plural } from '../render/text.js';
import {
  type KnownWaves,
  type PastSubPipeline,
  PlanProgress,
  type PresentSubPipeline,
} from './plan-progress.js';
import {
  firstOf,
  type FrameView,
  idColumnsFor,
  paintRows,
  type Picture,
  roomOf,
  type RowView,
  runRows,
  type Span,
  spinner,
  waveName,
} from './run-view.js';

/** A run of a plan: its sub-pipelines, and the waves and tasks of those at work. */
export class PlanPicture implements Picture {
  readonly #progress: PlanProgress;

  /** @param known the waves of each sub-pipeline, where the plan is at hand */
  constructor(subPipelines: number, known?: KnownWaves) {
    this.#progress = new PlanProgress(subPipelines, known);
  }

  take(event: LiveEvent, now: number): void {
    this.#progress.take(event, now);
  }

  draw(view: FrameView): string[] {
    return drawPlanFrame(this.#progress, view);
  }
}

const MOST_PAST = 5;
const INDENT: Span = ['plain', '  '];

/**
 * A run of a plan drawn as lines, none wider than the screen and never more than fit on it: the sub-pipelines that
 * are over, those at work with their waves and tasks, and how many are to come. The work depends on the size of the
 * screen, not of the plan.
 */
export function drawPlanFrame(progress: PlanProgress, view: FrameView): string[] {
  const rowView = { ...view, idColumns: idColumnsFor(progress.longestId, view), waves: undefined };
  return paintRows(chooseRows(progress, rowView, roomOf(view)), view);
}

/** Those at work come first when room is short, then those that are over, then the count of those to come. */
function chooseRows(progress: PlanProgress, view: RowView, room: number): Span[][] {
  if (progress.present.size === 0) return pastRows(progress, view, room);
  const after = room >= 6 ? afterRows(progress) : [];
  const before = room >= 8 ? pastRows(progress, view, Math.min(MOST_PAST, Math.floor(room / 4))) : [];
  return [...before, ...presentRows(progress, view, room - after.length - before.length), ...after];
}

function pastRows({ past, settled }: PlanProgress, view: RowView, room: number): Span[][] {
  if (settled <= room && settled <= past.length) return past.map((one) => pastSubPipelineRow(one, view));
  if (room < 2) return [];
  const shown = past.slice(-(room - 1));
  const before: Span[] = [['dim', `… ${plural(settled - shown.length, 'sub-pipeline')} before`]];
  return [before, ...shown.map((one) => pastSubPipelineRow(one, view))];
}

function afterRows({ toCome }: PlanProgress): Span[][] {
  return toCome === 0 ? [] : [[['dim', `… ${plural(toCome, 'sub-pipeline')} to come`]]];
}

/** The room is shared: a row for each, then what is left for their waves and tasks. */
function presentRows({ present }: PlanProgress, view: RowView, room: number): Span[][] {
  const fits = present.size <= room;
  const shown = firstOf(present.values(), fits ? room : room - 1);
  const hidden = present.size - shown.length;
  const share = Math.floor(room / present.size);
  const rest = room - share * present.size;
  return [
    ...shown.flatMap((one, index) => rowsOf(one, view, index < rest ? share + 1 : share)),
    ...(hidden > 0 && room > 0 ? [[['dim', `… ${hidden} more at work`]] satisfies Span[]] : []),
  ];
}

function rowsOf(one: PresentSubPipeline, view: RowView, room: number): Span[][] {
  if (room < 2) return [presentSubPipelineRow(one, view, true)];
  const { progress } = one;
  const columns = view.columns - INDENT[1].length;
  const inside = { ...view, columns, idColumns: idColumnsFor(progress.longestId, view) };
  const rows = runRows(progress, { ...inside, waves: progress.waves }, room - 1);
  return [presentSubPipelineRow(one, view, false), ...rows.map((spans): Span[] => [INDENT, ...spans])];
}

/** `✓ ingest   3 waves  1.2 s`, `✗ report   connection refused`, `! report   cancelled after 1 wave  1.2 s` */
function pastSubPipelineRow(past: PastSubPipeline, { style, idColumns }: RowView): Span[] {
  const waves = plural(past.waves, 'wave');
  const head: Span[] = [markOf(past, style), ['plain', `${padTo(past.id, idColumns)}  `]];
  switch (past.status) {
    case 'failed':
      return [...head, ['plain', oneLine(past.error ?? '')]];
    case 'cancelled':
      return [...head, ['dim', `cancelled after ${waves}  ${duration(past.durationMs)}`]];
    default:
      return [...head, ['dim', `${waves}  ${past.reused ? 'taken over' : duration(past.durationMs)}`]];
  }
}

function markOf({ status }: PastSubPipeline, { marks }: Style): Span {
  switch (status) {
    case 'failed':
      return ['red', `${marks.failed} `];
    case 'cancelled':
      return ['yellow', `${marks.warning} `];
    default:
      return ['green', `${marks.done} `];
  }
}

/**
 * `⠙ extract   0.8 s`; where there is no room below it, its wave too: `⠙ extract   wave 2 of 3  1 of 5 tasks  0.8 s`.
 */
function presentSubPipelineRow(one: PresentSubPipeline, view: RowView, isAlone: boolean): Span[] {
  const { waves, present } = one.progress;
  const wave =
    isAlone && present !== undefined
      ? `${waveName(present, waves)}  ${grouped(present.settled)} of ${plural(present.tasks, 'task')}  `
      : '';
  return [
    ['cyan', `${spinner(view)} `],
    ['bold', `${padTo(one.id, view.idColumns)}  `],
    ['plain', wave],
    ...(one.isCancelled ? [['yellow', 'cancelled  '] satisfies Span] : []),
    ['dim', duration(view.now - one.since)],
  ];
}
