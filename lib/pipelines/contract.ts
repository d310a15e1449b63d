import { isObject } from '../common/json/json.js';
import type { ModelPurpose } from '../models/model.js';
import type { PipelineDefinition } from '../definition/schema/schema.js';
import { type DraftTask, listReferences, type PipelineDraft } from './draft.js';
import { isPipelineCall } from './rules/pipeline-calls.js';
import { hasUnknownStoreKey, readStore } from './rules/stores.js';

/**
 * The requirements of a pipeline, and the keys that it stores. A plan's declarations are compared with them (D46). A
 * task that runs a nested pipeline counts as doing what that pipeline does.
 */
export interface Contract {
  /** Inputs that the pipeline declares or reads. */
  readonly inputs: ReadonlySet<string>;
  /** Params without a default. */
  readonly requiredParams: readonly string[];
  /** Session keys that templates of the pipeline read. */
  readonly reads: ReadonlyMap<string, SessionRead>;
  /** A task may read any key: it uses a custom tool, or runs a pipeline that is unknown before the run. */
  readonly readsUnknownKey: boolean;
  /** The secrets that tasks read, by name (D61). */
  readonly secrets: ReadonlyMap<string, SecretUse>;
  /** The language models that tasks ask, as far as the models are known: each once (D50). */
  readonly models: readonly ModelNeed[];
  /** The programs that tasks start (D88). */
  readonly commands: readonly CommandNeed[];
  /** Literal keys that `store` tasks write, each with the first task that writes the key. */
  readonly stores: ReadonlyMap<string, string>;
  /** Tasks whose `store` has a template as its key, or that run a pipeline written in place which has such a task. */
  readonly templatedStores: ReadonlySet<string>;
  /** A task may store any key: its key is a template, or it runs a pipeline that is unknown before the run. */
  readonly storesUnknownKey: boolean;
  /** Other keys may be stored too: unknown ones, and those of custom tools. */
  readonly mayStoreMore: boolean;
}

/** A language model that a task needs. */
interface ModelNeed {
  readonly purpose: ModelPurpose;
  /** The model that the task names; undefined for the one of the purpose. */
  readonly model: string | undefined;
  /** The param of this pipeline whose value names the model, in place of `model`. */
  readonly param?: string;
}

/** A program that a task starts. */
interface CommandNeed {
  readonly task: string;
  /** Undefined when a template names it. */
  readonly program: string | undefined;
  /** The program with its arguments, or the script, with its variables and its folder, as they are written. */
  readonly text: string;
}

/** How a pipeline uses a secret. */
interface SecretUse {
  /** Ids of the tasks that read the secret, or that run a pipeline which does. */
  readonly tasks: Set<string>;
  /** True when every template that reads the secret has a fallback. */
  isOptional: boolean;
}

/** The first template that reads a key; one without a fallback takes precedence. */
interface SessionRead {
  readonly task: string;
  /** A `??` fallback, or the call of a nested pipeline, may provide the value. */
  readonly hasFallback: boolean;
  /** True when a nested pipeline reads the key: it sees the whole blackboard, whatever the enclosing one `reads`. */
  readonly isNested: boolean;
}

/** Inline pipelines, by task id. */
type Nested = ReadonlyMap<string, { readonly contract: Contract; readonly definition: PipelineDefinition }>;

export function deriveContract(
  { params = {} }: PipelineDefinition,
  { tasks, usedInputs }: PipelineDraft,
  nested: Nested,
): Contract {
  const contracts = Array.from(nested.values(), ({ contract }) => contract);
  const isSomeNested = (flag: 'storesUnknownKey' | 'readsUnknownKey' | 'mayStoreMore'): boolean =>
    contracts.some((contract) => contract[flag]);
  const templatedStores = collectTemplatedStores(tasks, nested);
  // The inputs of `store` and `run_pipeline` show what they store; the other built-in tools neither read nor store.
  const usesCustomTool = tasks.some(({ builtin }) => builtin === undefined);
  const runsUnknownPipeline = tasks.some((task) => isPipelineCall(task) && !nested.has(task.id));
  const storesUnknownKey =
    runsUnknownPipeline || templatedStores.size > 0 || isSomeNested('storesUnknownKey');
  return {
    inputs: usedInputs,
    requiredParams: Object.keys(params).filter((name) => params[name]?.default === undefined),
    reads: collectReads(tasks, nested),
    readsUnknownKey: usesCustomTool || runsUnknownPipeline || isSomeNested('readsUnknownKey'),
    secrets: collectSecrets(tasks, nested),
    models: collectModels(tasks, nested),
    commands: collectCommands(tasks, nested),
    stores: collectStores(tasks, nested),
    templatedStores,
    storesUnknownKey,
    mayStoreMore: storesUnknownKey || usesCustomTool || isSomeNested('mayStoreMore'),
  };
}

function collectReads(tasks: readonly DraftTask[], nested: Nested): ReadonlyMap<string, SessionRead> {
  const reads = new Map<string, SessionRead>();
  for (const [key, read] of tasks.flatMap((task) => [...readsOfTask(task), ...nestedReads(task, nested)])) {
    const known = reads.get(key);
    if (known === undefined || (known.hasFallback && !read.hasFallback)) reads.set(key, read);
  }
  return reads;
}

