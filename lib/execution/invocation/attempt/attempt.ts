import { isNonRetryable, ToolError } from '../../../common/errors.js';
import type { Json } from '../../../common/json/json.js';
import type { InvocationServices } from '../../run-context.js';
import { AttemptContext } from './attempt-context.js';
import {
  type AbortableCall,
  type Call,
  type CallListener,
  type CallOutput,
  failCall,
  STOPPED,
} from '../call.js';
import { beginJsonOutput, type JsonOutput } from '../json-output.js';
import { messageWithCauses } from '../thrown-error.js';

/** One attempt of a call: calls the tool, and copies what it returns. It ends exactly once, however the tool behaves (rule 13). */
class Attempt extends AttemptContext implements AbortableCall {
  readonly #listener: CallListener;

  constructor(services: InvocationServices, call: Call, listener: CallListener) {
    super(services, call);
    this.#listener = listener;
  }

  get #services(): InvocationServices {
    return AttemptContext.servicesOf(this);
  }

  get #call(): Call {
    return AttemptContext.callOf(this);
  }

  start(): this {
    this.#listener.onAttempt(this.#call);
    const noted = this.#listener.onCall(this.#call);
    if (noted === undefined) this.#callTool();
    else void noted.then(() => this.#callTool());
    return this;
  }

  #callTool(): void {
    if (this.isOver) return;
    const { task, inputs } = this.#call;
    try {
      Promise.resolve(task.tool.run(inputs, this)).then(
        (value) => this.#onReturned(value),
        (error: unknown) => this.#onFailed(error),
      );
    } catch (error) {
      this.#onFailed(error);
    }
  }

  abort(error?: ToolError): void {
    if (this.isOver) return;
    const message = error?.message ?? STOPPED;
    this.#endInFailure();
    // Aborts the tool before the slot becomes free for another item.
    this.abortSignal(error ?? ToolError.nonRetryable(STOPPED));
    this.#afterNestedRuns(() => failCall(this.#call, this.#listener, message, error));
  }

  #onReturned(value: unknown): void {
    if (this.isOver) return;
    if (this.permanentError !== undefined) return this.#onFailed(this.permanentError);
    const { dependencies, prepared } = this.#services;
    const output = beginJsonOutput(value, {
      limitBytes: dependencies.outputLimitBytes,
      artifactPath: () => this.stagedFiles.claimBytes(),
      masker: prepared.secrets.masker,
    });
    if ('ok' in output) return this.#onCopied(output);
    // Copying all of a long output at once would hold the event loop.
    dependencies.stepRunner.run(output, prepared.tenantId).then(
      (copied) => this.#onCopied(copied),
      (error: unknown) => this.#onFailed(error),
    );
  }

  #onCopied(output: JsonOutput): void {
    if (this.isOver) return;
    const { budget } = this.#services;
    if (!output.ok) return this.#onFailed(ToolError.nonRetryable(output.error));
    const sizeBytes = this.hasWritten(output.value) ? 0 : output.sizeBytes;
    try {
      budget.reserve(sizeBytes);
    } catch (error) {
      return this.#onFailed(error);
    }
    if (!this.hasFiles) return this.#onSucceeded(output.value, sizeBytes);
    this.stagedFiles.publish(output.artifacts).then(
      () => this.#onSucceeded(output.value, sizeBytes),
      (error: unknown) => {
        budget.release(sizeBytes);
        this.#onFailed(error);
      },
    );
  }

  #onSucceeded(value: Json, valueBytes: number): void {
    if (this.isOver) return this.#services.budget.release(valueBytes);
    this.close();
    const { writes, hasFiles } = this;
    const output = { value, writes, sizeBytes: valueBytes + this.writtenBytes, hasFiles };
    // Most attempts have no nested runs, and need no function that waits for them.
    if (this.nestedRunsSettled === undefined) return this.#succeed(output);
    this.#afterNestedRuns(() => this.#succeed(output));
  }

  #onFailed(error: unknown): void {
    if (this.isOver) return;
    this.#endInFailure();
    this.#afterNestedRuns(() => {
      if (isNonRetryable(error)) this.#services.parent?.onPermanentFailure?.();
      failCall(this.#call, this.#listener, this.#describe(error), error);
    });
  }

  /** Ends the attempt, and drops what it has written. */
  #endInFailure(): void {
    this.close();
    this.discardWrites();
  }

  /** Calls `conclude` when the nested runs of the attempt have ended too: usually at once. */
  #afterNestedRuns(conclude: () => void): void {
    const { nestedRunsSettled } = this;
    if (nestedRunsSettled === undefined) conclude();
    else void nestedRunsSettled.then(conclude);
  }

  #succeed(output: CallOutput): void {
    const result = this.#listener.onSuccess(this.#call, output);
    if (result !== undefined) this.#call.slot.settle(result);
  }

  /** Describes an error without the secrets of the run, which everybody who follows the run would see. */
  #describe(error: unknown): string {
    return messageWithCauses(error, this.#services.prepared.secrets.masker?.mask);
  }
}

/** Calls the tool once: the innermost of the layers of a call. */
export function makeAttempt(services: InvocationServices, call: Call, listener: CallListener): AbortableCall {
  return new Attempt(services, call, listener).start();
}
