import { plural } from '../words.js';
import { firstOf, type FrameView, idColumnsFor, paintRows, roomOf, runRows } from './frame.js';
import { pastSubPipelineRow, presentSubPipelineRow } from './plan-rows.js';
import type { PlanProgress, PresentSubPipeline } from './plan-progress.js';
import type { RowView } from './rows.js';
import type { Span } from './spans.js';

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
