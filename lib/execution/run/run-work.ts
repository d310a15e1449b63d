import type { Abort, Expansion, RunPorts, Slot } from '../../../machines/ports.js';
import type { TaskResult } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { type Json, setOwn } from '../../common/json.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { TaskEvent } from '../events/event.js';
import { eventLoopBudget } from '../event-loop-budget.js';
import type { PreparedRun } from '../prepare/prepare-run.js';
import type { TaskOutcome } from '../results.js';
import type { InvocationServices } from '../run-context.js';
import type { Write } from '../session/session-overrides.js';
import { TaskWork } from './task-work.js';

const NO_ABORT: Abort = () => {};

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
  readonly #prepared: PreparedRun;
  readonly #scope: TemplateScope;
  readonly #onWave: (wave: number) => void;
  /** Writes of succeeded tasks, by task id; only of tasks that wrote. */
  readonly #writes = new Map<string, readonly Write[]>();
  readonly #activeTasks = new Map<string, TaskWork>();
  #wave = -1;

  /** @param onWave is called when the first task of a wave begins */
  constructor(services: InvocationServices, prepared: PreparedRun, onWave: (wave: number) => void) {
    const { outputs } = this;
    const { inputs, params, goal } = prepared;
    this.#services = services;
    this.#prepared = prepared;
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
      const reused = this.#prepared.rerunSource?.outcomes.get(taskId);
      const value =
        reused === undefined ? work.expand(this.#services.options.fanOutConcurrency) : work.reuse(reused);
      this.#writeStartEvent(work);
      return { ok: true, value };
    } catch (thrown) {
      const error = errorMessage(thrown);
      this.#writeStartEvent(work);
      work.onFailure(undefined, error, 0);
      return { ok: false, error };
    }
  }

  invoke(taskId: string, item: number | undefined, slot: Slot): Abort {
    return this.#getActiveTask(taskId).invoke(item, slot);
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

  /** Returns what a task published; undefined unless it has succeeded. */
  getOutcome(taskId: string): TaskOutcome | undefined {
    const output = Object.hasOwn(this.outputs, taskId) ? this.outputs[taskId] : undefined;
    return output === undefined ? undefined : { output, writes: this.#writes.get(taskId) ?? [] };
  }

  /** The blackboard writes of succeeded tasks, in order. */
  get writes(): readonly Write[] {
    return [...this.#writes.values()].flat();
  }

  #beginTask(taskId: string): TaskWork {
    const task = this.#prepared.pipeline.tasks.get(taskId);
    if (task === undefined) throw new Error(`the pipeline has no task "${taskId}"`);
    if (task.wave !== this.#wave) {
      this.#wave = task.wave;
      this.#onWave(task.wave);
    }
    const work = new TaskWork(task, this.#services, this.#scope, (failure) => {
      this.failures.push(failure);
      this.#services.parent?.onFailure?.(failure);
    });
    this.#activeTasks.set(taskId, work);
    setOwn(this.outputs, taskId, undefined);
    return work;
  }

  #getActiveTask(taskId: string): TaskWork {
    const work = this.#activeTasks.get(taskId);
    if (work === undefined) throw new Error(`task "${taskId}" is not active`);
    return work;
  }

  #settle(work: TaskWork, result: TaskResult, onPublished: (result: TaskResult) => void): void {
    this.#activeTasks.delete(work.task.id);
    this.tasksSettled++;
    if (!result.ok) delete this.outputs[work.task.id];
    this.#writeEndEvent(work, result);
    onPublished(result);
  }

  #writeStartEvent(work: TaskWork): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const { items } = work;
    const count = items === undefined ? {} : { items: items.length };
    journal.write({ kind: 'start', ...toTaskFields(work), ...count });
  }

  #writeEndEvent(work: TaskWork, result: TaskResult): void {
    const { journal, dependencies } = this.#services;
    if (!journal.isObserved) return;
    const duration = { duration_ms: dependencies.clock.now() - work.startedAt };
    const ending = result.ok ? { kind: 'finish' as const } : { kind: 'fail' as const, error: result.error };
    // Spreading them into a new object takes fifty times as long.
    journal.write(Object.assign(ending, toTaskFields(work), toCountFields(work), duration));
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
