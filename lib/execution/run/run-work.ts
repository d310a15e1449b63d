import type { Abort, Expansion, RunPorts, Slot } from '../../../machines/ports.js';
import type { TaskResult } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { describeKind, type Json, type JsonObject, setOwn } from '../../common/json.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Task } from '../../pipelines/pipeline.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { eventLoopBudget } from '../event-loop-budget.js';
import type { TaskEvent } from '../events/event.js';
import { Invocation, type InvocationListener } from '../invocation/invocation.js';
import type { TaskOutcome } from '../results.js';
import type { InvocationServices } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';

const NO_ABORT: Abort = () => {};
const NO_WRITES: readonly Write[] = [];

/** Implements the ports of one run's machines with templates, tools and the blackboard, and keeps what they produce. */
export class RunWork implements RunPorts {
  readonly eventLoopBudget = eventLoopBudget;
  /**
   * Task id to output (rule 4), wave by wave in declaration order: a key is added when its task begins, with the value
   * undefined until the task has succeeded.
   */
  readonly outputs: Record<string, Json> = {};
  /** In the order in which they happened: a failed run reports the first (D16). */
  readonly failures: TaskFailure[] = [];
  /** Number of tasks that have settled. */
  tasksSettled = 0;
  /** Why no task can begin: every task fails with it. */
  startError: string | undefined;
  readonly #services: InvocationServices;
  readonly #scope: TemplateScope;
  readonly #onWave: (wave: number) => void;
  /** Writes of succeeded tasks, by task id; only of tasks that wrote. */
  readonly #writes = new Map<string, readonly Write[]>();
  readonly #activeTasks = new Map<string, TaskWork>();
  #wave = -1;

