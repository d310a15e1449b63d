import type { Abort, Expansion, Place } from '../../../machines/types.js';
import type { Scope } from '../../definition/template/scope.js';
import { messageOf, type TaskFailure } from '../../common/errors.js';
import { type Json, type JsonObject, kindOf } from '../../common/json.js';
import type { Task } from '../../pipelines/pipeline.js';
import { checkInputs } from '../../tools/inputs/input-check.js';
import { Invocation, type InvocationEnd } from '../invocation/invocation.js';
import type { InvocationServices } from '../run-context.js';
import type { Write } from '../session/given-values.js';

const NO_ABORT: Abort = () => {};
const NO_WRITES: readonly Write[] = [];

/** What is published of a task, in one go. */
export interface Outcome {
  readonly output: Json;
  readonly writes: readonly Write[];
}

/** One task while its wave settles: its items, and the outcomes that are published together when all are there. */
export class TaskWork implements InvocationEnd {
  readonly task: Task;
  readonly startedAt: number;
  /** Attempts of a task that is no fan-out. */
  attempts = 0;
  /** Its only output, or the outputs of its items in item order. */
  output: Json = null;
  /** The list that it fans out over. */
  items: readonly Json[] | undefined;
  /** The outcome of an earlier run that stands in for an invocation. */
  reused: Outcome | undefined;
  #itemInputs: ((item: Json, index: number) => Json) | undefined;
  #writes: (readonly Write[])[] | undefined;
  #outputs: Json[] | undefined;
  readonly #services: InvocationServices;
  readonly #scope: Scope;
  readonly #onFailure: (failure: TaskFailure) => void;

  /** @param onFailure is told of each failure as it happens */
  constructor(
    task: Task,
    services: InvocationServices,
    scope: Scope,
    onFailure: (failure: TaskFailure) => void,
  ) {
    this.task = task;
    this.startedAt = services.clock.now();
    this.#services = services;
    this.#scope = scope;
    this.#onFailure = onFailure;
  }

  /** Takes the outcome of an earlier run instead of calling the tool: an expansion without an invocation (D35). */
  reuse(outcome: Outcome): Expansion {
    this.reused = outcome;
    return { items: 0, concurrency: 1 };
  }

  /** Resolves `parallel_over` (rule 7, D6). Throws when it gives no list. */
  expand(concurrency: number): Expansion {
    const { over } = this.task;
    if (over === undefined) return { items: undefined, concurrency };
    const list = over.render(this.#scope);
    if (!Array.isArray(list)) throw new TypeError(`parallel_over must give a list, but gave ${nameOf(list)}`);
    this.items = list;
    this.#outputs = new Array<Json>(list.length);
    this.#itemInputs = this.task.inputs.bind(this.#scope);
    return { items: list.length, concurrency };
  }

  invoke(item: number | undefined, place: Place): Abort {
    const inputs = this.#inputsOf(item);
    if (typeof inputs === 'string') {
      this.failed(item, inputs, 0);
      place.settle({ ok: false, error: inputs });
      return NO_ABORT;
    }
    const invocation = new Invocation(this.#services, this.task, item, inputs, this, place);
    invocation.start();
    return () => invocation.abort();
  }

  succeeded(item: number | undefined, value: Json, writes: readonly Write[], attempts: number): void {
    if (item === undefined || this.#outputs === undefined) {
      this.output = value;
      this.attempts = attempts;
    } else {
      this.#outputs[item] = value;
      this.#noteItem(item, attempts);
    }
    if (writes.length > 0) {
      this.#writes ??= [];
      this.#writes[item ?? 0] = writes;
    }
  }

  failed(item: number | undefined, error: string, attempts: number): void {
    const where = item === undefined ? {} : { item };
    this.#onFailure({ task_id: this.task.id, error, attempts, ...where });
    if (item === undefined) this.attempts = attempts;
    else this.#noteItem(item, attempts, error);
  }

  /** The outcome of all its invocations: output and blackboard writes, both in item order (D23). */
  outcome(): Outcome {
    if (this.reused !== undefined) return this.reused;
    const output = this.#outputs === undefined ? this.output : Object.freeze(this.#outputs);
    return { output: output as Json, writes: this.#writes?.flat() ?? NO_WRITES };
  }

  /** The resolved inputs of one invocation, or what is wrong with them. */
  #inputsOf(item: number | undefined): JsonObject | string {
    try {
      const resolved = (
        item === undefined || this.items === undefined
          ? this.task.inputs.render(this.#scope)
          : this.#itemInputs?.(this.items[item] ?? null, item)
      ) as JsonObject;
      const checked = checkInputs(this.task.tool, resolved);
      return checked.ok ? Object.freeze(checked.inputs) : checked.errors.join('; ');
    } catch (error) {
      return messageOf(error);
    }
  }

  #noteItem(item: number, attempt: number, error?: string): void {
    const { journal } = this.#services;
    if (!journal.isRead) return;
    const ending = error === undefined ? { phase: 'finish' as const } : { phase: 'fail' as const, error };
    journal.write({ kind: 'item', task_id: this.task.id, item, attempt, ...ending });
  }
}

function nameOf(value: Json): string {
  const kind = kindOf(value);
  return kind === 'null' ? 'null' : `${kind === 'object' ? 'an' : 'a'} ${kind}`;
}
