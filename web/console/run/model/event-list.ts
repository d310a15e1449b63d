import type { LiveEvent } from '../../../../lib/execution/events/event.js';
import { formatQuantity, formatTook } from '../../../shared/model/format.js';
import { formatSelection, selectionOf, type TaskSelection } from './addresses.js';

/** Events that the page keeps. */
const MOST_EVENTS = 20_000;

/** Of a full list, this share is dropped at once, so that dropping costs little for each event. */
const DROPPED_SHARE = 0.1;

/** Characters of a text that a model answers with, that the page keeps for each task or item. */
const MOST_TEXT = 200_000;

/** Tasks and items whose texts the page keeps. */
const MOST_TEXTS = 200;

/** Selects the events that the list shows. */
export interface EventFilter {
  /** Part of the name of the task, of the kind or of what the event says; empty for all. */
  readonly text: string;
  /** Empty for all. */
  readonly kind: string;
}

/** The last events of a run, and the texts with which models are answering. */
export class RunEvents {
  readonly events: LiveEvent[] = [];
  /** Numbers of events by kind. */
  readonly kinds = new Map<string, number>();
  dropped = 0;
  /** When the first event has happened, also when it is not kept any more, in milliseconds since 1970. */
  start = 0;
  readonly #texts = new Map<string, { request: number; text: string }>();

  add(event: LiveEvent): void {
    if (event.kind === 'text') return this.#addText(event);
    if (this.dropped === 0 && this.events.length === 0) this.start = Date.parse(event.time);
    this.events.push(event);
    this.kinds.set(event.kind, (this.kinds.get(event.kind) ?? 0) + 1);
    if (this.events.length <= MOST_EVENTS) return;
    const count = Math.floor(MOST_EVENTS * DROPPED_SHARE);
    this.events.splice(0, count);
    this.dropped += count;
  }

  /** The text that a model has answered a task or an item with so far; empty when there is none. */
  textOf(selection: TaskSelection): string {
    return this.#texts.get(formatSelection(selection))?.text ?? '';
  }

  #addText(event: Extract<LiveEvent, { kind: 'text' }>): void {
    const { request, text } = event;
    const key = formatSelection(selectionOf(event));
    const known = this.#texts.get(key);
    if (known !== undefined && known.request === request) {
      if (known.text.length < MOST_TEXT) known.text += text;
      return;
    }
    const [oldest] = this.#texts.keys();
    if (this.#texts.size >= MOST_TEXTS && oldest !== undefined) this.#texts.delete(oldest);
    this.#texts.set(key, { request, text });
  }
}

/** Lists the events that pass the filter. */
export function filterEvents(
  events: readonly LiveEvent[],
  { text, kind }: EventFilter,
): readonly LiveEvent[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '' && kind === '') return events;
  return events.filter(
    (event) =>
      (kind === '' || event.kind === kind) &&
      (wanted === '' ||
        `${nameOfEvent(event)} ${event.kind} ${describeEvent(event)}`.toLowerCase().includes(wanted)),
  );
}

/** The task or the part of the run that an event is about, as in `draft/fetch[3]`; empty for the run itself. */
export function nameOfEvent(event: LiveEvent): string {
  const parts = 'within' in event && event.within !== undefined ? [...event.within] : [];
  if ('sub_pipeline' in event && event.sub_pipeline !== undefined) parts.unshift(event.sub_pipeline);
  if ('task_id' in event) {
    const item = 'item' in event && event.item !== undefined ? `[${event.item}]` : '';
    parts.push(`${event.task_id}${item}`);
  }
  return parts.join('/');
}

/** Describes an event in a few words. */
export function describeEvent(event: LiveEvent): string {
  switch (event.kind) {
    case 'start':
      return event.items === undefined ? event.tool : `${event.tool}, ${formatQuantity(event.items, 'item')}`;
    case 'finish':
      return [event.tool, event.reused && 'reused', event.cached && 'cached'].filter(Boolean).join(', ');
    case 'fail':
      return event.error ?? '';
    case 'skip':
      return event.reason ?? '';
    case 'sub_pipeline':
      if (event.status === 'skipped') return `skipped: ${event.reason ?? ''}`;
      return event.error ?? (event.paused === true ? 'paused' : event.status);
    case 'run':
      return event.error ?? (event.paused === true ? 'paused' : event.status);
    case 'wave':
      return `${event.handler ?? `wave ${event.wave + 1}`} ${event.phase === 'start' ? 'starts' : 'has settled'}, ${formatQuantity(event.tasks, 'task')}`;
    case 'item':
      return event.error ?? event.reason ?? (event.reused ? 'reused' : event.cached ? 'cached' : 'succeeded');
    case 'retry':
      return `attempt ${event.attempt} failed, the next in ${event.delay_ms} ms: ${event.error}`;
    case 'round':
      return describeRound(event);
    case 'log':
      return event.message;
    case 'text':
      return event.text;
    case 'usage':
      return `${event.usage.model}: ${event.usage.input_tokens} tokens in, ${event.usage.output_tokens} out`;
  }
}

function describeRound({ round, at_most, reason, delay_ms }: Extract<LiveEvent, { kind: 'round' }>): string {
  const next = delay_ms === undefined ? '' : `, the next in ${formatTook(delay_ms)}`;
  return `round ${round} of ${at_most}${next}: ${reason ?? 'its condition holds'}`;
}
