import type { TimelineEntry } from './timeline.js';

/** The items of a large fan-out that one actor stands for: `from` to the one before `to`. */
interface ItemRange {
  readonly from: number;
  readonly to: number;
}

/** Reads which items a chunk stands for; undefined for other actors. */
export function itemsOf({ src, text }: Pick<TimelineEntry, 'src' | 'text'>): ItemRange | undefined {
  if (src !== 'chunk') return undefined;
  const [, from, to] = /"from":(\d+),"to":(\d+)/.exec(text) ?? [];
  return from === undefined ? undefined : { from: Number(from), to: Number(to) };
}

/** Reads the item that a filter names, as in `777` and `fan-out/777`; undefined when it names none. */
export function itemInFilter(filter: string): number | undefined {
  const [, item] = /^(?:.*\/)?(\d{1,9})$/.exec(filter) ?? [];
  return item === undefined ? undefined : Number(item);
}
