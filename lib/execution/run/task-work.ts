import type { Abort, Expansion, Slot } from '../../../machines/ports.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { describeKind, type Json, type JsonObject } from '../../common/json.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Task } from '../../pipelines/pipeline.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { Invocation, type InvocationListener } from '../invocation/invocation.js';
import type { TaskOutcome } from '../results.js';
import type { InvocationServices } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';

const NO_ABORT: Abort = () => {};
const NO_WRITES: readonly Write[] = [];

/** One task while its wave settles: renders its inputs, invokes its tool, and collects the outcomes of its items. */
export class TaskWork implements InvocationListener {
  readonly task: Task;
  readonly startedAt: number;
  /** Attempts of a task that calls its tool once. */
  attempts = 0;
  /** The list that a fan-out runs over. */
  items: readonly Json[] | undefined;
  /** The outcome of an earlier run that replaces an invocation. */
  reused: TaskOutcome | undefined;
  #renderItemInputs: ((item: Json, index: number) => Json) | undefined;
  #output: Json = null;
  #itemOutputs: Json[] | undefined;
  #writes: (readonly Write[])[] | undefined;
  readonly #services: InvocationServices;
  readonly #scope: TemplateScope;
  readonly #onFailure: (failure: TaskFailure) => void;

  /** @param onFailure is called with each failure as it happens */
  constructor(
    task: Task,
    services: InvocationServices,
    scope: TemplateScope,
    onFailure: (failure: TaskFailure) => void,
  ) {
    this.task = task;
    this.startedAt = services.dependencies.clock.now();
    this.#services = services;
    this.#scope = scope;
    this.#onFailure = onFailure;
  }

  /** Reuses the outcome of an earlier run: an expansion without an invocation (D35). */
  reuse(outcome: TaskOutcome): Expansion {
    this.reused = outcome;
    return { items: 0, concurrency: 1 };
  }

  /**
   * Renders `parallel_over` (rule 7, D6).
   *
   * @throws TypeError when it does not render to a list
   */
  expand(concurrency: number): Expansion {
    const { parallelOver } = this.task;
    if (parallelOver === undefined) return { items: undefined, concurrency };
    const list = parallelOver.render(this.#scope);
    if (!Array.isArray(list)) {
      throw new TypeError(`parallel_over must give a list, but gave ${describeKind(list)}`);
    }
    this.items = list;
    this.#itemOutputs = new Array<Json>(list.length);
    this.#renderItemInputs = this.task.inputs.bind(this.#scope);
    return { items: list.length, concurrency };
  }

  invoke(item: number | undefined, slot: Slot): Abort {
    const inputs = this.#renderInputs(item);
    if (typeof inputs === 'string') {
      this.onFailure(item, inputs, 0);
      slot.settle({ ok: false, error: inputs });
      return NO_ABORT;
    }
    const invocation = new Invocation(this.#services, this.task, item, inputs, this, slot);
    invocation.start();
    return () => invocation.abort();
  }

  /** Renders and validates the inputs of one invocation; returns an error message when they are invalid. */
  #renderInputs(item: number | undefined): JsonObject | string {
    try {
      const rendered = (
        item === undefined || this.items === undefined
          ? this.task.inputs.render(this.#scope)
          : this.#renderItemInputs?.(this.items[item] ?? null, item)
      ) as JsonObject;
      const validated = validateInputs(this.task.tool, rendered);
      return validated.ok ? Object.freeze(validated.inputs) : validated.errors.join('; ');
    } catch (error) {
      return errorMessage(error);
    }
  }

  onSuccess(item: number | undefined, value: Json, writes: readonly Write[], attempts: number): void {
    if (item === undefined || this.#itemOutputs === undefined) {
      this.#output = value;
      this.attempts = attempts;
    } else {
      this.#itemOutputs[item] = value;
      this.#writeItemEvent(item, attempts);
    }
    if (writes.length > 0) {
      this.#writes ??= [];
      this.#writes[item ?? 0] = writes;
    }
  }

  onFailure(item: number | undefined, error: string, attempts: number): void {
    const itemField = item === undefined ? {} : { item };
    this.#onFailure({ task_id: this.task.id, error, attempts, ...itemField });
    if (item === undefined) this.attempts = attempts;
    else this.#writeItemEvent(item, attempts, error);
  }

  #writeItemEvent(item: number, attempt: number, error?: string): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const ending = error === undefined ? { phase: 'finish' as const } : { phase: 'fail' as const, error };
    journal.write({ kind: 'item', task_id: this.task.id, item, attempt, ...ending });
  }

  /** Collects output and blackboard writes of all invocations, both in item order (D23). */
  getOutcome(): TaskOutcome {
    if (this.reused !== undefined) return this.reused;
    const output = this.#itemOutputs === undefined ? this.#output : Object.freeze(this.#itemOutputs);
    return { output: output as Json, writes: this.#writes?.flat() ?? NO_WRITES };
  }
}
