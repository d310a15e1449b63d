import { writeFile } from 'node:fs/promises';
import type { Place } from '../../../machines/types.js';
import { isFinal, messageOf, ToolError } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json.js';
import type { Task } from '../../pipelines/pipeline.js';
import { toOutput } from '../json-output.js';
import { retryDelayMs } from '../prepare/options.js';
import type { InvocationServices } from '../run-context.js';
import type { Write } from '../session/given-values.js';
import { Attempt } from './attempt.js';
import { type AttemptFacts } from './attempt-observer.js';

const STOPPED = 'stopped by force';

/** How an invocation ended, for those who keep its outcome. */
export interface InvocationEnd {
  succeeded(item: number | undefined, value: Json, writes: readonly Write[], attempts: number): void;
  failed(item: number | undefined, error: string, attempts: number): void;
}

/**
 * One tool call for one task or item: its attempts, the timeout of each, the waits between them (rule 13, D18,
 * D19). However a tool behaves, an invocation settles exactly once, and whatever comes later is not heard.
 */
export class Invocation {
  #attempts = 0;
  #attempt: Attempt | undefined;
  #timer: unknown;
  #told: ((error?: string) => void) | undefined;
  #settled = false;
  readonly #services: InvocationServices;
  readonly #task: Task;
  readonly #item: number | undefined;
  readonly #inputs: JsonObject;
  readonly #end: InvocationEnd;
  readonly #place: Place;

  constructor(
    services: InvocationServices,
    task: Task,
    item: number | undefined,
    inputs: JsonObject,
    end: InvocationEnd,
    place: Place,
  ) {
    this.#services = services;
    this.#task = task;
    this.#item = item;
    this.#inputs = inputs;
    this.#end = end;
    this.#place = place;
  }

  start(): void {
    this.#services.countInvocation();
    this.#makeAttempt();
  }

  abort(): void {
    if (this.#settled) return;
    this.#closeAttempt(STOPPED)?.stop(new ToolError(STOPPED, { retryable: false }));
    this.#fail(STOPPED);
  }

  #makeAttempt(): void {
    const attempt = new Attempt(this.#services, this.#task.id, this.#item, ++this.#attempts);
    this.#attempt = attempt;
    this.#told = this.#services.onAttempt?.(this.#facts());
    this.#armTimeout(attempt);
    try {
      Promise.resolve(this.#task.tool.run(this.#inputs, attempt)).then(
        (value) => this.#attemptReturned(attempt, value),
        (error: unknown) => this.#attemptFailed(attempt, error),
      );
    } catch (error) {
      this.#attemptFailed(attempt, error);
    }
  }

  #facts(): AttemptFacts {
    const { id, tool } = this.#task;
    return {
      run_id: this.#services.runId,
      place: this.#services.journal.place,
      task_id: id,
      tool: tool.name,
      item: this.#item,
      attempt: this.#attempts,
    };
  }

  #armTimeout(attempt: Attempt): void {
    const timeoutMs = this.#task.timeoutMs ?? this.#services.options.timeoutMs;
    if (timeoutMs === undefined) return;
    this.#timer = this.#services.clock.setTimeout(() => {
      const error = new ToolError(`timed out after ${timeoutMs / 1000} s`);
      // The tool hears of it before its place is given to another.
      this.#closeAttempt(error.message);
      attempt.stop(error);
      this.#failOrRetry(error);
    }, timeoutMs);
  }

  #attemptReturned(attempt: Attempt, value: unknown): void {
    if (attempt !== this.#attempt) return;
    if (attempt.refusal !== undefined) return this.#attemptFailed(attempt, attempt.refusal);
    const output = toOutput(value, {
      limitBytes: this.#services.outputLimitBytes,
      artifactPath: () => this.#services.artifactPath(this.#task.id),
    });
    const refusal = output.ok
      ? this.#refusalOf(output.weight + attempt.weightBeside(output.value))
      : new ToolError(output.error, { retryable: false });
    if (!output.ok || refusal !== undefined) this.#attemptFailed(attempt, refusal);
    else if (output.artifacts.length === 0) this.#succeed(attempt, output.value);
    else {
      Promise.all(output.artifacts.map(({ path, bytes }) => writeFile(path, bytes))).then(
        () => this.#succeed(attempt, output.value),
        (error: unknown) => this.#attemptFailed(attempt, error),
      );
    }
  }

  /** Why the run has no room for an output and what was written with it; undefined when it has. */
  #refusalOf(weight: number): unknown {
    try {
      this.#services.budget.take(weight);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #succeed(attempt: Attempt, value: Json): void {
    if (attempt !== this.#attempt) return;
    this.#closeAttempt();
    this.#settled = true;
    this.#end.succeeded(this.#item, value, attempt.close(), this.#attempts);
    this.#place.settle({ ok: true });
  }

  #attemptFailed(attempt: Attempt, error: unknown): void {
    if (attempt !== this.#attempt) return;
    this.#closeAttempt(messageOf(error));
    this.#failOrRetry(error);
  }

  #failOrRetry(error: unknown): void {
    if (this.#settled) return;
    const message = messageOf(error);
    if (isFinal(error)) this.#services.onFinal?.();
    if (isFinal(error) || this.#attempts > this.#task.retries) this.#fail(message);
    else this.#retryLater(message);
  }

  #retryLater(error: string): void {
    const { options, random, clock, journal } = this.#services;
    const delayMs = retryDelayMs(this.#attempts, options.backoff, random());
    if (journal.isRead) {
      const item = this.#item === undefined ? {} : { item: this.#item };
      const attempt = this.#attempts;
      journal.write({ kind: 'retry', task_id: this.#task.id, ...item, attempt, delay_ms: delayMs, error });
    }
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      this.#place.resume(() => {
        if (!this.#settled) this.#makeAttempt();
      });
    }, delayMs);
    this.#place.wait();
  }

  #fail(error: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#end.failed(this.#item, error, this.#attempts);
    this.#place.settle({ ok: false, error });
  }

  /** The present attempt, or the wait for the next, is over: what it still does is not heard. */
  #closeAttempt(error?: string): Attempt | undefined {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    attempt?.close();
    this.#told?.(error);
    this.#told = undefined;
    if (this.#timer !== undefined) {
      this.#services.clock.clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    return attempt;
  }
}
