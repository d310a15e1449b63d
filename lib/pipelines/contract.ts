import type { PipelineDefinition } from '../definition/schema.js';
import { BUILTIN_TOOLS } from '../tools/builtin/all.js';
import type { Draft, DraftTask } from './draft.js';
import { storesUnknownKey, storesOf } from './stores.js';

/** What a pipeline asks of whoever runs it, and what it leaves behind: what a plan says of it is held against this (D46). */
export interface Contract {
  /** Inputs that it declares or reads. */
  readonly inputs: ReadonlySet<string>;
  /** Params without a default. */
  readonly requiredParams: readonly string[];
  /** Session keys that its templates read. */
  readonly reads: ReadonlyMap<string, SessionRead>;
  /** Literal keys that its `store` tasks write, each with the first task that does. */
  readonly stores: ReadonlyMap<string, string>;
  /** A `store` task has a templated key, which may be any. */
  readonly storesUnknownKey: boolean;
  /** Other keys may be stored too: that one, and those of tools of one's own and of pipelines that tasks run. */
  readonly mayStoreMore: boolean;
}

/** The first template that reads a key; one that cannot do without it comes before others. */
export interface SessionRead {
  readonly task: string;
  /** `??` gives a value when nothing is there. */
  readonly hasFallback: boolean;
}

export function contractOf({ params = {}, inputs = {} }: PipelineDefinition, draft: Draft): Contract {
  const readInputs = draft.tasks.flatMap(referencesOf).flatMap(({ reference }) => {
    return reference.kind === 'input' ? [reference.key] : [];
  });
  const anyUnknownKey = draft.tasks.some(storesUnknownKey);
  return {
    inputs: new Set([...Object.keys(inputs), ...readInputs]),
    requiredParams: Object.keys(params).filter((name) => params[name]?.default === undefined),
    reads: sessionReads(draft.tasks),
    stores: firstStores(draft),
    storesUnknownKey: anyUnknownKey,
    mayStoreMore: anyUnknownKey || draft.tasks.some(({ tool }) => !KNOWN_TO_STORE.has(tool ?? '')),
  };
}

/** `store` says what it stores; a pipeline that `run_pipeline` runs does not; the others of the package store nothing. */
const KNOWN_TO_STORE: ReadonlySet<string> = new Set(
  BUILTIN_TOOLS.map(({ name }) => name).filter((name) => name !== 'run_pipeline'),
);

function sessionReads(tasks: readonly DraftTask[]): ReadonlyMap<string, SessionRead> {
  const reads = new Map<string, SessionRead>();
  for (const task of tasks) {
    for (const { reference, hasFallback } of referencesOf(task)) {
      if (reference.kind !== 'session') continue;
      const known = reads.get(reference.key);
      if (known === undefined || (known.hasFallback && !hasFallback)) {
        reads.set(reference.key, { task: task.id, hasFallback });
      }
    }
  }
  return reads;
}

function firstStores(draft: Draft): ReadonlyMap<string, string> {
  const stores = new Map<string, string>();
  for (const { key, id } of storesOf(draft, new Map())) if (!stores.has(key)) stores.set(key, id);
  return stores;
}

function referencesOf({ references, overReferences }: DraftTask): DraftTask['references'] {
  return overReferences.length === 0 ? references : [...references, ...overReferences];
}
