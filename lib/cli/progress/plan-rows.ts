import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import { padTo } from '../width.js';
import { duration, grouped, plural } from '../words.js';
import type { PastSubPipeline, PresentSubPipeline } from './plan-progress.js';
import { type RowView, spinner, waveName } from './rows.js';
import type { Span } from './spans.js';

/** `✓ ingest   3 waves  1.2 s`, `✗ report   connection refused`, `! report   cancelled after 1 wave  1.2 s` */
export function pastSubPipelineRow(past: PastSubPipeline, { style, idColumns }: RowView): Span[] {
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
export function presentSubPipelineRow(one: PresentSubPipeline, view: RowView, isAlone: boolean): Span[] {
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