  /** @param onWave is called when the first task of a wave begins */
  constructor(services: InvocationServices, onWave: (wave: number) => void) {
    const { outputs } = this;
    const { inputs, params, goal } = services.prepared;
    this.#services = services;
    this.#onWave = onWave;
    this.#scope = {
      inputs,
      params,
      goal,
      get session() {
        return services.session.values;
      },
      output: (taskId) => (Object.hasOwn(outputs, taskId) ? outputs[taskId] : undefined),
    };
  }

  expand(taskId: string): { ok: true; value: Expansion } | { ok: false; error: string } {
    const work = this.#beginTask(taskId);
    try {
      if (this.startError !== undefined) throw new Error(this.startError);
      const value = work.expand();
      this.#writeStartEvent(work);
      return { ok: true, value };
    } catch (thrown) {
      const error = errorMessage(thrown);
      this.#writeStartEvent(work);
      work.onFailure(undefined, error, 0);
      return { ok: false, error };
    }
  }

  #beginTask(taskId: string): TaskWork {
    const task = this.#services.prepared.pipeline.tasks.get(taskId);
    if (task === undefined) throw new Error(`the pipeline has no task "${taskId}"`);
    if (task.wave !== this.#wave) {
      this.#wave = task.wave;
      this.#onWave(task.wave);
    }
    const work = new TaskWork(task, this.#services, this.#scope, this.failures);
    this.#activeTasks.set(taskId, work);
    setOwn(this.outputs, taskId, undefined);
    return work;
  }

  #writeStartEvent(work: TaskWork): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const { items } = work;
    const count = items === undefined ? {} : { items: items.length };
    journal.write({ kind: 'start', ...toTaskFields(work), ...count });
  }

  invoke(taskId: string, item: number | undefined, slot: Slot): Abort {
    return this.#getActiveTask(taskId).invoke(item, slot);
  }

  #getActiveTask(taskId: string): TaskWork {
    const work = this.#activeTasks.get(taskId);
    if (work === undefined) throw new Error(`task "${taskId}" is not active`);
    return work;
  }

  publish(taskId: string, result: TaskResult, onPublished: (result: TaskResult) => void): Abort {
    const work = this.#getActiveTask(taskId);
    const outcome = result.ok ? work.getOutcome() : undefined;
    if (outcome !== undefined && outcome.writes.length > 0) {
      return this.#publishWithWrites(work, outcome, onPublished);
    }
    if (outcome !== undefined) setOwn(this.outputs, taskId, outcome.output);
    this.#settle(work, result, onPublished);
    return NO_ABORT;
  }

  /** Publishes the output after the blackboard has taken the writes; until then the publication can be cancelled. */
  #publishWithWrites(
    work: TaskWork,
    { output, writes }: TaskOutcome,
    onPublished: (result: TaskResult) => void,
  ): Abort {
    const { id } = work.task;
    const succeed = (): void => {
      if (!this.#activeTasks.has(id)) return;
      setOwn(this.outputs, id, output);
      this.#writes.set(id, writes);
      this.#settle(work, { ok: true }, onPublished);
    };
    const fail = (reason: string): void => {
      if (!this.#activeTasks.has(id)) return;
      const error = `cannot store the values on the blackboard: ${reason}`;
      work.onFailure(undefined, error, work.attempts);
      this.#settle(work, { ok: false, error }, onPublished);
    };
    const applying = this.#services.session.apply(writes, this.eventLoopBudget, work.reused !== undefined);
    applying.then(succeed, (thrown: unknown) => fail(errorMessage(thrown)));
    return () => fail('stopped by force');
  }

  #settle(work: TaskWork, result: TaskResult, onPublished: (result: TaskResult) => void): void {
    this.#activeTasks.delete(work.task.id);
    this.tasksSettled++;
    if (!result.ok) delete this.outputs[work.task.id];
    this.#writeEndEvent(work, result);
    onPublished(result);
  }

  #writeEndEvent(work: TaskWork, result: TaskResult): void {
    const { journal, dependencies } = this.#services;
    if (!journal.isObserved) return;
    const duration = { duration_ms: dependencies.clock.now() - work.startedAt };
    const ending = result.ok ? { kind: 'finish' as const } : { kind: 'fail' as const, error: result.error };
    // Spreading them into a new object takes fifty times as long.
    journal.write(Object.assign(ending, toTaskFields(work), toCountFields(work), duration));
  }

  /** Returns what a task published; undefined unless it has succeeded. */
  getOutcome(taskId: string): TaskOutcome | undefined {
    const output = Object.hasOwn(this.outputs, taskId) ? this.outputs[taskId] : undefined;
    return output === undefined ? undefined : { output, writes: this.#writes.get(taskId) ?? [] };
  }

  /** The blackboard writes of succeeded tasks, in order. */
  get writes(): readonly Write[] {
    return [...this.#writes.values()].flat();
  }
}

/** One task while its wave settles: renders its inputs, invokes its tool, and collects the outcomes of its items. */
class TaskWork implements InvocationListener {
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
  readonly #failures: TaskFailure[];

  /** @param failures receives each failure as it happens */
  constructor(task: Task, services: InvocationServices, scope: TemplateScope, failures: TaskFailure[]) {
    this.task = task;
    this.startedAt = services.dependencies.clock.now();
    this.#services = services;
    this.#scope = scope;
    this.#failures = failures;
  }

  /**
   * Renders `parallel_over` (rule 7, D6). A task that reuses an earlier outcome makes no invocation (D35).
   *
   * @throws TypeError when `parallel_over` does not render to a list
   */
  expand(): Expansion {
    const { rerunSource, options } = this.#services.prepared;
    this.reused = rerunSource?.outcomes.get(this.task.id);
    if (this.reused !== undefined) return { items: 0, concurrency: 1 };
    const { parallelOver } = this.task;
    const concurrency = options.fanOutConcurrency;
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
    const failure = { task_id: this.task.id, error, attempts, ...itemField };
    this.#failures.push(failure);
    this.#services.parent?.onFailure?.(failure);
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

function toTaskFields({ task, reused }: TaskWork): Pick<TaskEvent, 'task_id' | 'tool' | 'wave' | 'reused'> {
  const fields = { task_id: task.id, tool: task.tool.name, wave: task.wave };
  return reused === undefined ? fields : { ...fields, reused: true };
}

/** Returns the attempts of a task or the items of a fan-out; nothing when the outcome was reused. */
function toCountFields({ items, attempts, reused }: TaskWork): Pick<TaskEvent, 'attempt' | 'items'> {
  if (reused !== undefined) return {};
  return items === undefined ? { attempt: attempts } : { items: items.length };
}
