import { itemsOf, type RunTimeline, type TimelineEntry } from './timeline.js';

/** Selects the entries that the sequence shows. */
export interface SequenceFilter {
  /** Part of the path of the actor or the sender, or the number of an item; empty for all. */
  readonly actor: string;
  /** Only this actor and those below it; empty for all. */
  readonly below: string;
  /** Type of the event; empty for all. */
  readonly event: string;
}

/** Shows all entries. */
export const NO_FILTER: SequenceFilter = { actor: '', below: '', event: '' };

/** The entries that pass a filter, kept up to date entry by entry. */
export class FilteredSequence {
  entries: TimelineEntry[] = [];
  /** Numbers of entries by type of event, of the whole timeline; of the first 100 types. */
  readonly types = new Map<string, number>();
  #filter = NO_FILTER;
  #lastSeq = 0;

  /** Takes the entries that the timeline has got since, and drops those that it has dropped. */
  update(timeline: RunTimeline, filter: SequenceFilter): void {
    if (filter !== this.#filter) this.#restart(filter);
    const from = timeline.countUpTo(this.#lastSeq);
    for (let index = from; index < timeline.entries.length; index++) {
      const entry = timeline.entries[index] as TimelineEntry;
      const type = typeOf(entry.event);
      const known = this.types.get(type);
      if (known !== undefined || this.types.size < MOST_TYPES) this.types.set(type, (known ?? 0) + 1);
      if (passes(entry, filter)) this.entries.push(entry);
    }
    this.#lastSeq = timeline.lastSeq;
    const { firstSeq } = timeline;
    if ((this.entries[0]?.seq ?? firstSeq) < firstSeq) {
      this.entries = this.entries.filter(({ seq }) => seq >= firstSeq);
    }
  }

  /** Index of the last entry up to `seq`; -1 when there is none. */
  indexUpTo(seq: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle]?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #restart(filter: SequenceFilter): void {
    this.#filter = filter;
    this.entries = [];
    this.types.clear();
    this.#lastSeq = 0;
  }
}

/** More types than that would be no choice, and slow to show. */
const MOST_TYPES = 100;

/** XState names the end of each child by the child: they are one type. */
function typeOf(event: string): string {
  return event.replace(/^(xstate\.(?:done|error)\.actor)\..*$/s, '$1.*');
}

function passes(entry: TimelineEntry, filter: SequenceFilter): boolean {
  const { actor, source, event } = entry;
  if (filter.event !== '' && typeOf(event) !== filter.event) return false;
  if (filter.below !== '' && actor !== filter.below && !actor.startsWith(`${filter.below}/`)) return false;
  if (filter.actor === '' || actor.includes(filter.actor)) return true;
  return source?.includes(filter.actor) === true || standsForItem(entry, filter.actor);
}

/** An item of a large fan-out has no actor of its own: that of its chunk stands for it. */
function standsForItem(entry: TimelineEntry, filter: string): boolean {
  const item = itemInFilter(filter);
  const items = item === undefined ? undefined : itemsOf(entry);
  return item !== undefined && items !== undefined && items.from <= item && item < items.to;
}

/** Reads the item that a filter names, as in `777` and `fan-out/777`; undefined when it names none. */
function itemInFilter(filter: string): number | undefined {
  const [, item] = /^(?:.*\/)?(\d{1,9})$/.exec(filter) ?? [];
  return item === undefined ? undefined : Number(item);
}
