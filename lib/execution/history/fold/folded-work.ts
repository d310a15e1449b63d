import type { SkippedTask, TaskFailure } from '../../../common/errors.js';
import type { Json, JsonObject } from '../../../common/json/json.js';
import type { Steps } from '../../../common/scheduling/steps.js';
import type { ItemEvent, TaskEvent } from '../../events/event.js';
import type { PlacedFact } from '../fact.js';
import type { ArtifactStore } from '../../invocation/files/artifact-store.js';
import type { MemoryBudget } from '../../memory-budget.js';
import type { PreparedRun } from '../../prepare/prepare-run.js';
import type { TaskOutcome } from '../../results.js';
import type { InputRenderer } from '../../run/input-renderer.js';
import { PublishedOutcomes } from '../../run/published-outcomes.js';
import { Reuse } from '../../run/reuse/reuse.js';
import type { TaskTrace } from '../../run/task-trace.js';
import type { Write } from '../../session/session-overrides.js';
import { FoldedTask } from './folded-task.js';
import type { ReadableWork } from '../../run/readable-run.js';

interface FoldedWorkParts {
  readonly prepared: PreparedRun;
  /** Undefined for a run of a pipeline by itself. */
  readonly subPipeline: string | undefined;
  readonly budget: MemoryBudget;
  readonly artifacts: ArtifactStore;
  /** Renders the lists of fan-outs of a rerun, to find the items that it had reused. */
  readonly createRenderer: (work: ReadableWork) => Pick<InputRenderer, 'renderList'>;
  /** Returns the namespace `run` of templates. @param areHandled true when handlers have run, which read how the run has ended */
  readonly createNamespace: (areHandled: boolean) => JsonObject;
  readonly onFailure?: (failure: TaskFailure) => void;
  readonly onWrites?: (writes: readonly Write[]) => void;
}

/** The outcomes of the tasks of one pipeline of a settled run, folded from its facts without machines and tools (D74). */
export class FoldedWork implements ReadableWork {
  readonly failures: TaskFailure[] = [];
  readonly handlerFailures: TaskFailure[] = [];
  readonly skipped: SkippedTask[] = [];
  readonly reuse: Reuse | undefined;
  /** The number of calls of tasks that have called their tools (D20). */
  invocations = 0;
  readonly #parts: FoldedWorkParts;
  readonly #outcomes = new PublishedOutcomes();
  readonly #tasks = new Map<string, FoldedTask>();

  constructor(parts: FoldedWorkParts) {
    const { rerunSource } = parts.prepared;
    this.#parts = parts;
    this.reuse = rerunSource && new Reuse(parts.prepared, rerunSource, (taskId) => this.getOutcome(taskId));
  }

  get outputs(): Record<string, Json> {
    return this.#outcomes.outputsOf(this.#parts.prepared.pipeline, 'tasks');
  }

  get handlerOutputs(): Record<string, Json> {
    return this.#outcomes.outputsOf(this.#parts.prepared.pipeline, 'handlers');
  }

