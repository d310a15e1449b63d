import type { Expansion } from '../../../machines/ports.js';
import type { SucceededResult } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { describeKind, type Json } from '../../common/json/json.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import { NO_MEMORY_FOR_ERROR } from '../events/journal.js';
import { SKIP_BYTES } from '../history/fact.js';
import type { CachedOutput } from '../invocation/cache/cached-output.js';
import { type AbortableCall, type Call, type CallOutput, NO_ABORT, SUCCEEDED } from '../invocation/call.js';
import type { TaskOutcome } from '../results.js';
import { NO_WRITES, type Write } from '../session/session-overrides.js';
import { ConditionCheck, renderForItems } from '../../definition/template/condition.js';
import { TaskWork, toFailureBytes } from './task-work.js';

/** Of so many items that begin one after another, one reads the clock. */
const ITEMS_PER_TIME = 64;

/** Where the output of an item without attempts comes from: an earlier run (D60), or the cache (D65). */
interface OutputOrigin {
  readonly reused?: true;
  readonly cached?: true;
}

const REUSED: OutputOrigin = { reused: true };
const CACHED: OutputOrigin = { cached: true };

const NO_ITEM_WRITES: readonly (readonly Write[])[] = [];

/** Memory of one element of the output of a fan-out without its value, and of the times of the item. */
export const ITEM_BYTES = 32;

/** Memory of the output of an item whose error is collected, without the text of the error. */
export const ITEM_ERROR_BYTES = 64;

/** A task that calls its tool for each item of a list (rule 7), and collects the outcomes of the items. */
export class FanOutWork extends TaskWork {
  #items: readonly Json[] | undefined;
  #collected: TaskFailure[] | undefined;
  #renderItemInputs: ((item: Json, index: number) => Json) | undefined;
  /** Why an item is skipped; undefined unless conditions read the item. */
  #findUnmet: ((item: Json, index: number) => string | undefined) | undefined;
  #itemOutputs: Json[] | undefined;
  #writes: (readonly Write[])[] | undefined;
  /** Memory of the reused items' outcomes, which was taken when the rerun was accepted. */
  #reusedBytes = 0;
  /** Memory of the failures that were collected, which the run keeps in any case. */
  #collectedBytes = 0;

  override get items(): readonly Json[] | undefined {
    return this.#items;
  }

  override get collected(): TaskFailure[] | undefined {
    return this.#collected;
  }

  /** Renders `parallel_over` (D6). */
  override expand(): Expansion {
    const expansion = super.expand();
    if (this.reused !== undefined) return expansion;
    this.meter = new RenderMeter();
    this.beginRendering();
    const list = this.task.parallelOver?.render(this.run.scope);
    if (!Array.isArray(list)) {
      throw new TypeError(`parallel_over must give a list, but gave ${describeKind(list)}`);
    }
    this.hold(this.meter.ownBytes);
    this.run.services.budget.reserve(ITEM_BYTES * list.length);
    this.outcomeBytes += ITEM_BYTES * list.length;
    this.#items = list;
    this.#itemOutputs = new Array<Json>(list.length);
    this.trace.fanOut(this.#itemOutputs);
    this.#renderItemInputs = this.task.inputs.bind(this.run.scope);
    this.#bindConditions();
    this.#findReusableItems(list);
    const { fanOutConcurrency } = this.run.services.prepared.options;
    return { items: list.length, concurrency: this.task.fanOutConcurrency ?? fanOutConcurrency };
  }

  #bindConditions(): void {
    const { itemConditions } = this.task;
    if (itemConditions.length === 0) return;
    const check = new ConditionCheck(itemConditions);
    const render = renderForItems(itemConditions, this.run.scope);
    this.#findUnmet = (item, index) => check.findUnmet(render(item, index));
  }

  /** Returns false for an item that a condition skips, or that fails because one cannot be looked at. */
  #holds(item: number): boolean {
    if (this.#findUnmet === undefined) return true;
    try {
      this.beginRendering();
      return this.#findUnmet(this.#items?.[item] ?? null, item) === undefined;
    } catch {
      // The layer that decides says why.
      return false;
    }
  }

  override decide({ item = 0 }: Call): ReturnType<TaskWork['decide']> {
    try {
      this.beginRendering();
      const unmet = this.#findUnmet?.(this.#items?.[item] ?? null, item);
      if (unmet === undefined) return undefined;
      const reason = this.maskReason(unmet);
      this.run.services.budget.reserve(SKIP_BYTES + reason.length);
      return { reason };
    } catch (error) {
      return { error: errorMessage(error, this.run.services.prepared.secrets.masker?.mask) };
    }
  }

  override onSkip({ item = 0 }: Call, reason: string): void {
    this.outcomeBytes += SKIP_BYTES + reason.length;
    const { journal } = this.run.services;
    if (journal.isObserved)
      journal.write({ kind: 'item', task_id: this.task.id, item, attempt: 0, phase: 'skip', reason });
    if (this.#itemOutputs !== undefined) this.#itemOutputs[item] = null;
    this.trace.onItemSkipped(item, reason, this.latest);
  }

  #findReusableItems(list: readonly Json[]): void {
    const reusable = this.run.reuse?.findItems(this.task, list);
    if (reusable === undefined) return;
    this.hold(reusable.listBytes);
    this.trace.reusable = reusable;
  }

