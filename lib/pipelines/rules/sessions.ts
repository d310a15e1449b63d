import type { Path } from '../../definition/problem.js';
import type { Finding } from '../../definition/schema/structure.js';
import type { Keys } from '../check-context.js';
import type { Draft, DraftTask, PlacedReference } from '../draft.js';
import { entryOf } from '../suggestions.js';
import type { Upstream } from '../waves.js';
import { runsPipeline } from './pipeline-calls.js';
import { storesOf, storesUnknownKey, type StoringTask } from './stores.js';

/**
 * Session keys, and the waves that read and write them (D9). No template orders a reader after the task that stores
 * what it reads: where `await` is missing the order is chance, and this is where that is told. Warnings, never
 * errors.
 *
 * @param given keys that the run starts with
 */
export function sessionFindings(
  draft: Draft,
  waves: readonly (readonly string[])[],
  upstream: Upstream,
  given: Keys,
): Finding[] {
  const waveOf = new Map(waves.flatMap((wave, index) => wave.map((id) => [id, index] as const)));
  const stores = new Map(
    [...groupBy(storesOf(draft, waveOf), ({ key }) => key)].map(([key, group]) => [
      key,
      new KeyStores(group),
    ]),
  );
  const ancestors = new Ancestors(upstream);
  const anyKeyMayBeStored = draft.tasks.some((task) => storesUnknownKey(task) || runsPipeline(task));
  const isGiven = (key: string): boolean => anyKeyMayBeStored || draft.reads.has(key) || given.has(key);
  return [
    ...draft.tasks.flatMap((task) => {
      const wave = entryOf(waveOf, task.id);
      return sessionReads(task).flatMap(({ key, placed }) => {
        const reader = { task, wave, key, path: placed.path };
        return readFindings(
          reader,
          stores.get(key) ?? NO_STORES,
          isGiven(key) || placed.hasFallback,
          ancestors,
        );
      });
    }),
    ...[...stores.values()].flatMap(({ all }) => conflictFindings(all)),
  ];
}

interface Reader {
  readonly task: DraftTask;
  readonly wave: number;
  readonly key: string;
  readonly path: Path;
}

function sessionReads(task: DraftTask): { key: string; placed: PlacedReference }[] {
  return [...task.references, ...task.overReferences].flatMap((placed) =>
    placed.reference.kind === 'session' ? [{ key: placed.reference.key, placed }] : [],
  );
}

function readFindings(
  { task, wave, key, path }: Reader,
  stores: KeyStores,
  isGiven: boolean,
  ancestors: Ancestors,
): Finding[] {
  const isStoredBefore = stores.isStoredBefore(wave, task.id);
  const racing = stores
    .notBefore(wave, task.id)
    .find((store) => (store.wave === wave || !isStoredBefore) && !ancestors.includes(store.id, task.id));
  if (racing !== undefined) return [race(task, racing, wave, key, path)];
  return isStoredBefore || isGiven ? [] : [neverStored(key, path)];
}

function race(task: DraftTask, store: StoringTask, wave: number, key: string, path: Path): Finding {
  const when = store.wave === wave ? 'in the same wave' : 'only in a later wave';
  return {
    code: 'session_race',
    severity: 'warning',
    message: `task "${task.id}" reads session key "${key}", which task "${store.id}" stores ${when}`,
    path,
    hint: `add "await: [${[...task.awaits, store.id].join(', ')}]" to task "${task.id}"`,
  };
}

function neverStored(key: string, path: Path): Finding {
  return {
    code: 'session_never_stored',
    severity: 'warning',
    message: `no earlier task stores session key "${key}"`,
    path,
    hint: `pass it with --session, declare it under "reads", or give a value: {{session.${key} ?? null}}`,
  };
}

/** Several tasks of one wave, or several items of one task, that overwrite each other. */
function conflictFindings(stores: readonly StoringTask[]): Finding[] {
  const waves = groupBy(stores, ({ wave }) => wave);
  return [...waves.values()].flatMap((wave) => [
    ...overwritingTasks(wave),
    ...wave.flatMap(overwritingItems),
  ]);
}

function overwritingTasks(wave: readonly StoringTask[]): Finding[] {
  const overwriting = wave.find((store) => !store.append);
  const last = wave.at(-1);
  if (wave.length < 2 || overwriting === undefined || last === undefined) return [];
  const names = wave.slice(0, 3).map(({ id }) => `"${id}"`);
  const more = wave.length > 3 ? ` and ${wave.length - 3} more` : '';
  const message = `tasks ${names.join(', ')}${more} store session key "${last.key}" in the same wave: the last one wins, by chance`;
  const hint = 'set "append: true" on all of them, or order them with await';
  return [{ code: 'store_conflict', severity: 'warning', message, path: last.path, hint }];
}

function overwritingItems({ id, key, append, fansOut, path }: StoringTask): Finding[] {
  if (!fansOut || append) return [];
  const message = `every item of task "${id}" stores session key "${key}": only the last item's value stays`;
  return [
    {
      code: 'store_conflict',
      severity: 'warning',
      message,
      path,
      hint: 'set "append: true" to keep them all',
    },
  ];
}

function groupBy<T, K>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}

/** How many tasks that might race with a reader are looked at. */
const MOST_CANDIDATES = 20;

/** How many tasks may be walked over in all, so that no definition holds the process. */
const MOST_VISITS = 2_000_000;

/** The tasks that store one session key, in the order of their waves. */
class KeyStores {
  readonly all: readonly StoringTask[];

  constructor(stores: readonly StoringTask[]) {
    this.all = stores.toSorted((a, b) => a.wave - b.wave);
  }

  /** Some other task stores the key in an earlier wave. */
  isStoredBefore(wave: number, reader: string): boolean {
    const first = this.all.find(({ id }) => id !== reader);
    return first !== undefined && first.wave < wave;
  }

  /** Other tasks that store the key in this wave or later: the first few of them. */
  notBefore(wave: number, reader: string): readonly StoringTask[] {
    const start = this.#indexOf(wave);
    return this.all.slice(start, start + MOST_CANDIDATES).filter(({ id }) => id !== reader);
  }

  #indexOf(wave: number): number {
    let low = 0;
    let high = this.all.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.all[middle]?.wave ?? wave) < wave) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Which tasks run before a task, by templates and `await`, however many lie between. */
class Ancestors {
  readonly #upstream: Upstream;
  readonly #known = new Map<string, ReadonlySet<string>>();
  #left = MOST_VISITS;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** True as well when finding out would take too long: what is not known is no reason to warn. */
  includes(id: string, ancestor: string): boolean {
    return this.#left <= 0 || this.#of(id).has(ancestor);
  }

  #of(id: string): ReadonlySet<string> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const ancestors = new Set<string>();
    const pending = [...(this.#upstream.get(id) ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (ancestors.has(next)) continue;
      this.#left--;
      ancestors.add(next);
      for (const before of this.#upstream.get(next) ?? []) pending.push(before);
    }
    this.#known.set(id, ancestors);
    return ancestors;
  }
}

const NO_STORES = new KeyStores([]);
