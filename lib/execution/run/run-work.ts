import type { Abort, EventLoopBudget, Expansion, RunPorts, Slot } from '../../../machines/ports.js';
import type { TaskResult } from '../../../machines/types.js';
import { errorMessage, type TaskFailure } from '../../common/errors.js';
import { describeKind, type Json, type JsonObject, setOwn } from '../../common/json.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import type { TemplateScope } from '../../definition/template/scope.js';
import type { Task } from '../../pipelines/pipeline.js';
import { validateInputs } from '../../tools/inputs/validate.js';
import { eventLoopBudget } from '../event-loop-budget.js';
import type { TaskEvent } from '../events/event.js';
import { type JournalEntry, NO_MEMORY_FOR_ERROR } from '../events/journal.js';
import { Invocation, type InvocationListener, type ToolCall } from '../invocation/invocation.js';
import type { TaskOutcome } from '../results.js';
import type { InvocationServices } from '../run-context.js';
import type { Session } from '../session/session.js';
import type { Write } from '../session/session-overrides.js';

const NO_ABORT: Abort = () => {};
const NO_WRITES: readonly Write[] = [];

/** Measured memory that a task takes for as long as its run is kept, without its output. */
const TASK_BYTES = 512;

/** Measured memory of an invocation in flight, without what was rendered for it. */
const INVOCATION_BYTES = 2 * 1024;

/** Memory of one element of the output of a fan-out, without its value. */
const ITEM_BYTES = 16;

/** Memory of a failure with a text of usual length. */
const FAILURE_BYTES = 512;
const LONG_ERROR_LENGTH = 256;

/** The memory of a smaller outcome, which has no writes, is not remembered. */
const SMALL_OUTCOME_BYTES = 1024;

/** Implements the ports of one run's machines with templates, tools and the blackboard, and keeps what they produce. */
export class RunWork implements RunPorts {
  readonly eventLoopBudget: EventLoopBudget;
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
  readonly #scope: RunScope;
  readonly #onWave: (wave: number) => void;
  /** Outcomes of succeeded tasks, by task id; only large ones, and those with writes. */
  #outcomes: Map<string, TaskOutcome> | undefined;
  readonly #activeTasks = new Map<string, TaskWork>();
  #wave = -1;

  /** @param onWave is called when the first task of a wave begins */
  constructor(services: InvocationServices, onWave: (wave: number) => void) {
    this.eventLoopBudget = eventLoopBudget.forTenant(services.prepared.tenantId);
    this.#services = services;
    this.#onWave = onWave;
    this.#scope = new RunScope(services, this.outputs);
  }

  expand(taskId: string): { ok: true; value: Expansion } | { ok: false; error: string } {
    const work = this.#beginTask(taskId);
    try {
      if (this.startError !== undefined) throw new Error(this.startError);
      this.#services.budget.reserve(TASK_BYTES);
      this.#services.journal.reserveTaskEvents();
      const value = work.expand();
      this.#writeStartEvent(work);
      return { ok: true, value };
    } catch (thrown) {
      this.#writeStartEvent(work);
      return { ok: false, error: work.onFailure(undefined, errorMessage(thrown), 0) };
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
    const event: JournalEntry = { kind: 'start', ...toTaskFields(work) };
    journal.write(items === undefined ? event : { ...event, items: items.length });
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
    if (outcome !== undefined) this.#keepOutcome(taskId, outcome);
    this.#settle(work, result, onPublished);
    return NO_ABORT;
  }

  /** Publishes the output after the blackboard has taken the writes; until then the publication can be cancelled. */
  #publishWithWrites(work: TaskWork, outcome: TaskOutcome, onPublished: (result: TaskResult) => void): Abort {
    const { id } = work.task;
    const { writes } = outcome;
    const succeed = (): void => {
      if (!this.#activeTasks.has(id)) return;
      this.#keepOutcome(id, outcome);
      this.#settle(work, { ok: true }, onPublished);
    };
    const fail = (reason: string): void => {
      if (!this.#activeTasks.has(id)) return;
      const message = `cannot store the values on the blackboard: ${reason}`;
      const error = work.onFailure(undefined, message, work.attempts);
      this.#settle(work, { ok: false, error }, onPublished);
    };
    const applying = this.#services.session.apply(writes, this.eventLoopBudget, work.reused !== undefined);
    applying.then(succeed, (thrown: unknown) => fail(errorMessage(thrown)));
    return () => fail('stopped by force');
  }

  #settle(work: TaskWork, result: TaskResult, onPublished: (result: TaskResult) => void): void {
    this.#activeTasks.delete(work.task.id);
    this.tasksSettled++;
    work.releaseMemory(result.ok);
    if (!result.ok) delete this.outputs[work.task.id];
    this.#writeEndEvent(work, result);
    onPublished(result);
  }

  #writeEndEvent(work: TaskWork, result: TaskResult): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const duration = { duration_ms: journal.timeline.now() - work.startedAt };
    const ending = result.ok ? { kind: 'finish' as const } : { kind: 'fail' as const, error: result.error };
    // Spreading them into a new object takes fifty times as long.
    journal.write(Object.assign(ending, toTaskFields(work), toCountFields(work), duration));
  }

