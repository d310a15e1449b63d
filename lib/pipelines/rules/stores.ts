import type { Path } from '../../definition/problem.js';
import { store } from '../../tools/builtin/basic.js';
import type { Draft, DraftTask } from '../draft.js';
import { entryOf } from '../suggestions.js';

/** What a task stores by its literal name. */
interface Store {
  readonly id: string;
  readonly key: string;
  readonly append: boolean;
  readonly fansOut: boolean;
  readonly path: Path;
}

/** The same, when the waves are known. */
export interface StoringTask extends Store {
  /** Index of its wave. */
  readonly wave: number;
}

export function storesOf(draft: Draft, waveOf: ReadonlyMap<string, number>): StoringTask[] {
  return draft.tasks.flatMap((task) =>
    storeOf(task).map((stored) => ({ ...stored, wave: entryOf(waveOf, task.id) })),
  );
}

/** One, or none. */
export function storeOf(task: DraftTask): Store[] {
  const { id, literalInputs, fansOut, path } = task;
  const key = literalInputs['key'];
  if (task.tool !== store.name || typeof key !== 'string' || storesUnknownKey(task)) return [];
  // A template may be true: only what is known to overwrite is told.
  const append = literalInputs['append'] === true || typeof literalInputs['append'] === 'string';
  return [{ id, key, append, fansOut, path }];
}

/** Which key it stores is known to the run only: it may be any. */
export function storesUnknownKey({ tool, literalInputs }: DraftTask): boolean {
  const key = literalInputs['key'];
  return tool === store.name && typeof key === 'string' && key.includes('{{');
}
