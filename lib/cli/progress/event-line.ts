import type { EventPlace, LiveEvent, TaskEvent } from '../../execution/event.js';
import { oneLine } from '../printable.js';
import type { Style } from '../style.js';
import { duration, plural } from '../words.js';

/** An event on one line, for `--verbose`: `12:00:01.123 extract[17] finished`. */
export function eventLine(event: LiveEvent, style: Style): string {
  return `${style.dim(event.time.slice(11, 23))} ${wordsOf(event, style)}`;
}

function wordsOf(event: LiveEvent, style: Style): string {
  switch (event.kind) {
    case 'run':
      return `run ${event.status}${event.error === undefined ? '' : `: ${oneLine(event.error)}`}`;
    case 'sub_pipeline':
      return `sub-pipeline ${event.sub_pipeline} ${event.status}${event.error === undefined ? '' : `: ${oneLine(event.error)}`}`;
    case 'wave':
      return `${placeOf(event, ' ')}wave ${event.wave + 1} ${event.phase === 'start' ? 'started' : 'settled'} (${plural(event.tasks, 'task')})`;
    case 'start':
      if (event.reused) return `${nameOf(event)} is taken over from the earlier run (${oneLine(event.tool)})`;
      return `${nameOf(event)} started (${oneLine(event.tool)}${itemsOf(event)})`;
    case 'finish':
      if (event.reused) return `${nameOf(event)} ${style.green('taken over')}`;
      return `${nameOf(event)} ${style.green('finished')}${timeOf(event)}`;
    case 'fail':
      return `${nameOf(event)} ${style.red('failed')}${timeOf(event)}: ${oneLine(event.error ?? '')}`;
    case 'item':
      return event.phase === 'finish'
        ? `${nameOf(event)} finished`
        : `${nameOf(event)} ${style.red('failed')} after ${plural(event.attempt, 'attempt')}: ${oneLine(event.error ?? '')}`;
    case 'retry': {
      const failure = `attempt ${event.attempt} failed: ${oneLine(event.error)}`;
      return `${nameOf(event)} ${failure}; ${style.yellow(`attempt ${event.attempt + 1} in ${duration(event.delay_ms)}`)}`;
    }
    case 'log':
      break;
  }
  return `${nameOf(event)} says: ${oneLine(event.message)}`;
}

/** `task`, `task[item]`; in a run within another with its place: `ingest/task`. */
function nameOf(event: EventPlace & { readonly task_id: string; readonly item?: number }): string {
  const { task_id, item } = event;
  return `${placeOf(event, '/')}${item === undefined ? task_id : `${task_id}[${item}]`}`;
}

/** The sub-pipeline and the tasks that something happened in, and `end`; nothing of what happened in none. */
function placeOf({ sub_pipeline, within = [] }: EventPlace, end: string): string {
  const names = sub_pipeline === undefined ? within : [sub_pipeline, ...within];
  return names.length === 0 ? '' : `${names.join('/')}${end}`;
}

function itemsOf({ items }: TaskEvent): string {
  return items === undefined ? '' : `, ${plural(items, 'item')}`;
}

function timeOf({ duration_ms }: TaskEvent): string {
  return duration_ms === undefined ? '' : ` in ${duration(duration_ms)}`;
}
