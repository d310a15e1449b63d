import { type Duration, durationToMs } from '../common/duration.js';
import { estimateBytesInSteps, type JsonObject } from '../common/json/json.js';
import type { Steps } from '../common/scheduling/steps.js';
import { assertDefined, getOrThrow } from '../definition/assert.js';
import type { Problem } from '../definition/problems/problem.js';
import type { HandlerListName } from '../definition/schema/fields.js';
import type { PipelineDefinition, TaskDefinition } from '../definition/schema/schema.js';
import { DroppableTemplates } from '../definition/template/droppable-templates.js';
import type { Renderer } from '../definition/template/expressions/operand.js';
import type { Template } from '../definition/template/template.js';
import type { CheckSteps, DefinitionInput } from '../definition/text/source.js';
import type { Catalog } from '../tools/catalog.js';
import { verbatimInputs } from '../tools/inputs/literal-inputs.js';
import type { Tool } from '../tools/tool.js';
import { type Contract, deriveContract } from './contract.js';
import type { Condition } from '../definition/template/condition.js';
import { type Repeat, toConditions, toRepeat } from './flow/conditions.js';
import type { PipelineDraft } from './draft.js';
import { type HandlerWaves, joinWaves, listWaves, type TaskList } from './flow/handlers.js';
import { numberWaves } from './flow/waves.js';
import { findUnreliable, listNeededOutputs } from './flow/unreliable-outputs.js';
import { listStores } from './rules/stores.js';
import { computeStatistics, type Statistics } from './statistics.js';

/**
 * A checked pipeline, the only kind that runs. Only `assemblePipeline` creates one, which guarantees that its references
 * resolve, its tools exist and its waves are computed (rule 11).
 */
export interface Pipeline {
  readonly definition: PipelineDefinition;
  /** Renders with the params of a run. */
  readonly goal: Renderer;
  /** In declared order, without handlers. */
  readonly tasks: ReadonlyMap<string, Task>;
  /** Task ids by wave, in declared order within a wave (rule 1). */
  readonly waves: readonly (readonly string[])[];
  /** Undefined for a pipeline without handlers. */
  readonly handlers: Handlers | undefined;
  /** The tasks, then the handlers. */
  readonly allTasks: ReadonlyMap<string, Task>;
  /** The waves of the tasks, then those of the handlers, list by list. */
  readonly allWaves: readonly (readonly string[])[];
  readonly statistics: Statistics;
  /** The keys, inputs and params that a plan which runs the pipeline must know. */
  readonly contract: Contract;
  readonly warnings: readonly Problem[];
  /** The compiled templates of the tasks; a run at work holds them. */
  readonly templates: DroppableTemplates;
  /** Estimated memory with the compiled templates, in bytes. */
  readonly sizeBytes: number;
  /** Checks a pipeline that a task of this one will run, with the same tools. */
  readonly checkNestedPipeline: CheckNestedPipeline;
}

/** The tasks that run after all others (D80). */
export interface Handlers {
  /** List by list, in declared order. */
  readonly tasks: ReadonlyMap<string, Task>;
  /** Ids by list and wave. */
  readonly waves: HandlerWaves;
  /** The list of each wave of the pipeline; undefined for waves of tasks. */
  readonly lists: readonly (HandlerListName | undefined)[];
}

/** A task that is ready to run: its templates are compiled, its tool is found (D15). */
export interface Task {
  readonly id: string;
  /** The list of handlers in which it stands; undefined for a task that is no handler (D80). */
  readonly handlerOf: HandlerListName | undefined;
  readonly tool: Tool;
  readonly inputs: Template;
  /** False when the tool must not be called twice for one attempt (D68). */
  readonly isRepeatable: boolean;
  /** The template of `parallel_over`; undefined for a task that calls its tool once. */
  readonly parallelOver: Template | undefined;
  /** Attempts after the first (D2). */
  readonly retries: number;
  /** Delay before the first retry; undefined when the run's options decide (D66). */
  readonly retryDelayMs: number | undefined;
  /** Longest delay before a retry; undefined when the run's options decide (D66). */
  readonly maxRetryDelayMs: number | undefined;
  /** Maximum number of items in flight; undefined when the run's options decide (D66). */
  readonly fanOutConcurrency: number | undefined;
  /** The errors of failed items are part of the output, and the task goes on (D67). */
  readonly collectsErrors: boolean;
  /** Limit of one attempt; undefined when the run's options decide. */
  readonly timeoutMs: number | undefined;
  /** Conditions without which the task is skipped (D77). */
  readonly conditions: readonly Condition[];
  /** Conditions without which an item is skipped. */
  readonly itemConditions: readonly Condition[];
  /** Undefined for a task that calls its tool once, or once for each item (D83). */
  readonly repeat: Repeat | undefined;
  /** Tasks without whose outputs the task is skipped (D78), of those that may lack one. */
  readonly neededOutputs: readonly string[];
  /** When it has failed, its run goes on (D79). */
  readonly toleratesFailure: boolean;
  /** How long outputs may be reused for equal inputs; undefined when they may not (D65). */
  readonly cacheMs: number | undefined;
  /** The pool of which each call takes a place; undefined when it needs none (D81). */
  readonly pool: string | undefined;
  /** Index of the task's wave, from 0; the waves of handlers have the numbers after those of the tasks, list by list. */
  readonly wave: number;
  /** Ids of the tasks that run before this one, because of templates or `await` (rules 5 and 6). */
  readonly upstream: readonly string[];
}