  /** Returns what a task published; undefined unless it has succeeded. */
  getOutcome(taskId: string): TaskOutcome | undefined {
    const output = Object.hasOwn(this.outputs, taskId) ? this.outputs[taskId] : undefined;
    if (output === undefined) return undefined;
    return this.#outcomes?.get(taskId) ?? { output, writes: NO_WRITES, sizeBytes: SMALL_OUTCOME_BYTES };
  }

  /** The blackboard writes of succeeded tasks, in order. */
  get writes(): readonly Write[] {
    return this.#outcomes === undefined
      ? NO_WRITES
      : [...this.#outcomes.values()].flatMap(({ writes }) => writes);
  }

  #keepOutcome(taskId: string, outcome: TaskOutcome): void {
    setOwn(this.outputs, taskId, outcome.output);
    if (outcome.sizeBytes <= SMALL_OUTCOME_BYTES && outcome.writes.length === 0) return;
    this.#outcomes ??= new Map();
    this.#outcomes.set(taskId, outcome);
  }
}

/** What the templates of a run read. A class: an object literal would create its functions anew for every run. */
class RunScope implements TemplateScope {
  readonly inputs: JsonObject;
  readonly params: JsonObject;
  readonly goal: string;
  /** Of the invocation, or of the fan-out, that is being rendered. */
  meter = new RenderMeter();
  readonly #session: Session;
  readonly #outputs: Record<string, Json>;

  constructor({ prepared, session }: InvocationServices, outputs: Record<string, Json>) {
    this.inputs = prepared.inputs;
    this.params = prepared.params;
    this.goal = prepared.goal;
    this.#session = session;
    this.#outputs = outputs;
  }

  get session(): Record<string, Json> {
    return this.#session.values;
  }

