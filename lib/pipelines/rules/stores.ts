import { getOrThrow } from '../../definition/assert.js';
import type { Path } from '../../definition/problems/problem.js';
import { store } from '../../tools/builtin/values/store.js';
import type { DraftTask, PipelineDraft } from '../draft.js';

/** A `store` task with a literal key. */
interface Store {
  readonly id: string;
  readonly key: string;
  readonly append: boolean;
  readonly fansOut: boolean;
  readonly path: Path;
}

export interface StoringTask extends Store {
  /** Index of the task's wave. */
  readonly wave: number;
}

export function listStores(draft: PipelineDraft, waveOf: ReadonlyMap<string, number>): StoringTask[] {
  return draft.tasks.flatMap((task) => {
    const stored = readStore(task);
    return stored === undefined ? [] : [{ ...stored, wave: getOrThrow(waveOf, task.id) }];
  });
}

/** Returns undefined for tasks of other tools, and when the key is a template. */
export function readStore(task: DraftTask): Store | undefined {
  const { id, literalInputs, fansOut, path } = task;
  const { key } = literalInputs;
  if (task.builtin !== store.name || typeof key !== 'string' || hasUnknownStoreKey(task)) return undefined;
  // A template may render to true, and only tasks that certainly overwrite are reported.
  const append = literalInputs['append'] === true || typeof literalInputs['append'] === 'string';
  return { id, key, append, fansOut, path };
}

/** Returns true when a task may store any key, because its key is a template. */
export function hasUnknownStoreKey({ builtin, literalInputs: { key } }: DraftTask): boolean {
  return builtin === store.name && typeof key === 'string' && key.includes('{{');
}
