import type { Abort, Expansion, Slot } from '../../../machines/ports.js';
import type { FailedResult } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { describeKind, type Json, type JsonObject } from '../../common/json/json.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Task } from '../../pipelines/pipeline.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { copyToJson } from '../invocation/json-output.js';
import { NO_MEMORY_FOR_ERROR } from '../events/journal.js';
import type { CachedOutput } from '../invocation/cache/cached-output.js';
import { type Call, type CallOwner, type MakeCall, NO_ABORT } from '../invocation/call.js';
import type { ErrorRecord } from '../invocation/thrown-error.js';
import type { TaskOutcome } from '../results.js';
import type { InvocationServices } from '../run-context.js';
import { NO_WRITES, type Write } from '../session/session-overrides.js';
import type { Reuse } from './reuse.js';
import { TaskTrace, UNKNOWN_TIME } from './task-trace.js';

/** Of so many items that begin one after another, one reads the clock. */
const ITEMS_PER_TIME = 64;

/** Where the output of an item without attempts comes from: an earlier run (D60), or the cache (D65). */
const REUSED: { readonly reused?: true; readonly cached?: true } = { reused: true };
const CACHED = { cached: true } as const;

const NO_ITEM_WRITES: readonly (readonly Write[])[] = [];

/** Before they are rendered. */
const NO_INPUTS: JsonObject = Object.freeze({});

/** Measured memory of an invocation in flight, without what was rendered for it. */
const INVOCATION_BYTES = 2 * 1024;

/** Memory of one element of the output of a fan-out without its value, and of the times of the item. */
const ITEM_BYTES = 32;

/** Memory of the output of an item whose error is collected, without the text of the error. */
const ITEM_ERROR_BYTES = 64;

/** Memory of a failure with a text of usual length. */
const FAILURE_BYTES = 512;
const LONG_ERROR_LENGTH = 256;

/** The scope of a run's templates. A task sets the meter before it renders. */
interface MeteredScope extends TemplateScope {
  meter: RenderMeter;
}

/** One task while its wave settles: renders its inputs, invokes its tool, and collects the outcomes of its items. */
export class TaskWork implements CallOwner {
  readonly task: Task;
  /** The record that remains of the task once it has settled, for those who look at it. */
  readonly trace: TaskTrace;
  /** Attempts of a task that calls its tool once. */
  attempts = 0;
  /** The items whose errors were collected (D67). */
  collected: TaskFailure[] | undefined;
  /** The list that a fan-out runs over. */
  items: readonly Json[] | undefined;
  /** The outcome of an earlier run that replaces an invocation. */
  reused: TaskOutcome | undefined;
  #renderItemInputs: ((item: Json, index: number) => Json) | undefined;
  #meter: RenderMeter;
  /** Memory that is taken until the task settles: what was rendered for all of its items. */
  #heldBytes = 0;
  /** Memory of the output and the writes, kept when the task succeeds. */
  #outcomeBytes = 0;
  #output: Json = null;
  #itemOutputs: Json[] | undefined;
  #writes: (readonly Write[])[] | undefined;
  /** Memory of the reused items' outcomes, which was taken when the rerun was accepted. */
  #reusedBytes = 0;
  /** Memory of the failures that were collected, which the run keeps in any case. */
  #collectedBytes = 0;
  /** True when the task has a failure that was not collected. */
  #hasFailed = false;
  readonly #services: InvocationServices;
  readonly #scope: MeteredScope;
  readonly #failures: TaskFailure[];
  readonly #reuse: Reuse | undefined;
  readonly #makeCall: MakeCall;