function readsOfTask(task: DraftTask): [string, SessionRead][] {
  return listReferences(task).flatMap(({ reference, hasFallback }): [string, SessionRead][] =>
    reference.kind === 'session' ? [[reference.key, { task: task.id, hasFallback, isNested: false }]] : [],
  );
}

/** Lists the keys in the `reads` of the nested pipeline (D3), or else those it reads, without those that the call passes. */
function nestedReads({ id, literalInputs }: DraftTask, nested: Nested): [string, SessionRead][] {
  const pipeline = nested.get(id);
  if (pipeline === undefined) return [];
  const { reads } = pipeline.contract;
  const { session = {} } = literalInputs;
  const mayBePassed = !isObject(session);
  return [...(pipeline.definition.reads ?? reads.keys())]
    .filter((key) => mayBePassed || !Object.hasOwn(session, key))
    .map((key) => {
      const hasFallback = mayBePassed || reads.get(key)?.hasFallback === true;
      return [key, { task: id, hasFallback, isNested: true }];
    });
}

function collectSecrets(tasks: readonly DraftTask[], nested: Nested): ReadonlyMap<string, SecretUse> {
  let secrets: Map<string, SecretUse> | undefined;
  const add = (name: string, task: string, isOptional: boolean): void => {
    secrets ??= new Map();
    const known = secrets.get(name);
    if (known === undefined) secrets.set(name, { tasks: new Set([task]), isOptional });
    else {
      known.tasks.add(task);
      known.isOptional &&= isOptional;
    }
  };
  for (const { id, references } of tasks) {
    for (const { reference, hasFallback } of references) {
      if (reference.kind === 'secret') add(reference.name, id, hasFallback);
    }
    for (const [name, use] of nested.get(id)?.contract.secrets ?? []) add(name, id, use.isOptional);
  }
  return secrets ?? NO_SECRETS;
}

function collectModels(tasks: readonly DraftTask[], nested: Nested): readonly ModelNeed[] {
  const needs = new Map<string, ModelNeed>();
  const add = (need: ModelNeed): void =>
    void needs.set(`${need.purpose} ${need.model ?? ''} ${need.param ?? ''}`, need);
  for (const { id, usesModel, literalInputs } of tasks) {
    const { model } = literalInputs;
    const purpose = usesModel?.(literalInputs);
    // The value of another template is known when the task runs.
    const isKnown =
      model === undefined || model === null || (typeof model === 'string' && !model.includes('{{'));
    const param = typeof model === 'string' ? ONLY_A_PARAM.exec(model)?.[1] : undefined;
    if (purpose !== undefined && isKnown) add({ purpose, model: model ?? undefined });
    if (purpose !== undefined && param !== undefined) add({ purpose, model: undefined, param });
    // The params of a nested pipeline are known when the task runs.
    for (const need of nested.get(id)?.contract.models ?? []) if (need.param === undefined) add(need);
  }
  return [...needs.values()];
}

function collectCommands(tasks: readonly DraftTask[], nested: Nested): readonly CommandNeed[] {
  return tasks.flatMap(({ id, builtin, literalInputs }): CommandNeed[] => {
    const own = builtin === 'command' ? [{ task: id, ...describeCommand(literalInputs) }] : [];
    const inner = nested.get(id)?.contract.commands ?? [];
    return [...own, ...inner.map((need) => ({ ...need, task: id }))];
  });
}

function describeCommand({
  run,
  script,
  shell = 'bash',
  env = {},
  cwd,
}: DraftTask['literalInputs']): Omit<CommandNeed, 'task'> {
  const words = Array.isArray(run) ? run.map(String) : [];
  const program = script === undefined ? words[0] : shell;
  const isLiteral = typeof program === 'string' && !program.includes('{{');
  return {
    program: isLiteral ? program : undefined,
    text: [
      typeof script === 'string' ? script : words.join(' '),
      ...(JSON.stringify(env) === '{}' ? [] : [`env ${JSON.stringify(env)}`]),
      ...(typeof cwd === 'string' ? [`in ${cwd}`] : []),
    ].join(', '),
  };
}

const ONLY_A_PARAM = /^\s*\{\{\s*params\.(\w+)\s*\}\}\s*$/;

const NO_SECRETS: ReadonlyMap<string, SecretUse> = new Map();

function collectStores(tasks: readonly DraftTask[], nested: Nested): ReadonlyMap<string, string> {
  const stores = new Map<string, string>();
  for (const task of tasks) {
    const own = readStore(task)?.key;
    if (own !== undefined && !stores.has(own)) stores.set(own, task.id);
    for (const key of nested.get(task.id)?.contract.stores.keys() ?? []) {
      if (!stores.has(key)) stores.set(key, task.id);
    }
  }
  return stores;
}

function collectTemplatedStores(tasks: readonly DraftTask[], nested: Nested): ReadonlySet<string> {
  const storing = tasks.filter(
    (task) => hasUnknownStoreKey(task) || (nested.get(task.id)?.contract.templatedStores.size ?? 0) > 0,
  );
  return storing.length === 0 ? NO_TASKS : new Set(storing.map(({ id }) => id));
}

const NO_TASKS: ReadonlySet<string> = new Set();
