import { groupBy } from '../../definition/group-by.js';
import { joinFirst } from '../../common/text.js';
import { getOrThrow } from '../../definition/assert.js';
import type { Diagnostic, Findings } from '../../definition/problems/diagnostic.js';
import type { Path } from '../../definition/problems/problem.js';
import type { Steps } from '../../common/scheduling/steps.js';
import { type DraftTask, listReferences, type PipelineDraft } from '../draft.js';
import type { EarlierValue, KeyLookup } from '../check-context.js';
import type { Upstream } from '../flow/waves.js';
import { isPipelineCall } from './pipeline-calls.js';
import { hasUnknownStoreKey, type StoringTask } from './stores.js';

/** The waves of tasks, and the session keys that they store. */
export interface StoreOrder {
  /** The number of the wave of each task. */
  readonly waveOf: ReadonlyMap<string, number>;
  /** The tasks that store each key. */
  readonly stores: ReadonlyMap<string, readonly StoringTask[]>;
  /** Keys that exist when the run starts. */
  readonly session: KeyLookup;
  /** Keys that exist when the run starts and whose shapes are known. */
  readonly earlier?: ReadonlyMap<string, EarlierValue> | undefined;
}

/**
 * Compares the waves that read a session key with those that store it (D9). Templates do not order a reader after the
 * task that stores its key: without `await`, the order is left to chance. Reports warnings only.
 */
export function* checkSessions(
  draft: PipelineDraft,
  { waveOf, session, stores: byKey }: StoreOrder,
): Findings {
  const stores = new Map(Array.from(byKey, ([key, group]) => [key, new KeyStores(group)]));
  const ancestors = new Ancestors(draft.upstream);
  const mayStoreAnyKey = draft.tasks.some((task) => hasUnknownStoreKey(task) || isPipelineCall(task));
  const mayExist = (key: string): boolean => mayStoreAnyKey || draft.reads.has(key) || session.has(key);
  for (const task of draft.tasks) {
    yield;
    const wave = getOrThrow(waveOf, task.id);
    for (const { reference, path, at, hasFallback } of listReferences(task)) {
      if (reference.kind !== 'session') continue;
      const { key } = reference;
      const reader = { task, wave, key, path, at };
      yield* checkRead(reader, stores.get(key) ?? NO_STORES, mayExist(key) || hasFallback, ancestors);
    }
  }
  for (const { all } of stores.values()) {
    yield;
    yield* checkConflicts(all);
  }
}

interface Reader {
  readonly task: DraftTask;
  readonly wave: number;
  readonly key: string;
  readonly path: Path;
  /** Where the template opens in the text at the path. */
  readonly at: number;
}

function* checkRead(reader: Reader, stores: KeyStores, mayExist: boolean, ancestors: Ancestors): Findings {
  const { task, wave } = reader;
  const isStoredBefore = stores.isStoredBefore(wave, task.id);
  for (const store of stores.notBefore(wave, task.id)) {
    if (store.wave !== wave && isStoredBefore) continue;
    if (yield* ancestors.includes(store.id, task.id)) continue;
    return yield race(reader, store);
  }
  if (!isStoredBefore && !mayExist) yield neverStored(reader);
}

function race({ task, wave, key, path, at }: Reader, store: StoringTask): Diagnostic {
  const when = store.wave === wave ? 'in the same wave' : 'only in a later wave';
  const message = `task "${task.id}" reads session key "${key}", which task "${store.id}" stores ${when}`;
  const text = `add "await: [${[...task.awaits, store.id].join(', ')}]" to task "${task.id}"`;
  const change = { kind: 'append', path: [...task.path, 'await'], value: store.id } as const;
  return { code: 'session_race', severity: 'warning', message, path, at, hint: { text, change } };
}

function neverStored({ key, path, at }: Reader): Diagnostic {
  const message = `no earlier task stores session key "${key}"`;
  const hint = `pass it with --session, declare it under "reads", or add a fallback: {{session.${key} ?? null}}`;
  return { code: 'session_never_stored', severity: 'warning', message, path, at, hint };
}

/** Warns when several tasks of one wave, or several items of one task, overwrite each other. */
function checkConflicts(stores: readonly StoringTask[]): Diagnostic[] {
  const waves = groupBy(stores, ({ wave }) => wave);
  return [...waves.values()].flatMap((wave) => [
    ...checkOverwritingTasks(wave),
    ...wave.flatMap(checkOverwritingItems),
  ]);
}

function checkOverwritingTasks(wave: readonly StoringTask[]): Diagnostic[] {
  const overwriting = wave.find((store) => !store.append);
  const last = wave.at(-1);
  if (wave.length < 2 || overwriting === undefined || last === undefined) return [];
  const names = wave.map(({ id }) => `"${id}"`);
  const message = `tasks ${joinFirst(names, 3)} store session key "${last.key}" in the same wave: chance decides which value is kept`;
  const hint = 'set "append: true" on all of them, or order them with await';
  return [{ code: 'store_conflict', severity: 'warning', message, path: last.path, hint }];
}

function checkOverwritingItems({ id, key, append, fansOut, path }: StoringTask): Diagnostic[] {
  if (!fansOut || append) return [];
  const message = `every item of task "${id}" stores session key "${key}": only the value of the last item is kept`;
  const change = { kind: 'set', path: [...path, 'inputs', 'append'], value: true } as const;
  const hint = { text: 'set "append: true" to keep them all', change };
  return [{ code: 'store_conflict', severity: 'warning', message, path, hint }];
}

/** How many tasks are considered that might race with one reader. */
const MAX_CANDIDATES = 20;

/** The tasks that store one session key, ordered by wave. */
class KeyStores {
  readonly all: readonly StoringTask[];

  constructor(stores: readonly StoringTask[]) {
    this.all = stores.toSorted((a, b) => a.wave - b.wave);
  }

  /** Returns true when another task stores the key in an earlier wave. */
  isStoredBefore(wave: number, reader: string): boolean {
    const first = this.all.find(({ id }) => id !== reader);
    return first !== undefined && first.wave < wave;
  }

  /** Returns the first other tasks that store the key in this wave or later. */
  notBefore(wave: number, reader: string): readonly StoringTask[] {
    const start = this.#findWave(wave);
    return this.all.slice(start, start + MAX_CANDIDATES).filter(({ id }) => id !== reader);
  }

  #findWave(wave: number): number {
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

const NO_STORES = new KeyStores([]);

/** How many tasks may be visited in all, so that no definition takes long. */
const MAX_VISITS = 2_000_000;

const VISITS_PER_STEP = 1000;

/** The tasks that run before a task because of templates and `await`, directly or indirectly. */
class Ancestors {
  readonly #upstream: Upstream;
  readonly #cache = new Map<string, ReadonlySet<string>>();
  #visits = 0;

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  /** Also returns true when the search would take too long, because only certain races are reported. */
  *includes(id: string, ancestor: string): Steps<boolean> {
    return this.#visits > MAX_VISITS || (yield* this.#find(id)).has(ancestor);
  }

  *#find(id: string): Steps<ReadonlySet<string>> {
    const cached = this.#cache.get(id);
    if (cached !== undefined) return cached;
    const ancestors = new Set<string>();
    const pending = [...(this.#upstream.get(id) ?? [])];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (ancestors.has(next)) continue;
      if (++this.#visits % VISITS_PER_STEP === 0) yield;
      ancestors.add(next);
      for (const before of this.#upstream.get(next) ?? []) pending.push(before);
    }
    this.#cache.set(id, ancestors);
    return ancestors;
  }
}
