import { formatCost, formatCount, formatDuration, formatNumber, nameWave } from '../../common/text.js';
import type {
  EventLocation,
  ItemEvent,
  LiveEvent,
  SubPipelineEvent,
  TaskEvent,
} from '../../execution/events/event.js';
import type { Style } from '../render/terminal.js';
import { toSingleLine } from '../render/text.js';

/** Formats an event as one line for `--verbose`: `12:00:01.123 extract[17] finished`. */
export function formatEvent(event: LiveEvent, style: Style): string {
  return `${style.dim(event.time.slice(11, 23))} ${describeEvent(event, style)}`;
}

function formatSkip(event: TaskEvent | ItemEvent | SubPipelineEvent, style: Style): string {
  const name = event.kind === 'sub_pipeline' ? `sub-pipeline ${event.sub_pipeline}` : formatTask(event);
  return `${name} ${style.dim('skipped')}: ${toSingleLine(event.reason ?? '')}`;
}

function describeEvent(event: LiveEvent, style: Style): string {
  switch (event.kind) {
    case 'run':
      return `run ${event.paused ? 'paused' : event.status}${formatError(event)}`;
    case 'sub_pipeline':
      if (event.status === 'skipped') return formatSkip(event, style);
      return `sub-pipeline ${event.sub_pipeline} ${event.paused ? 'paused' : event.status}${formatError(event)}`;
    case 'wave': {
      const change = event.phase === 'start' ? 'started' : 'settled';
      return `${formatParents(event, ' ')}${nameWave(event.wave, event.handler)} ${change} (${formatCount(event.tasks, 'task')})`;
    }
    case 'start': {
      const task = formatTask(event);
      const tool = toSingleLine(event.tool);
      if (event.reused) return `${task} reuses its output of the earlier run (${tool})`;
      const items = event.items === undefined ? '' : `, ${formatCount(event.items, 'item')}`;
      return `${task} started (${tool}${items})`;
    }
    case 'finish':
      if (event.reused) return `${formatTask(event)} ${style.green('reused')}`;
      return `${formatTask(event)} ${style.green('finished')}${formatElapsed(event)}${formatCached(event)}`;
    case 'fail':
      return `${formatTask(event)} ${style.red('failed')}${formatElapsed(event)}: ${toSingleLine(event.error ?? '')}`;
    case 'skip':
      return formatSkip(event, style);
    case 'item': {
      if (event.phase === 'skip') return formatSkip(event, style);
      if (event.phase === 'finish') {
        return `${formatTask(event)} ${event.reused ? 'reused' : 'finished'}${formatCached(event)}`;
      }
      const attempts = formatCount(event.attempt, 'attempt');
      return `${formatTask(event)} ${style.red('failed')} after ${attempts}: ${toSingleLine(event.error ?? '')}`;
    }
    case 'retry': {
      const failure = `attempt ${event.attempt} failed: ${toSingleLine(event.error)}`;
      const next = `attempt ${event.attempt + 1} in ${formatDuration(event.delay_ms)}`;
      return `${formatTask(event)} ${failure}; ${style.yellow(next)}`;
    }
    case 'round':
      return `${formatTask(event)} ${formatRound(event, style)}`;
    case 'log':
      return `${formatTask(event)} ${event.waits_for === undefined ? 'logged: ' : ''}${toSingleLine(event.message)}`;
    case 'text':
      return `${formatTask(event)} writes: ${toSingleLine(event.text)}`;
    case 'usage': {
      const { model, input_tokens: asked, output_tokens: answered, cost } = event.usage;
      const paid = cost === undefined ? '' : `, ${formatCost(cost)}`;
      return `${formatTask(event)} asked ${toSingleLine(model)}: ${asked} tokens in, ${answered} out${paid}`;
    }
  }
}

type RoundEvent = Extract<LiveEvent, { kind: 'round' }>;

/** `round 3 of 20: {{this.output.state}} is "pending"; round 4 in 30.0 s`. */
function formatRound({ round, at_most, reason, delay_ms }: RoundEvent, style: Style): string {
  const done = `round ${round} of ${formatNumber(at_most)}: ${toSingleLine(reason ?? 'its condition holds')}`;
  if (delay_ms === undefined) return done;
  return `${done}; ${style.yellow(`round ${round + 1} in ${formatDuration(delay_ms)}`)}`;
}

/** Says that outputs were in the cache (D65). */
function formatCached({ cached, cached_items: items }: Pick<TaskEvent, 'cached' | 'cached_items'>): string {
  if (cached) return ', from the cache';
  return items === undefined ? '' : `, ${formatCount(items, 'item')} from the cache`;
}

function formatError({ error }: { readonly error?: string }): string {
  return error === undefined ? '' : `: ${toSingleLine(error)}`;
}

/** `task` or `task[item]`, after its parents: `ingest/task`. */
export function formatTask(
  event: EventLocation & { readonly task_id: string; readonly item?: number },
): string {
  const { task_id, item } = event;
  return `${formatParents(event, '/')}${item === undefined ? task_id : `${task_id}[${item}]`}`;
}

/** The sub-pipeline and the tasks that contain the event, then `end`; empty without any. */
function formatParents({ sub_pipeline, within = [] }: EventLocation, end: string): string {
  const parents = sub_pipeline === undefined ? within : [sub_pipeline, ...within];
  return parents.length === 0 ? '' : `${parents.join('/')}${end}`;
}

function formatElapsed({ duration_ms }: TaskEvent): string {
  return duration_ms === undefined ? '' : ` in ${formatDuration(duration_ms)}`;
}