  /**
   * @param makeCall makes a call with the layers of the run
   * @param failures receives each failure as it happens
   * @param reuse of a rerun
   */
  constructor(
    task: Task,
    services: InvocationServices,
    makeCall: MakeCall,
    scope: MeteredScope,
    failures: TaskFailure[],
    reuse: Reuse | undefined,
  ) {
    this.task = task;
    this.trace = new TaskTrace(services.journal.timeline.now(), services.budget, services.prepared.secrets);
    this.#services = services;
    this.#scope = scope;
    this.#meter = scope.meter;
    this.#makeCall = makeCall;
    this.#failures = failures;
    this.#reuse = reuse;
  }

  /**
   * Renders `parallel_over` (rule 7, D6). A task that reuses an earlier outcome makes no invocation (D35, D60).
   *
   * @throws TypeError when `parallel_over` does not render to a list
   */
  expand(): Expansion {
    const { options } = this.#services.prepared;
    this.reused = this.#reuse?.find(this.task);
    if (this.reused !== undefined) return this.#reuseOutcome(this.reused);
    const { parallelOver } = this.task;
    const concurrency = this.task.fanOutConcurrency ?? options.fanOutConcurrency;
    if (parallelOver === undefined) return { items: undefined, concurrency };
    this.#meter = new RenderMeter();
    this.#beginRendering();
    const list = parallelOver.render(this.#scope);
    if (!Array.isArray(list)) {
      throw new TypeError(`parallel_over must give a list, but gave ${describeKind(list)}`);
    }
    this.#hold(this.#meter.ownBytes);
    this.#keep(ITEM_BYTES * list.length);
    this.items = list;
    this.#itemOutputs = new Array<Json>(list.length);
    this.trace.fanOut(this.#itemOutputs);
    this.#renderItemInputs = this.task.inputs.bind(this.#scope);
    this.#findReusableItems(list);
    return { items: list.length, concurrency };
  }

  #findReusableItems(list: readonly Json[]): void {
    const reusable = this.#reuse?.findItems(this.task, list);
    if (reusable === undefined) return;
    this.#hold(reusable.listBytes);
    this.trace.reusable = reusable;
  }

  #reuseOutcome({ collected = [] }: TaskOutcome): Expansion {
    this.#listReusedFiles({});
    if (collected.length > 0) this.trace.reusedFailures = collected;
    for (const failure of collected) this.#reportFailure(failure);
    return { items: 0, concurrency: 1 };
  }

