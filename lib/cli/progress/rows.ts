import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import { padTo } from '../width.js';
import { duration, grouped, plural } from '../words.js';
import type { RunningTask, SettledTask, WaveProgress } from './progress.js';
import type { Span } from './spans.js';

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
export function pastWaveRow(wave: WaveProgress, { style, waves }: RowView): Span[] {
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
export function presentWaveRow(wave: WaveProgress, view: RowView): Span[] {
  const count = `${grouped(wave.settled)} of ${plural(wave.tasks, 'task')}`;
  return [
    ['cyan', `${spinner(view)} `],
    ['bold', `${waveName(wave, view.waves)}  `],
    ['plain', `${count}  `],
    ['dim', duration(view.now - wave.since)],
  ];
}

/** `  ✓ fetch   320 ms`, `  ✗ load   connection refused` */
export function settledRow(task: SettledTask, { style, idColumns }: RowView): Span[] {
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
export function runningRow(task: RunningTask, view: RowView): Span[] {
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