  override reuseItem(call: Call): AbortableCall | undefined {
    const { item, slot } = call;
    const reused = item === undefined ? undefined : this.trace.reusable?.get(item);
    if (item === undefined || reused === undefined || !this.#holds(item)) return undefined;
    const { output, writes, sizeBytes, place } = reused;
    this.listReusedFiles({ item: place }, item);
    this.#reusedBytes += sizeBytes;
    this.onSuccess(call, { value: output, writes, sizeBytes: 0, hasFiles: false });
    slot.settle({ ok: true });
    return NO_ABORT;
  }

  override settle(isSuccess: boolean, at?: number): void {
    if (isSuccess) this.trace.reusable = undefined;
    else if (this.#itemOutputs !== undefined) this.trace.itemWrites = this.#writes ?? NO_ITEM_WRITES;
    if (this.trace.reusable !== undefined) this.heldBytes = 0;
    super.settle(isSuccess, at);
    this.trace.outcomeBytes += this.#reusedBytes;
  }

  /** Of a fan-out that failed, the outputs of its other items are kept (D59). */
  protected override keepsOutcome(isSuccess: boolean): boolean {
    return isSuccess || this.#itemOutputs !== undefined;
  }

  protected override renderInputs(item: number): Json | undefined {
    return this.#renderItemInputs?.(this.#items?.[item] ?? null, item);
  }

  override onAttempt({ item, attempts }: Call): void {
    const isFresh = attempts === 1 && (item ?? 1) % ITEMS_PER_TIME > 0;
    this.trace.onAttempt(item, isFresh ? this.latest : this.now());
  }

  override onSuccess(call: Call, { value, writes, sizeBytes }: CallOutput): SucceededResult {
    const { item = 0, attempts } = call;
    this.releaseInputs(call);
    // Only an item whose output is there already needs no attempt to succeed.
    this.#writeEvent(item, attempts, attempts === 0 ? REUSED : undefined);
    this.#keepItemOutput(item, value, writes, sizeBytes);
    return SUCCEEDED;
  }

  override onCacheHit({ item = 0 }: Call, { output, writes, sizeBytes }: CachedOutput): void {
    this.trace.onCacheHit(item);
    this.#writeEvent(item, 0, CACHED);
    this.#keepItemOutput(item, output, writes, sizeBytes);
  }

  #keepItemOutput(item: number, value: Json, writes: readonly Write[], sizeBytes: number): void {
    this.outcomeBytes += sizeBytes;
    if (this.#itemOutputs !== undefined) this.#itemOutputs[item] = value;
    this.trace.onItemSettled(item, this.latest);
    if (writes.length === 0) return;
    this.#writes ??= [];
    this.#writes[item] = writes;
  }

  protected override recordFailure(item: number | undefined, message: string, attempts: number): TaskFailure {
    return item !== undefined && this.task.collectsErrors
      ? this.#collectFailure(item, message, attempts)
      : super.recordFailure(item, message, attempts);
  }

  /** Collects the error of an item (D67). The task must stop when there is no memory for it: other items may be many. */
  #collectFailure(item: number, message: string, attempts: number): TaskFailure {
    const outputBytes = ITEM_ERROR_BYTES + message.length;
    const failureBytes = toFailureBytes(message);
    if (!this.run.services.budget.tryReserve(failureBytes + outputBytes)) {
      return this.addFailure(item, NO_MEMORY_FOR_ERROR, attempts);
    }
    this.outcomeBytes += outputBytes;
    this.#collectedBytes += failureBytes;
    if (this.#itemOutputs !== undefined) this.#itemOutputs[item] = Object.freeze({ error: message });
    const failure = this.addFailure(item, message, attempts, true);
    this.#collected ??= [];
    this.#collected.push(failure);
    return failure;
  }

  protected override addFailure(
    item: number | undefined,
    error: string,
    attempts: number,
    collected?: true,
  ): TaskFailure {
    const failure = super.addFailure(item, error, attempts, collected);
    const { journal } = this.run.services;
    if (item !== undefined && journal.isObserved) {
      journal.write({ kind: 'item', task_id: this.task.id, item, attempt: attempts, phase: 'fail', error });
    }
    return failure;
  }

  #writeEvent(item: number, attempt: number, origin: OutputOrigin | undefined): void {
    const { journal } = this.run.services;
    if (!journal.isObserved) return;
    journal.write({ kind: 'item', task_id: this.task.id, item, attempt, phase: 'finish', ...origin });
  }

  /** Collects output and blackboard writes of all items, both in item order (D23). */
  override getOutcome(): TaskOutcome {
    if (this.reused !== undefined || this.#itemOutputs === undefined) return super.getOutcome();
    const output = Object.freeze(this.#itemOutputs) as Json;
    const writes = this.#writes?.flat() ?? NO_WRITES;
    const sizeBytes = this.outcomeBytes + this.#reusedBytes + this.#collectedBytes;
    const outcome = { output, writes, sizeBytes };
    return this.#collected === undefined ? outcome : { ...outcome, collected: this.#collected };
  }
}
