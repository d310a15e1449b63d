import type { LiveEvent } from './event.js';

/** The fields by which an event differs from the others of its run. */
type Distinct = Partial<Record<(typeof FIELDS)[number] | 'within', unknown>>;

/** Times, numbers and texts are left out: those of a call that is made again may differ. */
const FIELDS = [
  'kind',
  'task_id',
  'item',
  'phase',
  'attempt',
  'wave',
  'status',
  'paused',
  'sub_pipeline',
] as const;

/** Events that only calls of tools write: a call that is made again writes them again, and a settled one does not. */
export const WRITTEN_BY_CALLS: ReadonlySet<unknown> = new Set<LiveEvent['kind']>([
  'log',
  'text',
  'usage',
  'retry',
  'round',
]);

/** The events of another process. The run writes them again while it is rebuilt, in the same order but for those of a wave. */
export class WrittenEvents {
  readonly #events: readonly LiveEvent[];
  /** The index of the next event: those before it were taken, or were passed over. */
  #next = 0;
  /** How often events that were passed over were written, by what they say. */
  readonly #passed = new Map<string, number>();

  /** @param events in order, without those that only calls of tools write */
  constructor(events: readonly LiveEvent[]) {
    this.#events = events;
  }

  get isEmpty(): boolean {
    return this.#next === this.#events.length && this.#passed.size === 0;
  }

  /** Returns true when the event was written before; once for each event. */
  take(entry: Distinct): boolean {
    if (WRITTEN_BY_CALLS.has(entry.kind)) return false;
    const next = this.#events[this.#next];
    // Most events are the next one: to describe each of a hundred thousand would take longer than all else.
    if (next !== undefined && isSame(next, entry)) {
      this.#next++;
      return true;
    }
    if (this.#takePassed(describe(entry))) return true;
    for (; this.#next < this.#events.length; this.#next++) {
      const event = this.#events[this.#next] as Distinct;
      if (!isSame(event, entry)) this.#pass(describe(event));
      else {
        this.#next++;
        return true;
      }
    }
    return false;
  }

  #takePassed(key: string): boolean {
    const times = this.#passed.get(key);
    if (times === undefined) return false;
    if (times > 1) this.#passed.set(key, times - 1);
    else this.#passed.delete(key);
    return true;
  }

  #pass(key: string): void {
    this.#passed.set(key, (this.#passed.get(key) ?? 0) + 1);
  }
}

function isSame(a: Distinct, b: Distinct): boolean {
  for (const field of FIELDS) if (a[field] !== b[field]) return false;
  return a.within === b.within || JSON.stringify(a.within) === JSON.stringify(b.within);
}

function describe(entry: Distinct): string {
  const within = entry.within === undefined ? '' : JSON.stringify(entry.within);
  return `${FIELDS.map((field) => entry[field]).join(' ')} ${within}`;
}
