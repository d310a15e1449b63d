import type { Abort, Expansion, Place, Settlement, Work } from '../../../machines/types.js';
import type { Scope } from '../../definition/template/scope.js';
import { messageOf, type TaskFailure } from '../../common/errors.js';
import { type Json, setOwn } from '../../common/json.js';
import type { Pipeline } from '../../pipelines/pipeline.js';
import type { TaskEvent } from '../events/event.js';
import type { InvocationServices } from '../run-context.js';
import type { Origin } from '../prepare/prepared-run.js';
import { processPace } from '../event-loop-budget.js';
import type { Session } from '../session/session.js';
import type { Write } from '../session/given-values.js';
import { type Outcome, TaskWork } from './task-work.js';

const NO_ABORT: Abort = () => {};

/** What a run is made of. Its templates see the inputs, params and goal, and the outputs as its tasks succeed. */
export interface Given extends Pick<Scope, 'inputs' | 'params' | 'goal'> {
  readonly pipeline: Pipeline;
  readonly origin: Origin | undefined;
}

/**
 * The work behind the machines of one run: it fills their holes with templates, tools and the blackboard, and
 * keeps what the run has produced so far.
 */
export class RunWork implements Work {
  readonly pace = processPace;
  /**
   * Task id to output (rule 4), wave by wave in declared order: a task takes its place when it begins, and holds
   * undefined there until it has succeeded.
   */
  readonly outputs: Record<string, Json> = {};
  /** In the order they happened: the first is the one that a failed run reports (D16). */
  readonly failures: TaskFailure[] = [];
  /** Tasks that have settled. */
  tasksSettled = 0;
  /** What succeeded tasks put on the blackboard, for those that did. */
  readonly #writes = new Map<string, readonly Write[]>();
  readonly #pipeline: Pipeline;
  readonly #reused: ReadonlyMap<string, Outcome> | undefined;
  readonly #services: InvocationServices;
  readonly #session: Session;
  readonly #scope: Scope;
  readonly #onWave: (wave: number) => void;
  readonly #atWork = new Map<string, TaskWork>();
  #wave = -1;

  constructor(services: InvocationServices, given: Given, onWave: (wave: number) => void) {
    const { outputs } = this;
    const { pipeline, origin, inputs, params, goal } = given;
    this.#pipeline = pipeline;
    this.#reused = origin?.outcomes;
    this.#services = services;
    this.#session = services.session;
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

  /** Why no task can begin: they fail with it when they try. */
  refusal: string | undefined;

  expand(taskId: string): { ok: true; value: Expansion } | { ok: false; error: string } {
    const work = this.#begin(taskId);
    try {
      if (this.refusal !== undefined) throw new Error(this.refusal);
      const reused = this.#reused?.get(taskId);
      const value =
        reused === undefined ? work.expand(this.#services.options.fanOutConcurrency) : work.reuse(reused);
      this.#noteStart(work);
      return { ok: true, value };
    } catch (thrown) {
      const error = messageOf(thrown);
      this.#noteStart(work);
      work.failed(undefined, error, 0);
      return { ok: false, error };
    }
  }

  invoke(taskId: string, item: number | undefined, place: Place): Abort {
    return this.#workOn(taskId).invoke(item, place);
  }

  publish(taskId: string, settlement: Settlement, published: (settlement: Settlement) => void): Abort {
    const work = this.#workOn(taskId);
    const outcome = settlement.ok ? work.outcome() : undefined;
    if (outcome !== undefined && outcome.writes.length > 0) {
      return this.#publishWithWrites(work, outcome, published);
    }
    if (outcome !== undefined) setOwn(this.outputs, taskId, outcome.output);
    this.#settle(work, settlement, published);
    return NO_ABORT;
  }

  /** The blackboard takes the values first; until it has, the publication may be given up. */
  #publishWithWrites(
    work: TaskWork,
    { output, writes }: Outcome,
    published: (settlement: Settlement) => void,
  ): Abort {
    const { id } = work.task;
    const succeed = (): void => {
      if (!this.#atWork.has(id)) return;
      setOwn(this.outputs, id, output);
      this.#writes.set(id, writes);
      this.#settle(work, { ok: true }, published);
    };
    const fail = (reason: string): void => {
      if (!this.#atWork.has(id)) return;
      const error = `the blackboard did not take its values: ${reason}`;
      work.failed(undefined, error, work.attempts);
      this.#settle(work, { ok: false, error }, published);
    };
    const applying = this.#session.apply(writes, this.pace, work.reused !== undefined);
    applying.then(succeed, (thrown: unknown) => fail(messageOf(thrown)));
    return () => fail('stopped by force');
  }

  /** What was published of a task; undefined unless it has succeeded. */
  outcomeOf(taskId: string): Outcome | undefined {
    const output = Object.hasOwn(this.outputs, taskId) ? this.outputs[taskId] : undefined;
    return output === undefined ? undefined : { output, writes: this.#writes.get(taskId) ?? [] };
  }

  /** What its tasks have put on the blackboard, in order. */
  get writes(): readonly Write[] {
    return [...this.#writes.values()].flat();
  }

  #begin(taskId: string): TaskWork {
    const task = this.#pipeline.tasks.get(taskId);
    if (task === undefined) throw new Error(`the pipeline has no task "${taskId}"`);
    if (task.wave !== this.#wave) {
      this.#wave = task.wave;
      this.#onWave(task.wave);
    }
    const work = new TaskWork(task, this.#services, this.#scope, (failure) => this.#noteFailure(failure));
    this.#atWork.set(taskId, work);
    setOwn(this.outputs, taskId, undefined);
    return work;
  }

  #noteFailure(failure: TaskFailure): void {
    this.failures.push(failure);
    this.#services.onFailure?.(failure);
  }

  #workOn(taskId: string): TaskWork {
    const work = this.#atWork.get(taskId);
    if (work === undefined) throw new Error(`task "${taskId}" is not at work`);
    return work;
  }

  #noteStart(work: TaskWork): void {
    const { journal } = this.#services;
    if (!journal.isRead) return;
    const { items } = work;
    const count = items === undefined ? {} : { items: items.length };
    journal.write({ kind: 'start', ...about(work), ...count });
  }

  #settle(work: TaskWork, settlement: Settlement, published: (settlement: Settlement) => void): void {
    this.#atWork.delete(work.task.id);
    this.tasksSettled++;
    if (!settlement.ok) delete this.outputs[work.task.id];
    this.#noteEnd(work, settlement);
    published(settlement);
  }

  #noteEnd(work: TaskWork, settlement: Settlement): void {
    const { journal, clock } = this.#services;
    if (!journal.isRead) return;
    const { startedAt } = work;
    const extent = extentOf(work);
    const ending = settlement.ok
      ? { kind: 'finish' as const }
      : { kind: 'fail' as const, error: settlement.error };
    // Spreading them into a new object takes fifty times as long.
    journal.write(Object.assign(ending, about(work), extent, { duration_ms: clock.now() - startedAt }));
  }
}

/** How much there was to do: attempts of a task, items of a fan-out, nothing when the output was taken over. */
function extentOf({ items, attempts, reused }: TaskWork): Pick<TaskEvent, 'attempt' | 'items'> {
  if (reused !== undefined) return {};
  return items === undefined ? { attempt: attempts } : { items: items.length };
}

function about({ task, reused }: TaskWork): Pick<TaskEvent, 'task_id' | 'tool' | 'wave' | 'reused'> {
  const facts = { task_id: task.id, tool: task.tool.name, wave: task.wave };
  return reused === undefined ? facts : { ...facts, reused: true };
}
