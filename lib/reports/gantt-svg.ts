import { ellipsize, escapeMarkup, formatDuration } from '../common/text.js';
import type { Steps } from '../common/scheduling/steps.js';
import type { BarKind, Gantt, GanttBar, TimedCall } from './gantt.js';

const WIDTH = 1090;
const END_WIDTH = 80;
const ROW_HEIGHT = 22;
const BAR_HEIGHT = 12;
const AXIS_HEIGHT = 28;
const MIN_BAR_WIDTH = 2;
const MAX_LABEL_LETTERS = 32;
const LABEL_LETTER = 7.3;
const ROWS_PER_STEP = 50;

/** The meanings of the bars, in words. */
export const BAR_NAMES: Readonly<Record<BarKind, string>> = {
  done: 'succeeded',
  error: 'failed',
  active: 'running',
  stopped: 'stopped',
  waiting: 'waiting',
  reused: 'reused',
  cached: 'cached',
};

/** Between two lines of the axis, in ms, from the finest. */
const TICKS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];
const MOST_TICKS = 8;

/** Draws bars over time as SVG, a row for each call. The page around it has {@link GANTT_STYLE}. */
export function* writeGanttSvg<C extends TimedCall>(
  { start, end, rows }: Gantt<C>,
  nameOf: (call: C) => string,
): Steps<string> {
  const span = Math.max(1, end - start);
  const names = rows.map(({ call }) => nameOf(call));
  const letters = names.reduce((most, { length }) => Math.max(most, length), 0);
  const left = Math.ceil(Math.min(letters, MAX_LABEL_LETTERS) * LABEL_LETTER) + 20;
  const chartWidth = WIDTH - left - END_WIDTH;
  const toX = (time: number): number => round(left + ((time - start) / span) * chartWidth);
  const height = AXIS_HEIGHT + rows.length * ROW_HEIGHT + 6;
  const label = `A bar for each attempt, over ${formatDuration(end - start)}`;
  const parts = [
    `<svg class="gantt" role="img" aria-label="${label}" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}">`,
    ...drawAxis(span, height, (offset) => toX(start + offset)),
  ];
  for (const [index, { call, bars }] of rows.entries()) {
    const y = AXIS_HEIGHT + index * ROW_HEIGHT;
    const name = names[index] ?? '';
    parts.push(
      `<text class="name ${call.status}" x="0" y="${y + 15}"><title>${escapeMarkup(name)}</title>${escapeMarkup(ellipsize(name, MAX_LABEL_LETTERS))}</text>`,
      ...bars.map((bar) => drawBar(bar, toX(bar.start), toX(bar.end), y + (ROW_HEIGHT - BAR_HEIGHT) / 2)),
    );
    const last = bars.at(-1);
    if (last !== undefined) {
      const took = formatDuration(last.end - (bars[0]?.start ?? last.end));
      parts.push(
        `<text class="took" x="${Math.max(toX(last.end), toX(last.start) + MIN_BAR_WIDTH) + 6}" y="${y + 15}">${took}</text>`,
      );
    }
    if (index % ROWS_PER_STEP === 0) yield;
  }
  parts.push('</svg>');
  return parts.join('\n');
}

function drawAxis(span: number, height: number, toX: (offset: number) => number): string[] {
  const tick = TICKS.find((size) => span / size <= MOST_TICKS) ?? Math.ceil(span / MOST_TICKS);
  const lines: string[] = [];
  for (let offset = 0; offset <= span; offset += tick) {
    const x = toX(offset);
    lines.push(
      `<path class="tick" d="M${x} ${AXIS_HEIGHT - 6}V${height}"/><text class="time" x="${x}" y="14">${offset === 0 ? '0' : formatTick(offset)}</text>`,
    );
  }
  return lines;
}

/** Without rounding: 90 s is no 2 min. */
function formatTick(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const seconds = ms / 1000;
  if (seconds < 120) return `${seconds} s`;
  const minutes = seconds / 60;
  return minutes < 120 ? `${round(minutes)} min` : `${round(minutes / 60)} h`;
}

function drawBar({ kind, start, end, attempt, error }: GanttBar, x: number, endX: number, y: number): string {
  const isWait = kind === 'waiting';
  const width = round(Math.max(isWait ? 0 : MIN_BAR_WIDTH, endX - x));
  const title = [
    attempt === null ? BAR_NAMES[kind] : `attempt ${attempt} ${BAR_NAMES[kind]}`,
    formatDuration(end - start),
    ...(error === null ? [] : [ellipsize(error, 200)]),
  ].join(' · ');
  return `<rect class="bar ${kind}" x="${x}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="${Math.min(3, width / 2)}"><title>${escapeMarkup(title)}</title></rect>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The rules of the timeline. Uses the variables of the report. */
export const GANTT_STYLE = `
.gantt{display:block}
.gantt text{font:11px var(--sans);fill:var(--soft)}
.gantt .name{font:12px var(--mono);fill:var(--text)}
.gantt .name.failed{fill:var(--failed);font-weight:600}
.gantt .name.pending,.gantt .name.skipped{fill:var(--soft)}
.gantt .time{text-anchor:middle}
.gantt .tick{stroke:var(--line)}
.bar.done{fill:var(--done)}
.bar.error{fill:var(--failed)}
.bar.active{fill:var(--active)}
.bar.stopped{fill:var(--stopped)}
.bar.waiting{fill:var(--wait)}
.bar.reused,.bar.cached{fill:var(--done-back);stroke:var(--done);stroke-dasharray:3 2}
`;
