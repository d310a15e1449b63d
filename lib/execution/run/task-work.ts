import type { Expansion, Slot } from '../../../machines/ports.js';
import type { FailedResult, SucceededResult } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import type { RenderMeter } from '../../definition/template/render-meter.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Task } from '../../pipelines/pipeline.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { NO_MEMORY_FOR_ERROR } from '../events/journal.js';
import { SKIP_BYTES } from '../history/fact.js';
import type { CachedOutput } from '../invocation/cache/cached-output.js';
import {
  type AbortableCall,
  attemptsOfRound,
  type Call,
  type CallOutput,
  type CallOwner,
  type MakeCall,
  STOPPED,
  SUCCEEDED,
} from '../invocation/call.js';
import { copyToJson } from '../invocation/json-output.js';
import type { ErrorRecord } from '../invocation/thrown-error.js';
import type { TaskOutcome } from '../results.js';
import type { InvocationServices } from '../run-context.js';
import { NO_WRITES, type Write } from '../session/session-overrides.js';
import type { Reuse } from './reuse/reuse.js';
import { ConditionCheck, renderAfterRound, renderWith } from '../../definition/template/condition.js';
import { TaskTrace, UNKNOWN_TIME } from './task-trace.js';

/** Before they are rendered. */
const NO_INPUTS: JsonObject = Object.freeze({});

/** Measured memory of an invocation in flight, without what was rendered for it. */
const INVOCATION_BYTES = 2 * 1024;

/** Memory of a failure with a text of usual length. */
const FAILURE_BYTES = 512;
const LONG_ERROR_LENGTH = 256;

/** The task calls its tool once. */
const ONE_CALL: Expansion = { items: undefined, concurrency: 1 };

/** The scope of a run's templates. A task sets the meter before it renders. */
interface MeteredScope extends TemplateScope {
  meter: RenderMeter;
}

/** The services of a run that its tasks share. */
export interface TaskServices {
  readonly services: InvocationServices;
  readonly scope: MeteredScope;
  /** Receives each failure as it happens. */
  readonly failures: TaskFailure[];
  /** Receives those of handlers. */
  readonly handlerFailures: TaskFailure[];
  /** Of a rerun. */
  readonly reuse: Reuse | undefined;
}

/** One task while its wave settles: renders its inputs, calls its tool, here once, and collects the outcome. */
export class TaskWork implements CallOwner {
  readonly task: Task;
  /** The record that remains of the task once it has settled, for those who look at it. */
  readonly trace: TaskTrace;
  /** Attempts of a task that calls its tool once. */
  attempts = 0;
  /** The outcome of an earlier run that replaces an invocation. */
  reused: TaskOutcome | undefined;
  /** Set while facts are replayed for a task that cannot begin: records its failure. */
  recordRefusal: (() => FailedResult) | undefined;
  /** Set when the task has failed although none of its calls had failed it. */
  ownFailure: { readonly attempts: number } | undefined;
  /** True when the task has a failure that was not collected. */
  protected hasFailed = false;
  /** Memory that is taken until the task settles: what was rendered for all of its calls. */
  protected heldBytes = 0;
  /** Memory of the output and the writes, kept when the task succeeds. */
  protected outcomeBytes = 0;
  protected meter: RenderMeter;
  protected readonly run: TaskServices;
  #output: Json = null;
  #writes = NO_WRITES;
  readonly #makeCall: MakeCall;

  /** @param makeCall makes a call with the layers of the run */
  constructor(task: Task, run: TaskServices, makeCall: MakeCall) {
    const { journal, budget, prepared } = run.services;
    this.task = task;
    this.trace = new TaskTrace(journal.timeline.now(), budget, prepared.secrets);
    this.run = run;
    this.meter = run.scope.meter;
    this.#makeCall = makeCall;
  }

  /** The list that a fan-out runs over. */
  get items(): readonly Json[] | undefined {
    return undefined;
  }

  /** The items whose errors were collected (D67). */
  get collected(): TaskFailure[] | undefined {
    return undefined;
  }

  /** Says which calls the task makes: none for a reused outcome (D35, D60). @throws TypeError when `parallel_over` is no list */
  expand(): Expansion {
    this.reused = this.run.reuse?.find(this.task);
    return this.reused === undefined ? ONE_CALL : this.#reuseOutcome(this.reused);
  }