  get runNamespace(): JsonObject | undefined {
    const { allTasks, handlers } = this.#parts.prepared.pipeline;
    if (allTasks.has('run')) return undefined;
    const areHandled = handlers !== undefined && [...handlers.tasks.keys()].some((id) => this.#tasks.has(id));
    return this.#parts.createNamespace(areHandled);
  }

  getTrace(taskId: string): TaskTrace | undefined {
    return this.#tasks.get(taskId)?.trace;
  }

  getOutcome(taskId: string): TaskOutcome | undefined {
    return this.#outcomes.get(taskId);
  }

  writesBefore(wave: number): readonly (readonly Write[])[] {
    return this.#outcomes.writesBefore(wave, this.#parts.prepared.pipeline);
  }

  /** Call for the start of a task, in the order of the facts. */
  *begin({ task_id: taskId, items, reused, time }: TaskEvent): Steps<void> {
    if (this.#tasks.has(taskId)) return;
    const task = this.#begin(taskId, Date.parse(time));
    if (task === undefined) return;
    const outcome = reused === true ? this.#parts.prepared.rerunSource?.outcomes.get(taskId) : undefined;
    if (outcome !== undefined) {
      this.#listReusedFiles({ task_id: taskId });
      for (const failure of task.reuse(outcome)) this.#addFailure(failure);
    } else if (items !== undefined) {
      task.fanOut(items);
      if (this.reuse !== undefined) yield* this.#findReusableItems(taskId, task);
    }
  }

  #begin(taskId: string, startedAt: number): FoldedTask | undefined {
    const { prepared, budget } = this.#parts;
    const task = prepared.pipeline.allTasks.get(taskId);
    if (task === undefined) return undefined;
    const folded = new FoldedTask(task, startedAt, budget, prepared);
    this.#tasks.set(taskId, folded);
    this.#outcomes.begin(taskId);
    return folded;
  }

  *#findReusableItems(taskId: string, { trace }: FoldedTask): Steps<void> {
    const task = this.#parts.prepared.pipeline.tasks.get(taskId);
    if (task === undefined) return;
    const list = yield* this.#parts.createRenderer(this).renderList(task);
    if (!list.ok || !Array.isArray(list.value)) return;
    trace.reusable = this.reuse?.findItems(task, list.value);
    if (trace.reusable !== undefined) this.#parts.budget.tryReserve(trace.reusable.listBytes);
  }

  #listReusedFiles(earlier: { readonly task_id: string; readonly item?: number }, item?: number): void {
    const { prepared, artifacts, subPipeline } = this.#parts;
    const location = subPipeline === undefined ? {} : { sub_pipeline: subPipeline };
    artifacts.listReused(prepared.id, { ...location, ...earlier }, item);
  }

  /** Call for each event of an item: those of reused ones are in no other fact. */
  addItem({ task_id: taskId, item, reused, time }: ItemEvent): void {
    const task = reused === true ? this.#tasks.get(taskId) : undefined;
    const place = task?.trace.reusable?.get(item)?.place;
    if (task === undefined || place === undefined) return;
    this.#listReusedFiles({ task_id: taskId, item: place }, item);
    task.reuseItem(item, Date.parse(time));
  }

  /** Call for each fact of this pipeline, in order. */
  add(fact: PlacedFact): void {
    if (!('task' in fact)) return;
    const task = this.#tasks.get(fact.task) ?? this.#begin(fact.task, fact.at);
    if (task === undefined) return;
    switch (fact.kind) {
      case 'retry':
        return task.retry(fact);
      case 'round':
        this.#countInvocation(fact.task);
        return task.endRound(fact);
      case 'succeeded':
        if (task.hasCalled(fact)) this.#countInvocation(fact.task);
        return task.succeed(fact);
      case 'failed':
        if (task.hasCalled(fact)) this.#countInvocation(fact.task);
        return this.#addFailure(task.fail(fact));
      case 'skipped':
        return task.skipItem(fact);
      case 'task_skipped':
        this.skipped.push({ task_id: fact.task, reason: fact.reason });
        return task.skip(fact.reason);
      case 'refused':
        return this.#addFailure(task.refuse(fact.error, fact.at));
      case 'published': {
        const failure = task.publish(fact);
        if (failure !== undefined) this.#addFailure(failure);
        if (task.trace.skipReason !== undefined) return this.#outcomes.fail(fact.task);
        if (fact.error === undefined) return this.#publish(fact.task, task.getOutcome());
        return this.#outcomes.fail(fact.task);
      }
      case 'called':
      case 'due':
        // They say what was at work, of which nothing is in a run that has settled.
        return undefined;
    }
  }

  #publish(taskId: string, outcome: TaskOutcome): void {
    this.#outcomes.add(taskId, outcome);
    this.reuse?.onPublished(taskId, outcome);
    this.#parts.onWrites?.(outcome.writes);
  }

  #isHandler(taskId: string): boolean {
    return this.#parts.prepared.pipeline.handlers?.tasks.has(taskId) === true;
  }

  #countInvocation(taskId: string): void {
    if (!this.#isHandler(taskId)) this.invocations++;
  }

  #addFailure(failure: TaskFailure): void {
    if (this.#isHandler(failure.task_id)) return void this.handlerFailures.push(failure);
    this.failures.push(failure);
    this.#parts.onFailure?.(failure);
  }
}
