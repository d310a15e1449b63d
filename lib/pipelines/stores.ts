import type { Path } from '../definition/problem.js';
import type { Draft, DraftTask } from './draft.js';

/** A task that stores a key by its literal name. */
export interface StoringTask {
  readonly id: string;
  readonly key: string;
  readonly append: boolean;
  /** Index of its wave. */
  readonly wave: number;
  readonly fansOut: boolean;
  readonly path: Path;
}

export function storesOf(draft: Draft, waveOf: ReadonlyMap<string, number>): StoringTask[] {
  return draft.tasks.flatMap((task) => {
    const { id, literalInputs, fansOut, path } = task;
    const key = literalInputs['key'];
    if (task.tool !== 'store' || typeof key !== 'string' || storesUnknownKey(task)) return [];
    // A template may be true: only what is known to overwrite is told.
    const append = literalInputs['append'] === true || typeof literalInputs['append'] === 'string';
    return [{ id, key, append, wave: waveOf.get(id) ?? 0, fansOut, path }];
  });
}

/** Which key it stores is known to the run only: it may be any. */
export function storesUnknownKey({ tool, literalInputs }: DraftTask): boolean {
  const key = literalInputs['key'];
  return tool === 'store' && typeof key === 'string' && key.includes('{{');
}
