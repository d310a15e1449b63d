import type { Json } from '../../../lib/common/json/json.js';
import type { ActorStatus, InspectionEntry } from '../../../lib/runs/inspection/entry.js';
import { EventIndex } from './event-index.js';

/**
 * An entry as the page keeps it. Only a few entries are ever looked at closely, so data and snapshot stay text: that
 * takes a quarter of the memory of the objects.
 */
export interface TimelineEntry {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly actor: string;
  readonly src: string;
  readonly event: string;
  readonly source: string | null;
  readonly from: string | null;
  readonly state: string;
  /** Null when none was taken, or it is not known; older recordings do not say. */
  readonly transition: string | null;
  readonly status: ActorStatus;
  /** The entry before this one of the same actor. */
  previous: TimelineEntry | undefined;
  /** The whole entry as JSON; empty once the page has dropped it. */
  text: string;
}

/** Older recordings do not say which transition was taken. */
type ReceivedEntry = Omit<InspectionEntry, 'transition'> & Partial<Pick<InspectionEntry, 'transition'>>;

/** The parts of an entry that are read when it is looked at. */
export interface EntryDetail {
  readonly data: Json;
  readonly snapshot: Json;
}

/** Reads the large parts of an entry; undefined for one that the page has dropped, of which only the state is known. */
export function readDetail({ text }: TimelineEntry): EntryDetail | undefined {
  if (text === '') return undefined;
  const { data, snapshot } = JSON.parse(text) as InspectionEntry;
  return { data, snapshot };
}

/** The items of a large fan-out that one actor stands for: `from` to the one before `to`. */
export interface ItemRange {
  readonly from: number;
  readonly to: number;
}

/** Reads which items a chunk stands for; undefined for other actors. */
export function itemsOf({ src, text }: Pick<TimelineEntry, 'src' | 'text'>): ItemRange | undefined {
  if (src !== 'chunk') return undefined;
  const [, from, to] = /"from":(\d+),"to":(\d+)/.exec(text) ?? [];
  return from === undefined ? undefined : { from: Number(from), to: Number(to) };
}

/** How much the page keeps. */
export interface TimelineLimits {
  readonly entries: number;
  /** Characters of JSON. */
  readonly characters: number;
}

const LIMITS: TimelineLimits = { entries: 50_000, characters: 96 * 1024 * 1024 };

/** Of a full timeline, this share is dropped at once, so that dropping costs little for each entry. */
const DROPPED_SHARE = 0.1;

/**
 * The entries of a run in their order: the last 50,000, or fewer large ones. `onDrop` is called with those that are
 * about to be dropped.
 */
export class RunTimeline {
  readonly entries: TimelineEntry[] = [];
  /** Entries that this page has dropped, being full. */
  dropped = 0;
  readonly index = new EventIndex();
  readonly #last = new Map<string, TimelineEntry>();
  readonly #limits: TimelineLimits;
  readonly #onDrop: (dropped: readonly TimelineEntry[]) => void;
  #characters = 0;

  constructor(onDrop: (dropped: readonly TimelineEntry[]) => void, limits = LIMITS) {
    this.#onDrop = onDrop;
    this.#limits = limits;
  }

  get firstSeq(): number {
    return this.entries[0]?.seq ?? 0;
  }

  get lastSeq(): number {
    return this.entries.at(-1)?.seq ?? 0;
  }

  /** Adds the next entry; one that is there already is ignored. */
  add(text: string): void {
    const parsed = JSON.parse(text) as ReceivedEntry;
    const { seq, time, actor, src, event, source, from, state, transition = null, status } = parsed;
    if (seq <= this.lastSeq) return;
    const previous = this.#last.get(actor);
    const at = Date.parse(time);
    const entry = {
      seq,
      time: at,
      actor,
      src,
      event,
      source,
      from,
      state,
      transition,
      status,
      previous,
      text,
    };
    this.#last.set(actor, entry);
    this.entries.push(entry);
    this.index.add(entry);
    this.#characters += text.length;
    if (this.entries.length > this.#limits.entries || this.#characters > this.#limits.characters)
      this.#drop();
  }

  /** Number of entries up to and including `seq`. */
  countUpTo(seq: number): number {
    let low = 0;
    let high = this.entries.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle]?.seq ?? 0) <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #drop(): void {
    const count = Math.max(1, Math.floor(this.entries.length * DROPPED_SHARE));
    this.#onDrop(this.entries.slice(0, count));
    const dropped = this.entries.splice(0, count);
    this.index.drop(dropped);
    for (const entry of dropped) {
      this.#characters -= entry.text.length;
      // The tree and the entry after it still refer to this one, for its state: a chain of them would keep all.
      entry.previous = undefined;
      entry.text = '';
    }
    this.dropped += count;
  }
}