/** A valid pipeline, perhaps with warnings; or the problems that keep it from running. */
export type CheckResult =
  | { readonly ok: true; readonly pipeline: Pipeline; readonly problems: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The values of a run that the check of its pipeline takes into account. */
export interface RunValues {
  /** Inputs of the run. Reading an input that neither they nor the definition provide is an error (D5). */
  readonly inputs?: JsonObject | undefined;
  /** Session values of the run. Reading a key that nothing provides is a warning (D9). */
  readonly session?: JsonObject | undefined;
}

export type CheckNestedPipeline = (input: DefinitionInput, values: RunValues) => CheckSteps<CheckResult>;

/** Measured memory of an empty pipeline, of a checked task, and of each task that it depends on, in bytes. */
const PIPELINE_BYTES = 4096;
const TASK_BYTES = 150;
const DEPENDENCY_BYTES = 8;

/** The parts of a pipeline that passed all checks. */
interface CheckedParts {
  readonly definition: PipelineDefinition;
  readonly draft: PipelineDraft;
  readonly waves: readonly (readonly string[])[];
  readonly handlers: HandlerWaves | undefined;
  /** Inline pipelines of tasks, by task id. */
  readonly nested: ReadonlyMap<string, Pipeline>;
  readonly catalog: Catalog;
  readonly warnings: readonly Problem[];
  readonly checkNestedPipeline: CheckNestedPipeline;
}

export function* assemblePipeline(parts: CheckedParts): Steps<Pipeline> {
  const { definition, draft, waves, handlers, nested, catalog, warnings, checkNestedPipeline } = parts;
  const allWaves = joinWaves(waves, handlers);
  const waveOf = numberWaves(allWaves);
  const tasks = new Map<string, Task>();
  const handlerTasks = new Map<string, Task>();
  const lists = handlers && new Map(draft.tasks.map(({ id, list }) => [id, list]));
  const templates = new DroppableTemplates(draft.compiledBytes);
  const listOf = (id: string): TaskList | undefined => lists?.get(id);
  const unreliable = yield* findUnreliable(draft, listOf);
  let taskBytes = 0;
  for (const task of draft.tasks) {
    yield;
    const { list } = task;
    const declared = task.fields as TaskDefinition;
    const tool = assertDefined(catalog.get(declared.tool), `the tool "${declared.tool}"`);
    const upstream = [...getOrThrow(draft.upstream, task.id)];
    taskBytes += TASK_BYTES + DEPENDENCY_BYTES * upstream.length;
    (list === 'tasks' ? tasks : handlerTasks).set(task.id, {
      id: task.id,
      handlerOf: list === 'tasks' ? undefined : list,
      tool,
      inputs: templates.add(task.inputs, task.literalInputs, verbatimInputs(tool)),
      isRepeatable: isRepeatable(tool, task.literalInputs),
      parallelOver: task.parallelOver && templates.add(task.parallelOver, task.parallelOverText ?? null),
      retries: declared.retry ?? 0,
      retryDelayMs: toMilliseconds(declared.retry_delay),
      maxRetryDelayMs: toMilliseconds(declared.max_retry_delay),
      fanOutConcurrency: declared.fan_out_concurrency,
      collectsErrors: declared.on_item_error === 'collect',
      timeoutMs: toMilliseconds(declared.timeout),
      cacheMs: toCacheTime(declared.cache),
      ...toConditions(task.conditions, templates),
      repeat: toRepeat(declared.repeat, task.until, templates),
      neededOutputs: listNeededOutputs(task, unreliable, listOf),
      toleratesFailure: declared.on_error === 'continue',
      pool: declared.pool,
      wave: getOrThrow(waveOf, task.id),
      upstream,
    });
  }
  const storeKeys = listStores(draft, waveOf).map(({ key }) => key);
  const statistics = computeStatistics(definition, waves, storeKeys);
  yield;
  const contract = deriveContract(definition, draft, nested);
  yield;
  const describedBytes = yield* estimateBytesInSteps([definition, warnings, [...contract.stores]]);
  return {
    definition,
    goal: draft.goal.renderer,
    tasks,
    waves,
    handlers: handlers && { tasks: handlerTasks, waves: handlers, lists: listWaves(waves.length, handlers) },
    allTasks: handlers === undefined ? tasks : new Map([...tasks, ...handlerTasks]),
    allWaves,
    statistics,
    contract,
    warnings,
    templates,
    sizeBytes: PIPELINE_BYTES + describedBytes + taskBytes + templates.sizeBytes,
    checkNestedPipeline,
  };
}

function isRepeatable({ repeatable = true }: Tool, written: JsonObject): boolean {
  return typeof repeatable === 'function' ? repeatable(written) : repeatable;
}

function toCacheTime(cache: TaskDefinition['cache']): number | undefined {
  if (typeof cache !== 'object') return cache === true ? Number.POSITIVE_INFINITY : undefined;
  return toMilliseconds(cache.ttl) ?? Number.POSITIVE_INFINITY;
}

function toMilliseconds(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : durationToMs(duration);
}
