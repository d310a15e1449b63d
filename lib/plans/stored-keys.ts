import { HANDLER_LISTS } from '../definition/schema/fields.js';
import type { Steps } from '../common/scheduling/steps.js';
import { groupBy } from '../definition/group-by.js';
import type { EarlierValue, KeyLookup } from '../pipelines/check-context.js';
import type { Pipeline } from '../pipelines/pipeline.js';
import { PipelineShapes } from '../pipelines/shapes/pipeline-shapes.js';
import { shapeSourceOf } from '../pipelines/shapes/shape-source.js';
import { runPipeline } from '../tools/builtin/run-pipeline.js';
import { store } from '../tools/builtin/values/store.js';
import type { DraftSubPipeline } from './draft.js';
import type { KeyWriters } from './order.js';

/** The pipeline of a sub-pipeline that was checked, and the shapes of its outputs. */
interface Writer {
  readonly pipeline: Pipeline;
  readonly shapes: PipelineShapes;
  readonly stores: ReadonlyMap<string, readonly Store[]>;
}

/** A task or a handler that stores a key. */
interface Store {
  readonly id: string;
  readonly key: string;
  /** As it is written. */
  readonly append: unknown;
}

/** The shapes of the session keys that the sub-pipelines of a plan store for those that run later (D13, Plan, rule 1). */
export class StoredKeys {
  readonly #writers: KeyWriters;
  readonly #session: KeyLookup;
  readonly #byName = new Map<string, Writer>();

  /** @param session keys that the run brings, with any values */
  constructor(writers: KeyWriters, session: KeyLookup) {
    this.#writers = writers;
    this.#session = session;
  }

  /** Call when the pipeline of a sub-pipeline was found valid. */
  add({ name }: DraftSubPipeline, pipeline: Pipeline): void {
    // A tool of somebody else, or the pipeline of a task, may store any key.
    const isKnown = !pipeline.contract.mayStoreMore && !callsPipeline(pipeline);
    if (!isKnown) return;
    const shapes = new PipelineShapes(shapeSourceOf(pipeline));
    const stores = groupBy(listStores(pipeline), ({ key }) => key);
    this.#byName.set(name, { pipeline, shapes, stores });
  }

  /** The keys that a sub-pipeline reads, as far as one task that is certain to run stores each. */
  *readBy(reader: DraftSubPipeline): Steps<ReadonlyMap<string, EarlierValue>> {
    const found = new Map<string, EarlierValue>();
    for (const key of new Set(reader.reads.map((read) => read.key))) {
      yield;
      if (this.#session.has(key)) continue;
      const name = this.#writers.other(key, reader)?.name;
      const writer = name === undefined ? undefined : this.#byName.get(name);
      const value = writer && findStored(key, writer);
      if (value === undefined) continue;
      found.set(key, { ...value, storedBy: `${value.storedBy} of sub-pipeline "${name}"` });
    }
    return found;
  }
}

function callsPipeline({ allTasks }: Pipeline): boolean {
  return [...allTasks.values()].some(({ tool }) => tool === runPipeline);
}

function findStored(key: string, { pipeline, shapes, stores }: Writer): EarlierValue | undefined {
  const found = stores.get(key) ?? [];
  const [only] = found;
  if (only === undefined || found.length > 1) return undefined;
  const { id, append = false } = only;
  const task = pipeline.tasks.get(id);
  if (task === undefined || typeof append !== 'boolean') return undefined;
  const isCertain = !task.toleratesFailure && task.conditions.length === 0 && task.neededOutputs.length === 0;
  // The earlier value of the key may be an element of a list that is appended to (D23).
  const shape = append ? { type: 'array' } : shapes.ofCall(id);
  return isCertain ? { shape, storedBy: `task "${id}"` } : undefined;
}

function listStores({ definition, allTasks }: Pipeline): Store[] {
  const declared = [definition.tasks, ...HANDLER_LISTS.map((list) => definition[list] ?? [])].flat();
  return declared.flatMap(({ id, inputs }): Store[] => {
    if (allTasks.get(id)?.tool !== store) return [];
    const { key, append }: Readonly<Record<string, unknown>> = inputs ?? {};
    return typeof key === 'string' ? [{ id, key, append }] : [];
  });
}
