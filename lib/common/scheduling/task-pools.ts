import { ConcurrencyLimiter } from './concurrency-limiter.js';

/** Limits the calls of tasks that name it to a number of places, of all runs together (D81). */
export class TaskPool {
  readonly name: string;
  readonly places: number;
  /** The places are shared by all tenants, none of which is guaranteed any: there are never more calls at work than places. */
  readonly limiter: ConcurrencyLimiter;

  constructor(name: string, places: number) {
    this.name = name;
    this.places = places;
    this.limiter = new ConcurrencyLimiter({ total: places });
  }

  get inUse(): number {
    return this.limiter.atWork;
  }

  get waiting(): number {
    return this.limiter.waiting;
  }
}

/** The pools of a process. Executors that share them share their places. */
export class TaskPools implements Iterable<TaskPool> {
  readonly #pools: ReadonlyMap<string, TaskPool>;

  /** @param places by name; without any, no task may name a pool */
  constructor(places: ReadonlyMap<string, number> = new Map()) {
    this.#pools = new Map([...places].map(([name, count]) => [name, new TaskPool(name, count)]));
  }

  get(name: string): TaskPool | undefined {
    return this.#pools.get(name);
  }

  [Symbol.iterator](): Iterator<TaskPool> {
    return this.#pools.values();
  }
}

/** More would not help. */
const MAX_LISTED = 20;

/** Says that there is no pool of a name, and which ones there are. */
export function describeUnknownPool(pool: string, known: Iterable<string>): string {
  const names = [...known].map((name) => `"${name}"`);
  const more = names.length > MAX_LISTED ? ' and more' : '';
  const others = names.length === 0 ? 'none' : names.slice(0, MAX_LISTED).join(', ') + more;
  return `there is no pool "${pool}": SERVICE_POOLS sets ${others}`;
}