  #reportFailure(failure: TaskFailure): void {
    this.#failures.push(failure);
    this.#services.parent?.onFailure?.(failure);
  }

  invoke(item: number | undefined, slot: Slot): Abort {
    const call = {
      task: this.task,
      owner: this,
      item,
      slot,
      progress: undefined,
      inputs: NO_INPUTS,
      heldBytes: 0,
    };
    return this.#makeCall(call, this);
  }

  reuseItem({ item, slot }: Call): Abort | undefined {
    const reused = item === undefined ? undefined : this.trace.reusable?.get(item);
    if (item === undefined || reused === undefined) return undefined;
    const { output, writes, sizeBytes, place } = reused;
    this.#listReusedFiles({ item: place }, item);
    this.#reusedBytes += sizeBytes;
    this.onSuccess(item, output, writes, 0, 0);
    slot.settle({ ok: true });
    return NO_ABORT;
  }

  errorOf(item: number | undefined): ErrorRecord | undefined {
    return this.trace.failedAttempts(item)?.error;
  }

  /** Lists the files of a reused outcome, which belong to this run, too. */
  #listReusedFiles(earlier: { readonly item?: number }, item?: number): void {
    const { dependencies, prepared, journal } = this.#services;
    const { sub_pipeline } = journal.location;
    const task = { ...(sub_pipeline !== undefined && { sub_pipeline }), task_id: this.task.id };
    dependencies.artifacts.listReused(prepared.id, { ...task, ...earlier }, item);
  }

  #beginRendering(): void {
    this.#meter.start();
    this.#scope.meter = this.#meter;
  }

  /** Takes memory until the task settles. @throws ToolError when the run has none left */
  #hold(bytes: number): void {
    this.#services.budget.reserve(bytes);
    this.#heldBytes += bytes;
  }

  /** Takes memory of the output. @throws ToolError when the run has none left */
  #keep(bytes: number): void {
    this.#services.budget.reserve(bytes);
    this.#outcomeBytes += bytes;
  }

  /**
   * Call when the task settles. Of a fan-out that failed, the outputs of its other items are kept (D59).
   *
   * @param at when, in milliseconds since 1970; default: now
   */
  settle(isSuccess: boolean, at = this.#now()): void {
    this.trace.settledAt = at;
    this.trace.hasFailed = !isSuccess;
    this.trace.isReused = this.reused !== undefined;
    this.trace.outcomeBytes = this.#outcomeBytes + this.#reusedBytes;
    if (isSuccess) this.trace.reusable = undefined;
    const heldBytes = this.trace.reusable === undefined ? this.#heldBytes : 0;
    const keepsOutcome = isSuccess || this.#itemOutputs !== undefined;
    if (!isSuccess && keepsOutcome) this.trace.itemWrites = this.#writes ?? NO_ITEM_WRITES;
    this.#services.budget.release(heldBytes + (keepsOutcome ? 0 : this.#outcomeBytes));
  }

  render(call: Call): string | undefined {
    const { item } = call;
    try {
      this.#beginRendering();
      const sharedBytes = this.#meter.sharedBytes;
      const rendered = (
        item === undefined || this.items === undefined
          ? this.task.inputs.render(this.#scope)
          : this.#renderItemInputs?.(this.items[item] ?? null, item)
      ) as JsonObject;
      this.#hold(this.#meter.sharedBytes - sharedBytes);
      const { masker } = this.#services.prepared.secrets;
      const validated = validateInputs(
        this.task.tool,
        rendered,
        masker && ((value) => copyToJson(value, masker).json),
      );
      if (!validated.ok) return validated.errors.join('; ');
      const heldBytes = INVOCATION_BYTES + this.#meter.ownBytes;
      this.#services.budget.reserve(heldBytes);
      call.heldBytes = heldBytes;
      call.inputs = Object.freeze(validated.inputs);
      return undefined;
    } catch (error) {
      return errorMessage(error, this.#services.prepared.secrets.masker?.mask);
    }
  }

  onAttempt(item: number | undefined, attempt: number): void {
    const isFresh = attempt === 1 && (item ?? 1) % ITEMS_PER_TIME > 0;
    this.trace.onAttempt(item, isFresh ? this.latest : this.#now());
  }

  onRetry(item: number | undefined, error: string, attempt: number): void {
    this.trace.onRetry(item, attempt, error, this.#now());
  }

  /** Reads the clock in an observed run only: nobody looks at the times of the tasks of another one. */
  #now(): number {
    const { journal } = this.#services;
    return journal.isObserved ? journal.timeline.now() : UNKNOWN_TIME;
  }

  /** The time of the last event of the run, or of what it did after that. */
  get latest(): number {
    const { journal } = this.#services;
    return journal.isObserved ? journal.timeline.latest : UNKNOWN_TIME;
  }

  onSuccess(
    item: number | undefined,
    value: Json,
    writes: readonly Write[],
    attempts: number,
    sizeBytes: number,
  ): void {
    if (item === undefined) this.attempts = attempts;
    else this.#writeItemEvent(item, attempts);
    this.#keepOutput(item, value, writes, sizeBytes);
  }

  onCacheHit(item: number | undefined, { output, writes, sizeBytes }: CachedOutput): void {
    this.trace.onCacheHit(item);
    if (item !== undefined) this.#writeItemEvent(item, 0, undefined, CACHED);
    this.#keepOutput(item, output, writes, sizeBytes);
  }

  #keepOutput(item: number | undefined, value: Json, writes: readonly Write[], sizeBytes: number): void {
    this.#outcomeBytes += sizeBytes;
    if (item === undefined || this.#itemOutputs === undefined) this.#output = value;
    else {
      this.#itemOutputs[item] = value;
      this.trace.onItemSettled(item, this.latest);
    }
    if (writes.length > 0) {
      this.#writes ??= [];
      this.#writes[item ?? 0] = writes;
    }
  }

  onFailure(item: number | undefined, message: string, attempts: number, thrown?: unknown): FailedResult {
    const failure =
      item !== undefined && this.task.collectsErrors
        ? this.#collectFailure(item, message, attempts)
        : this.#addFailure(item, this.#keepError(message), attempts);
    this.trace.onFailure(failure, thrown, this.#now());
    const { error, collected } = failure;
    return { ok: false, error, ...(collected && { collected }) };
  }

  /** Collects the error of an item (D67). The task must stop when there is no memory for it: other items may be many. */
  #collectFailure(item: number, message: string, attempts: number): TaskFailure {
    const outputBytes = ITEM_ERROR_BYTES + message.length;
    const failureBytes = toFailureBytes(message);
    if (!this.#services.budget.tryReserve(failureBytes + outputBytes)) {
      return this.#addFailure(item, NO_MEMORY_FOR_ERROR, attempts);
    }
    this.#outcomeBytes += outputBytes;
    this.#collectedBytes += failureBytes;
    if (this.#itemOutputs !== undefined) this.#itemOutputs[item] = Object.freeze({ error: message });
    const failure = this.#addFailure(item, message, attempts, true);
    this.collected ??= [];
    this.collected.push(failure);
    return failure;
  }

  /** Records why a task failed whose items have failed and were all collected; other tasks have recorded it already. */
  recordTotalFailure(error: string): void {
    if (this.collected === undefined || this.#hasFailed) return;
    const attempts = this.collected.reduce((sum, failure) => sum + failure.attempts, 0);
    this.onFailure(undefined, error, attempts);
  }

  #addFailure(item: number | undefined, error: string, attempts: number, collected?: true): TaskFailure {
    const failure: TaskFailure = {
      task_id: this.task.id,
      error,
      attempts,
      ...(item !== undefined && { item }),
      ...(collected && { collected }),
    };
    this.#reportFailure(failure);
    if (collected === undefined) this.#hasFailed = true;
    if (item === undefined) this.attempts = attempts;
    else this.#writeItemEvent(item, attempts, error);
    return failure;
  }

  /** Takes the memory of a failure. A failure is kept without memory too, because it is small, but not its long text. */
  #keepError(error: string): string {
    const hasRoom = this.#services.budget.tryReserve(toFailureBytes(error));
    return hasRoom || error.length <= LONG_ERROR_LENGTH ? error : NO_MEMORY_FOR_ERROR;
  }

  #writeItemEvent(item: number, attempt: number, error?: string, origin = REUSED): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const { id: task_id } = this.task;
    if (error === undefined) {
      // Only an item whose output is there already needs no attempt to succeed.
      const from = attempt === 0 ? origin : {};
      journal.write({ kind: 'item', task_id, item, attempt, phase: 'finish', ...from });
    } else journal.write({ kind: 'item', task_id, item, attempt, phase: 'fail', error });
  }

  /** Collects output and blackboard writes of all invocations, both in item order (D23). */
  getOutcome(): TaskOutcome {
    if (this.reused !== undefined) return this.reused;
    const output = this.#itemOutputs === undefined ? this.#output : Object.freeze(this.#itemOutputs);
    const writes = this.#writes?.flat() ?? NO_WRITES;
    const sizeBytes = this.#outcomeBytes + this.#reusedBytes + this.#collectedBytes;
    const outcome = { output: output as Json, writes, sizeBytes };
    return this.collected === undefined ? outcome : { ...outcome, collected: this.collected };
  }
}

function toFailureBytes(error: string): number {
  return FAILURE_BYTES + (error.length > LONG_ERROR_LENGTH ? error.length : 0);
}