  #reuseOutcome({ collected = [] }: TaskOutcome): Expansion {
    this.listReusedFiles({});
    if (collected.length > 0) this.trace.reusedFailures = collected;
    for (const failure of collected) this.#reportFailure(failure);
    return { items: 0, concurrency: 1 };
  }

  #reportFailure(failure: TaskFailure): void {
    if (this.task.handlerOf !== undefined) return void this.run.handlerFailures.push(failure);
    this.run.failures.push(failure);
    this.run.services.parent?.onFailure?.(failure);
  }

  /** Lists the files of a reused outcome, which belong to this run, too. */
  protected listReusedFiles(earlier: { readonly item?: number }, item?: number): void {
    const { dependencies, prepared, journal } = this.run.services;
    const { sub_pipeline } = journal.location;
    const task = { ...(sub_pipeline !== undefined && { sub_pipeline }), task_id: this.task.id };
    dependencies.artifacts.listReused(prepared.id, { ...task, ...earlier }, item);
  }

  invoke(item: number | undefined, slot: Slot): AbortableCall {
    const call: Call = {
      task: this.task,
      owner: this,
      item,
      slot,
      progress: undefined,
      attempts: 0,
      round: undefined,
      inputs: NO_INPUTS,
      heldBytes: 0,
      timeLimit: undefined,
      models: undefined,
    };
    return this.#makeCall(call, this);
  }

  reuseItem(_call: Call): AbortableCall | undefined {
    return undefined;
  }

  /** Why the task calls nothing (D78); undefined when it does. @throws Error for a condition that cannot be looked at */
  findOwnSkipReason(): string | undefined {
    const { conditions } = this.task;
    if (conditions.length === 0) return undefined;
    this.beginRendering();
    return new ConditionCheck(conditions).findUnmet(renderWith(this.run.scope));
  }

  /** Call for a task that calls nothing. Returns the reason as it is kept. */
  skip(reason: string): string {
    const shown = this.maskReason(reason);
    this.run.services.budget.reserve(SKIP_BYTES + shown.length);
    this.trace.skipReason = shown;
    return shown;
  }

  protected maskReason(reason: string): string {
    return this.run.services.prepared.secrets.masker?.mask(reason) ?? reason;
  }

  decide(_call: Call): ReturnType<CallOwner['decide']> {
    return undefined;
  }

  findUnmet(until: ConditionCheck, output: Json): string | undefined {
    this.beginRendering();
    const reason = until.findUnmet(renderAfterRound(this.run.scope, output));
    return reason === undefined ? undefined : this.maskReason(reason);
  }

  onSkip(_call: Call, _reason: string): void {
    // A task that calls its tool once is skipped before it makes a call.
  }

  errorOf(item: number | undefined): ErrorRecord | undefined {
    return this.trace.endedAttempts(item)?.error;
  }

  protected beginRendering(): void {
    this.meter.start();
    this.run.scope.meter = this.meter;
  }

  /** Takes memory until the task settles. @throws ToolError when the run has none left */
  protected hold(bytes: number): void {
    this.run.services.budget.reserve(bytes);
    this.heldBytes += bytes;
  }

  /** Call when the task settles. @param at when, in milliseconds since 1970; default: now */
  settle(isSuccess: boolean, at = this.now()): void {
    this.trace.settledAt = at;
    this.trace.hasFailed = !isSuccess;
    this.trace.isReused = this.reused !== undefined;
    this.trace.outcomeBytes = this.outcomeBytes;
    const droppedBytes = this.keepsOutcome(isSuccess) ? 0 : this.outcomeBytes;
    this.run.services.budget.release(this.heldBytes + droppedBytes);
  }

  protected keepsOutcome(isSuccess: boolean): boolean {
    return isSuccess;
  }

  render(call: Call): string | undefined {
    const { budget, prepared } = this.run.services;
    const { masker } = prepared.secrets;
    try {
      this.beginRendering();
      const sharedBytes = this.meter.sharedBytes;
      const rendered = this.renderInputs(call.item) as JsonObject;
      this.hold(this.meter.sharedBytes - sharedBytes);
      const copyMasked = masker && ((value: unknown) => copyToJson(value, masker).json);
      const validated = validateInputs(this.task.tool, rendered, copyMasked);
      if (!validated.ok) return validated.errors.join('; ');
      const heldBytes = INVOCATION_BYTES + this.meter.ownBytes;
      budget.reserve(heldBytes);
      call.heldBytes = heldBytes;
      call.inputs = Object.freeze(validated.inputs);
      return undefined;
    } catch (error) {
      return errorMessage(error, masker?.mask);
    }
  }

  protected renderInputs(_item: number | undefined): Json | undefined {
    return this.task.inputs.render(this.run.scope);
  }

  releaseInputs(call: Call): void {
    this.run.services.budget.release(call.heldBytes);
    call.heldBytes = 0;
  }

  onAttempt({ item, round }: Call): void {
    this.trace.onAttempt(item, this.now());
    if (this.task.repeat !== undefined) this.trace.rounds = round?.number ?? 1;
  }

  onCall(): undefined {
    return undefined;
  }

  onRetry({ item, attempts }: Call, error: string): void {
    this.trace.onRetry(item, attempts, error, this.now());
  }

  onRound({ attempts }: Call): void {
    this.trace.onRound(attempts, this.now());
  }

  onDue(): void {
    // Nothing is kept of the end of a delay.
  }

  /** Reads the clock in an observed run only: nobody looks at the times of the tasks of another one. */
  protected now(): number {
    const { journal } = this.run.services;
    return journal.isObserved ? journal.timeline.now() : UNKNOWN_TIME;
  }

  /** The time of the last event of the run, or of what it did after that. */
  get latest(): number {
    const { journal } = this.run.services;
    return journal.isObserved ? journal.timeline.latest : UNKNOWN_TIME;
  }

  onSuccess(call: Call, { value, writes, sizeBytes }: CallOutput): SucceededResult {
    this.releaseInputs(call);
    this.attempts = call.attempts;
    this.#keepOutput(value, writes, sizeBytes);
    return SUCCEEDED;
  }

  onCacheHit({ item }: Call, { output, writes, sizeBytes }: CachedOutput): void {
    this.trace.onCacheHit(item);
    this.#keepOutput(output, writes, sizeBytes);
  }

  #keepOutput(value: Json, writes: readonly Write[], sizeBytes: number): void {
    this.outcomeBytes += sizeBytes;
    this.#output = value;
    this.#writes = writes;
  }

  onFailure(call: Call, message: string, thrown?: unknown): FailedResult {
    this.releaseInputs(call);
    // A round that was lost with its process has begun, too.
    if (this.task.repeat !== undefined && attemptsOfRound(call) > 0)
      this.trace.rounds = call.round?.number ?? 1;
    return this.fail(call.item, message, call.attempts, thrown);
  }

  /** Records a failure of an item or of the task itself. Returns the error as it is kept. */
  fail(item: number | undefined, message: string, attempts: number, thrown?: unknown): FailedResult {
    const reason = message === STOPPED ? (this.run.services.stopReason ?? message) : message;
    const failure = this.recordFailure(item, reason, attempts);
    this.trace.onFailure(failure, thrown, this.now());
    const { error, collected } = failure;
    return { ok: false, error, ...(collected && { collected }) };
  }

  /**
   * Fails a task that cannot begin. While facts are replayed, it fails with its publication: the failures of calls wait for
   * their facts, too, and the first failure is the error of the run (D16).
   *
   * @param isNoted a refusal is noted, because it may depend on the memory that was left
   */
  refuse(error: string, isNoted: boolean): FailedResult {
    const { history } = this.run.services;
    const record = (): FailedResult => {
      const result = this.fail(undefined, error, 0);
      if (!isNoted) history?.note({ kind: 'refused', task: this.task.id, error: result.error });
      return result;
    };
    if (history?.replay === undefined) return record();
    this.recordRefusal = record;
    return { ok: false, error };
  }

  protected recordFailure(item: number | undefined, message: string, attempts: number): TaskFailure {
    return this.addFailure(item, this.#keepError(message), attempts);
  }

  protected addFailure(
    item: number | undefined,
    error: string,
    attempts: number,
    collected?: true,
  ): TaskFailure {
    const tolerated = collected === undefined && this.task.toleratesFailure;
    const failure: TaskFailure = {
      task_id: this.task.id,
      error,
      attempts,
      ...(item !== undefined && { item }),
      ...(collected && { collected }),
      ...(tolerated && { tolerated }),
    };
    this.#reportFailure(failure);
    if (collected === undefined) this.hasFailed = true;
    if (item === undefined) this.attempts = attempts;
    return failure;
  }

  /** Takes the memory of a failure. A failure is kept without memory too, because it is small, but not its long text. */
  #keepError(error: string): string {
    const hasRoom = this.run.services.budget.tryReserve(toFailureBytes(error));
    return hasRoom || error.length <= LONG_ERROR_LENGTH ? error : NO_MEMORY_FOR_ERROR;
  }

  /** Records why a task failed whose items have failed and were all collected; other tasks have recorded it already. */
  recordTotalFailure(error: string): void {
    if (this.collected === undefined || this.hasFailed) return;
    const attempts = this.collected.reduce((sum, failure) => sum + failure.attempts, 0);
    this.failItself(error, attempts);
  }

  /** Records a failure of the task that is none of its calls. */
  failItself(error: string, attempts: number): FailedResult {
    this.ownFailure = { attempts };
    return this.fail(undefined, error, attempts);
  }

  /** The output and the blackboard writes. */
  getOutcome(): TaskOutcome {
    if (this.reused !== undefined) return this.reused;
    return { output: this.#output, writes: this.#writes, sizeBytes: this.outcomeBytes };
  }
}

/** Memory of a failure. */
export function toFailureBytes(error: string): number {
  return FAILURE_BYTES + (error.length > LONG_ERROR_LENGTH ? error.length : 0);
}
