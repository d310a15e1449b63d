import type { Abort } from '../../../machines/ports.js';
import { errorMessage, isNonRetryable, readRetryAfterMs, ToolError } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import { beginJsonOutput, type JsonOutput } from './json-output.js';
import type { InvocationServices } from '../run-context.js';
import { type CallProgress, measureRetry } from '../history/fact.js';
import { Attempt } from './attempt.js';
import type { AttemptInfo } from './attempt-observer.js';
import { AttemptTimeout } from './attempt-timeout.js';
import { InvocationModels } from './invocation-models.js';
import { type Call, type CallListener, STOPPED } from './call.js';
import { retryDelayMs, taskBackoff } from './retry-delay.js';
import { messageWithCauses } from './thrown-error.js';

const SUCCEEDED = { ok: true } as const;

/**
 * The tool call of one task or item: its attempts, their timeouts and the delays between them (rule 13, D18, D19). An
 * invocation settles exactly once, however the tool behaves; whatever a tool does after its attempt is ignored.
 */
export class Invocation {
  #attempts = 0;
  #attempt: Attempt | undefined;
  #timer: unknown;
  #onAttemptEnd: ((error?: string) => void) | undefined;
  #settled = false;
  #isAborted = false;
  /** True when the attempt has ended, and the invocation settles or is retried when its nested runs have ended. */
  #isEnding = false;
  readonly #services: InvocationServices;
  readonly #call: Call;
  readonly #listener: CallListener;
  /** Created when an attempt first asks a model, or runs a pipeline that may. */
  #models: InvocationModels | undefined;

  constructor(services: InvocationServices, call: Call, listener: CallListener) {
    this.#services = services;
    this.#call = call;
    this.#listener = listener;
  }

  start(): void {
    const { progress } = this.#call;
    this.#services.invocations++;
    if (progress === undefined) this.#startAttempt();
    else this.#resume(progress);
  }

  /** Goes on with what another process has begun. */
  #resume({ attempts, due, delayMs }: CallProgress): void {
    this.#attempts = attempts;
    if (due === undefined) return this.#startAttempt();
    const remainingMs = Math.max(0, due - this.#services.dependencies.clock.now());
    this.#waitForRetry(Math.min(remainingMs, delayMs));
  }

  abort(): void {
    if (this.#settled) return;
    this.#isAborted = true;
    if (this.#isEnding) return;
    const attempt = this.#endAttempt(STOPPED);
    attempt?.abort(ToolError.nonRetryable(STOPPED));
    this.#afterNestedRuns(attempt, () => this.#fail(STOPPED));
  }

  #startAttempt(): void {
    const { task, item, inputs } = this.#call;
    const calls = this.#services.countCalls(task.tool.name, 1);
    const number = { attempt: ++this.#attempts, calls };
    const attempt = new Attempt(this.#services, task.id, item, number, this);
    this.#attempt = attempt;
    this.#listener.onAttempt(item, this.#attempts);
    this.#onAttemptEnd = this.#services.dependencies.onAttempt?.(this.#createInfo());
    const noted = this.#listener.onCall?.(this.#attempts);
    if (noted === undefined) this.#callTool(attempt, inputs);
    else void noted.then(() => this.#callTool(attempt, inputs));
  }

  #callTool(attempt: Attempt, inputs: JsonObject): void {
    if (attempt !== this.#attempt) return;
    const { task } = this.#call;
    this.#startTimeout(attempt);
    try {
      Promise.resolve(task.tool.run(inputs, attempt)).then(
        (value) => this.#onReturned(attempt, value),
        (error: unknown) => this.#onFailed(attempt, error),
      );
    } catch (error) {
      this.#onFailed(attempt, error);
    }
  }

  openModels(): InvocationModels {
    this.#models ??= new InvocationModels(this.#services.dependencies.models);
    return this.#models;
  }

  #createInfo(): AttemptInfo {
    const { task, item } = this.#call;
    return {
      runId: this.#services.prepared.id,
      location: this.#services.journal.location,
      taskId: task.id,
      tool: task.tool.name,
      item,
      attempt: this.#attempts,
    };
  }

  #startTimeout(attempt: Attempt): void {
    const timeoutMs = this.#call.task.timeoutMs ?? this.#services.prepared.options.timeoutMs;
    if (timeoutMs === undefined) return;
    attempt.timeout = new AttemptTimeout(this.#services.dependencies.clock, timeoutMs, () => {
      const error = new ToolError(`timed out after ${timeoutMs / 1000} s`);
      // Aborts the tool before the slot becomes free for another item.
      this.#endAttempt(error.message);
      attempt.abort(error);
      this.#afterNestedRuns(attempt, () => this.#failOrRetry(error));
    });
  }

  #onReturned(attempt: Attempt, value: unknown): void {
    if (attempt !== this.#attempt) return;
    if (attempt.permanentError !== undefined) return this.#onFailed(attempt, attempt.permanentError);
    const { dependencies, prepared } = this.#services;
    const { outputLimitBytes: limitBytes } = dependencies;
    const artifactPath = (): string => attempt.stagedFiles.claimBytes();
    const { masker } = prepared.secrets;
    const output = beginJsonOutput(value, { limitBytes, artifactPath, masker });
    if ('ok' in output) return this.#onCopied(attempt, output);
    // Copying all of a long output at once would hold the event loop.
    dependencies.stepRunner.run(output, prepared.tenantId).then(
      (copied) => this.#onCopied(attempt, copied),
      (error: unknown) => this.#onFailed(attempt, error),
    );
  }

  #onCopied(attempt: Attempt, output: JsonOutput): void {
    if (attempt !== this.#attempt) return;
    const { budget } = this.#services;
    if (!output.ok) return this.#onFailed(attempt, ToolError.nonRetryable(output.error));
    const sizeBytes = attempt.hasWritten(output.value) ? 0 : output.sizeBytes;
    try {
      budget.reserve(sizeBytes);
    } catch (error) {
      return this.#onFailed(attempt, error);
    }
    if (!attempt.hasFiles) return this.#onSucceeded(attempt, output.value, sizeBytes);
    attempt.stagedFiles.publish(output.artifacts).then(
      () => this.#onSucceeded(attempt, output.value, sizeBytes),
      (error: unknown) => {
        budget.release(sizeBytes);
        this.#onFailed(attempt, error);
      },
    );
  }

  #onSucceeded(attempt: Attempt, value: Json, sizeBytes: number): void {
    if (attempt !== this.#attempt) return this.#services.budget.release(sizeBytes);
    this.#endAttempt();
    // Most attempts have no nested runs, and need no function that waits for them.
    if (attempt.nestedRunsSettled === undefined) return this.#succeed(attempt, value, sizeBytes);
    this.#afterNestedRuns(attempt, () => this.#succeed(attempt, value, sizeBytes));
  }

  #succeed(attempt: Attempt, value: Json, sizeBytes: number): void {
    this.#settle();
    const bytes = sizeBytes + attempt.writtenBytes;
    const { writes, hasFiles } = attempt;
    this.#listener.onSuccess(this.#call.item, value, writes, this.#attempts, bytes, hasFiles);
    this.#call.slot.settle(SUCCEEDED);
  }

