import type { PipelineDefinition } from '../definition/schema/schema.js';
import { isObject } from '../common/json.js';
import { BUILTIN_TOOLS } from '../tools/builtin/index.js';
import { runsPipeline } from './rules/pipeline-calls.js';
import { type Draft, type DraftTask, inputsReadBy } from './draft.js';
import { storeOf, storesUnknownKey } from './rules/stores.js';

/**
 * What a pipeline asks of whoever runs it, and what it leaves behind: what a plan says of it is held against this
 * (D46). What a pipeline does that stands within a task, that task does.
 */
export interface Contract {
  /** Inputs that it declares or reads. */
  readonly inputs: ReadonlySet<string>;
  /** Params without a default. */
  readonly requiredParams: readonly string[];
  /** Session keys that its templates read. */
  readonly reads: ReadonlyMap<string, SessionRead>;
  /** Some task may read any key: by a tool of one's own, or by a pipeline that only the run knows. */
  readonly readsUnknownKey: boolean;
  /** Literal keys that its `store` tasks write, each with the first task that does. */
  readonly stores: ReadonlyMap<string, string>;
  /** Some task may store any key: under a templated one, or by a pipeline that only the run knows. */
  readonly storesUnknownKey: boolean;
  /** Other keys may be stored too: those, and what tools of one's own store. */
  readonly mayStoreMore: boolean;
}

/** The first template that reads a key; one that cannot do without it comes before others. */
interface SessionRead {
  readonly task: string;
  /** `??` gives a value when nothing is there, or the call of a nested pipeline may. */
  readonly hasFallback: boolean;
  /** By a pipeline within the task, which sees the whole blackboard: the `reads` around it keep nothing out. */
  readonly isNested: boolean;
}

/** Of pipelines that stand within tasks, by the id of the task. */
type NestedContracts = ReadonlyMap<
  string,
  { readonly contract: Contract; readonly definition: Pick<PipelineDefinition, 'reads'> }
>;

export function contractOf(
  { params = {}, inputs = {} }: PipelineDefinition,
  draft: Draft,
  nested: NestedContracts,
): Contract {
  const contracts = [...nested.values()].map(({ contract }) => contract);
  const anyUnknownKey =
    draft.tasks.some((task) => storesUnknownKey(task) || (runsPipeline(task) && !nested.has(task.id))) ||
    contracts.some((contract) => contract.storesUnknownKey);
  return {
    inputs: new Set([...Object.keys(inputs), ...inputsReadBy(draft)]),
    requiredParams: Object.keys(params).filter((name) => params[name]?.default === undefined),
    reads: sessionReads(draft.tasks, nested),
    readsUnknownKey:
      draft.tasks.some(({ tool }) => tool === undefined || !WELL_KNOWN.has(tool)) ||
      draft.tasks.some((task) => runsPipeline(task) && !nested.has(task.id)) ||
      contracts.some((contract) => contract.readsUnknownKey),
    stores: firstStores(draft.tasks, nested),
    storesUnknownKey: anyUnknownKey,
    mayStoreMore:
      anyUnknownKey ||
      draft.tasks.some(({ tool }) => tool === undefined || !WELL_KNOWN.has(tool)) ||
      contracts.some(({ mayStoreMore }) => mayStoreMore),
  };
}

/** `store` and `run_pipeline` say what they store; the others of the package store nothing, and none reads. */
const WELL_KNOWN: ReadonlySet<string> = new Set(BUILTIN_TOOLS.map(({ name }) => name));

function sessionReads(
  tasks: readonly DraftTask[],
  nested: NestedContracts,
): ReadonlyMap<string, SessionRead> {
  const reads = new Map<string, SessionRead>();
  for (const [key, read] of tasks.flatMap((task) => [...ownReads(task), ...nestedReads(task, nested)])) {
    const known = reads.get(key);
    if (known === undefined || (known.hasFallback && !read.hasFallback)) reads.set(key, read);
  }
  return reads;
}

function ownReads({ id, references, overReferences }: DraftTask): [string, SessionRead][] {
  return [...references, ...overReferences].flatMap(({ reference, hasFallback }): [string, SessionRead][] =>
    reference.kind === 'session' ? [[reference.key, { task: id, hasFallback, isNested: false }]] : [],
  );
}

/** What its own `reads` leave out it never sees (D3), and what the call gives it reads nowhere else. */
function nestedReads({ id, literalInputs }: DraftTask, nested: NestedContracts): [string, SessionRead][] {
  const pipeline = nested.get(id);
  if (pipeline === undefined) return [];
  const { reads } = pipeline.contract;
  const { session = {} } = literalInputs;
  const mayBeGiven = !isObject(session);
  return [...(pipeline.definition.reads ?? reads.keys())]
    .filter((key) => mayBeGiven || !Object.hasOwn(session, key))
    .map((key) => {
      const hasFallback = mayBeGiven || reads.get(key)?.hasFallback === true;
      return [key, { task: id, hasFallback, isNested: true }];
    });
}

function firstStores(tasks: readonly DraftTask[], nested: NestedContracts): ReadonlyMap<string, string> {
  const stores = new Map<string, string>();
  for (const task of tasks) {
    const keys = [
      ...storeOf(task).map(({ key }) => key),
      ...(nested.get(task.id)?.contract.stores.keys() ?? []),
    ];
    for (const key of keys) if (!stores.has(key)) stores.set(key, task.id);
  }
  return stores;
}