  output(taskId: string): Json | undefined {
    return Object.hasOwn(this.#outputs, taskId) ? this.#outputs[taskId] : undefined;
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
  #meter: RenderMeter;
  /** Memory that is taken until the task settles: what was rendered for all of its items. */
  #heldBytes = 0;
  /** Memory of the output and the writes, kept when the task succeeds. */
  #outcomeBytes = 0;
  #output: Json = null;
  #itemOutputs: Json[] | undefined;
  #writes: (readonly Write[])[] | undefined;
  readonly #services: InvocationServices;
  readonly #scope: RunScope;
  readonly #failures: TaskFailure[];

  /** @param failures receives each failure as it happens */
  constructor(task: Task, services: InvocationServices, scope: RunScope, failures: TaskFailure[]) {
    this.task = task;
    this.startedAt = services.journal.timeline.now();
    this.#services = services;
    this.#scope = scope;
    this.#meter = scope.meter;
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
    this.#meter = new RenderMeter();
    this.#beginRendering();
    const list = parallelOver.render(this.#scope);
    if (!Array.isArray(list)) {
      throw new TypeError(`parallel_over must give a list, but gave ${describeKind(list)}`);
    }
    this.#hold(this.#meter.ownBytes);
    this.#keep(ITEM_BYTES * list.length);
    this.items = list;
    this.#itemOutputs = new Array<Json>(list.length);
    this.#renderItemInputs = this.task.inputs.bind(this.#scope);
    return { items: list.length, concurrency };
  }

  invoke(item: number | undefined, slot: Slot): Abort {
    const call = this.#prepareCall(item);
    if (typeof call === 'string') {
      slot.settle({ ok: false, error: this.onFailure(item, call, 0) });
      return NO_ABORT;
    }
    const invocation = new Invocation(this.#services, call, this, slot);
    invocation.start();
    return () => invocation.abort();
  }

  #beginRendering(): void {
    this.#meter.start();
    this.#scope.meter = this.#meter;
  }

  /** Takes memory until the task settles. @throws ToolError when the run has none left */
  #hold(bytes: number): void {
    this.#services.budget.reserve(bytes);
    this.#heldBytes += bytes;
  }

  /** Takes memory of the output. @throws ToolError when the run has none left */
  #keep(bytes: number): void {
    this.#services.budget.reserve(bytes);
    this.#outcomeBytes += bytes;
  }

  /** Call when the task settles. A task that failed has no output. */
  releaseMemory(isSuccess: boolean): void {
    this.#services.budget.release(this.#heldBytes + (isSuccess ? 0 : this.#outcomeBytes));
  }

  /** Renders and validates the inputs of one invocation; returns an error message when they are invalid. */
  #prepareCall(item: number | undefined): ToolCall | string {
    try {
      this.#beginRendering();
      const sharedBytes = this.#meter.sharedBytes;
      const rendered = (
        item === undefined || this.items === undefined
          ? this.task.inputs.render(this.#scope)
          : this.#renderItemInputs?.(this.items[item] ?? null, item)
      ) as JsonObject;
      this.#hold(this.#meter.sharedBytes - sharedBytes);
      const validated = validateInputs(this.task.tool, rendered);
      if (!validated.ok) return validated.errors.join('; ');
      const heldBytes = INVOCATION_BYTES + this.#meter.ownBytes;
      this.#services.budget.reserve(heldBytes);
      return { task: this.task, item, inputs: Object.freeze(validated.inputs), heldBytes };
    } catch (error) {
      return errorMessage(error);
    }
  }

  onSuccess(
    item: number | undefined,
    value: Json,
    writes: readonly Write[],
    attempts: number,
    sizeBytes: number,
  ): void {
    this.#outcomeBytes += sizeBytes;
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

  onFailure(item: number | undefined, message: string, attempts: number): string {
    const error = this.#keepError(message);
    const itemField = item === undefined ? {} : { item };
    const failure = { task_id: this.task.id, error, attempts, ...itemField };
    this.#failures.push(failure);
    this.#services.parent?.onFailure?.(failure);
    if (item === undefined) this.attempts = attempts;
    else this.#writeItemEvent(item, attempts, error);
    return error;
  }

  /** Takes the memory of a failure. A failure is kept without memory too, because it is small, but not its long text. */
  #keepError(error: string): string {
    const isLong = error.length > LONG_ERROR_LENGTH;
    const hasRoom = this.#services.budget.tryReserve(FAILURE_BYTES + (isLong ? error.length : 0));
    return hasRoom || !isLong ? error : NO_MEMORY_FOR_ERROR;
  }

  #writeItemEvent(item: number, attempt: number, error?: string): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const { id: task_id } = this.task;
    if (error === undefined) journal.write({ kind: 'item', task_id, item, attempt, phase: 'finish' });
    else journal.write({ kind: 'item', task_id, item, attempt, phase: 'fail', error });
  }

  /** Collects output and blackboard writes of all invocations, both in item order (D23). */
  getOutcome(): TaskOutcome {
    if (this.reused !== undefined) return this.reused;
    const output = this.#itemOutputs === undefined ? this.#output : Object.freeze(this.#itemOutputs);
    const writes = this.#writes?.flat() ?? NO_WRITES;
    return { output: output as Json, writes, sizeBytes: this.#outcomeBytes };
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
