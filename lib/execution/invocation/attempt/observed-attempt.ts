import type { FailedResult, TaskResult } from '../../../../machines/types.js';
import type { InvocationServices } from '../../run-context.js';
import type { AttemptObserver } from './attempt-observer.js';
import { type Call, type CallListener, type CallOutput, CallRelay, type Layer } from '../call.js';

/** Calls the observer at the beginning and the end of an attempt. */
class ObservedAttempt extends CallRelay {
  readonly #services: InvocationServices;
  readonly #observer: AttemptObserver;
  #onEnd: ((error?: string) => void) | undefined;

  constructor(services: InvocationServices, observer: AttemptObserver, listener: CallListener) {
    super(listener);
    this.#services = services;
    this.#observer = observer;
  }

  override onAttempt(call: Call): void {
    this.outer.onAttempt(call);
    const { prepared, journal } = this.#services;
    this.#onEnd = this.#observer({
      runId: prepared.id,
      location: journal.location,
      taskId: call.task.id,
      tool: call.task.tool.name,
      item: call.item,
      attempt: call.attempts,
    });
  }

  override onSuccess(call: Call, output: CallOutput): TaskResult | undefined {
    this.#onEnd?.();
    return this.outer.onSuccess(call, output);
  }

  override onFailure(call: Call, error: string, thrown?: unknown): FailedResult | undefined {
    this.#onEnd?.(error);
    return this.outer.onFailure(call, error, thrown);
  }
}

/** Lets traces and metrics follow each attempt, where somebody observes them. */
export const observe: Layer = (services, next) => {
  const { onAttempt } = services.dependencies;
  return onAttempt === undefined
    ? next
    : (call, listener) => next(call, new ObservedAttempt(services, onAttempt, listener));
};