  #settle(): void {
    this.#settled = true;
    this.#services.budget.release(this.#call.heldBytes);
  }

  #onFailed(attempt: Attempt, error: unknown): void {
    if (attempt !== this.#attempt) return;
    this.#endAttempt(this.#describe(error));
    this.#afterNestedRuns(attempt, () => this.#failOrRetry(error));
  }

  /** Calls `conclude` when the nested runs of an attempt that has ended have ended too: usually at once. */
  #afterNestedRuns(attempt: Attempt | undefined, conclude: () => void): void {
    const nestedRunsSettled = attempt?.nestedRunsSettled;
    if (nestedRunsSettled === undefined) return conclude();
    this.#isEnding = true;
    void nestedRunsSettled.then(() => {
      this.#isEnding = false;
      conclude();
    });
  }

  #failOrRetry(error: unknown): void {
    if (this.#settled) return;
    const message = this.#describe(error);
    const isPermanent = isNonRetryable(error);
    if (isPermanent) this.#services.parent?.onPermanentFailure?.();
    const isLast = this.#isAborted || this.#attempts > this.#call.task.retries;
    if (isPermanent || isLast) return this.#fail(message, error);
    const refusal = this.#reserveRetry(message);
    if (refusal === undefined) this.#scheduleRetry(message, readRetryAfterMs(error));
    else this.#fail(`${message}; it is not tried again: ${refusal}`, error);
  }

  /** Takes memory for what a durable run keeps of a retry on the disk, which tenants share. Returns why it cannot. */
  #reserveRetry(message: string): string | undefined {
    if (this.#services.history === undefined) return undefined;
    try {
      this.#services.journal.budget.reserve(measureRetry(message));
      return undefined;
    } catch (refusal) {
      return errorMessage(refusal);
    }
  }

  /** Describes an error without the secrets of the run, which everybody who follows the run would see. */
  #describe(error: unknown): string {
    return messageWithCauses(error, this.#services.prepared.secrets.masker?.mask);
  }

  #scheduleRetry(error: string, askedMs: number): void {
    const { prepared, journal, dependencies } = this.#services;
    const backoff = taskBackoff(this.#call.task, prepared.options.backoff);
    const delayMs = retryDelayMs(this.#attempts, backoff, dependencies.random(), askedMs);
    this.#listener.onRetry(
      this.#call.item,
      error,
      this.#attempts,
      dependencies.clock.now() + Math.ceil(delayMs),
    );
    if (journal.isObserved) {
      const { task, item } = this.#call;
      const attempt = this.#attempts;
      const itemField = item === undefined ? {} : { item };
      journal.write({ kind: 'retry', task_id: task.id, ...itemField, attempt, delay_ms: delayMs, error });
    }
    this.#waitForRetry(delayMs);
    this.#call.slot.wait();
  }

  #waitForRetry(delayMs: number): void {
    this.#timer = this.#services.dependencies.clock.setTimeout(() => {
      this.#timer = undefined;
      this.#listener.onDue?.();
      this.#call.slot.resume(() => {
        if (!this.#settled) this.#startAttempt();
      });
    }, delayMs);
  }

  #fail(error: string, thrown?: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#call.slot.settle(this.#listener.onFailure(this.#call.item, error, this.#attempts, thrown));
  }

  /** Ends the current attempt, or the delay before the next one, and ignores what the tool does from now on. */
  #endAttempt(error?: string): Attempt | undefined {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.close();
    if (error !== undefined) attempt?.discardWrites();
    this.#onAttemptEnd?.(error);
    this.#onAttemptEnd = undefined;
    if (this.#timer !== undefined) {
      this.#services.dependencies.clock.clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    return attempt;
  }
}

/** Calls the tool, with all attempts: the innermost of the layers of a call. */
export function invoke(services: InvocationServices, call: Call, listener: CallListener): Abort {
  const invocation = new Invocation(services, call, listener);
  invocation.start();
  return () => invocation.abort();
}
