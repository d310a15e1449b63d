import { pathFromValue } from '../../definition/template/expressions/operand.js';
import type { EarlierValue, KeyLookup, StoredLookup } from '../check-context.js';
import type { DraftTask, LocatedReference, PipelineDraft } from '../draft.js';
import { isPipelineCall } from '../rules/pipeline-calls.js';
import type { StoreOrder } from '../rules/sessions.js';
import { hasUnknownStoreKey, type StoringTask } from '../rules/stores.js';
import type { PipelineShapes, ReadValue } from './pipeline-shapes.js';

/** A value of the session, which one task stores. */
export type StoredValue = ReadValue & EarlierValue;

/**
 * The shapes of session keys that one task of the pipeline, or of another one of the plan, stores before they are read. They
 * hold for each run whose `session` does not bring the key: a caller may bring any, so that only warnings follow (D13).
 */
export class StoredShapes implements StoredLookup {
  readonly #draft: PipelineDraft;
  readonly #shapes: PipelineShapes;
  readonly #stores: ReadonlyMap<string, StoringTask>;
  readonly #order: StoreOrder;

  /** @param unreliable tasks of which a run may lack the output although it goes on */
  constructor(draft: PipelineDraft, shapes: PipelineShapes, order: StoreOrder, unreliable: KeyLookup) {
    this.#draft = draft;
    this.#shapes = shapes;
    this.#order = order;
    this.#stores = draft.tasks.some(mayStoreAnyKey)
      ? new Map()
      : findOnlyStores(draft, order.stores, unreliable);
  }

  /** Returns what a template of a task reads; undefined when it may be anything, and for a template with a default. */
  read(
    { reference, expression: { path }, hasFallback }: LocatedReference,
    reader: DraftTask,
  ): StoredValue | undefined {
    if (reference.kind !== 'session' || hasFallback || reader.list !== 'tasks') return undefined;
    const { key } = reference;
    const { stores, earlier } = this.#order;
    const value = stores.has(key) ? this.#ownValue(key, reader) : earlier?.get(key);
    const rest = pathFromValue(reference, path).slice(1);
    return value && { ...value, path: rest, label: `session.${key}` };
  }

  valueOf(key: string): EarlierValue | undefined {
    const store = this.#stores.get(key);
    if (store === undefined) return undefined;
    const { id, append } = store;
    // The earlier value of the key may be an element of a list that is appended to (D23).
    const shape = append ? { type: 'array' } : this.#shapes.ofCall(id);
    return { shape, storedBy: `task "${id}"` };
  }

  #ownValue(key: string, reader: DraftTask): EarlierValue | undefined {
    const { waveOf, session } = this.#order;
    const store = this.#stores.get(key);
    const wave = waveOf.get(reader.id);
    if (store === undefined || wave === undefined || store.wave >= wave) return undefined;
    const mayBeOther = this.#draft.reads.has(key) || session.has(key);
    return mayBeOther ? undefined : this.valueOf(key);
  }
}

/** A tool of somebody else may write any key, and so may the pipeline of a task. */
function mayStoreAnyKey(task: DraftTask): boolean {
  return task.builtin === undefined || isPipelineCall(task) || hasUnknownStoreKey(task);
}

/** Finds the keys that a single task stores, which is no handler and is certain to run, and always in the same way. */
function findOnlyStores(
  draft: PipelineDraft,
  stores: StoreOrder['stores'],
  unreliable: KeyLookup,
): ReadonlyMap<string, StoringTask> {
  const tasks = new Map(draft.tasks.map((task) => [task.id, task]));
  const isCertain = ({ id }: StoringTask): boolean => {
    const task = tasks.get(id);
    return task?.list === 'tasks' && !unreliable.has(id) && typeof task.literalInputs['append'] !== 'string';
  };
  const found = new Map<string, StoringTask>();
  for (const [key, [only, ...others]] of stores)
    if (only !== undefined && others.length === 0 && isCertain(only)) found.set(key, only);
  return found;
}
