import type { Abortable, EventLoopBudget, Expansion, RunPorts, Slot } from '../../../machines/ports.js';
import { SKIPPED, type SucceededResult, type TaskResult } from '../../../machines/types.js';
import { errorMessage, type SkippedTask, type TaskFailure } from '../../common/errors.js';
import type { Json, JsonObject } from '../../common/json/json.js';
import type { WaitingFor } from '../../common/wire/run-summary.js';
import { RenderMeter } from '../../definition/template/render-meter.js';
import type { TaskMembers, TemplateScope } from '../../definition/template/scope.js';
import { eventLoopBudget } from './event-loop-budget.js';
import type { TaskEvent } from '../events/event.js';
import type { JournalEntry } from '../events/journal.js';
import type { TaskPublished } from '../history/fact.js';
import { taskKey } from '../history/replay.js';
import { NO_ABORT, STOPPED } from '../invocation/call.js';
import { CallLayers } from '../invocation/layers.js';
import type { RerunSource } from '../prepare/rerun-source.js';
import type { TaskOutcome } from '../results.js';
import type { InvocationServices } from '../run-context.js';
import type { Session } from '../session/session.js';
import type { Write } from '../session/session-overrides.js';
import type { Task } from '../../pipelines/pipeline.js';
import { FanOutWork } from './fan-out-work.js';
import { PublishedOutcomes } from './published-outcomes.js';
import { Reuse } from './reuse/reuse.js';
import { readState, type TaskTrace } from './task-trace.js';
import { type TaskServices, TaskWork } from './task-work.js';

type OnPublished = Parameters<RunPorts['publish']>[2];

/** Measured memory that a task takes for as long as its run is kept, without its output. */
export const TASK_BYTES = 512;

/** Implements the ports of one run's machines with templates, tools and the blackboard, and keeps what they produce. */
export class RunWork implements RunPorts {
  readonly eventLoopBudget: EventLoopBudget;
  /** The budget for work that no machine decides. */
  readonly #budget: EventLoopBudget;
  /** The failures of tasks, in the order in which they happened: a failed run reports the first (D16). */
  readonly failures: TaskFailure[] = [];
  /** The failures of handlers (D80). */
  readonly handlerFailures: TaskFailure[] = [];
  /** The tasks that called nothing, in the order in which their waves began (D78). */
  readonly skipped: SkippedTask[] = [];
  /** Number of tasks that have settled, without handlers. */
  tasksSettled = 0;
  /** Why no task can begin: every task fails with this error. */
  startError: string | undefined;
  /** Set in a rerun. */
  readonly reuse: Reuse | undefined;
  readonly #services: InvocationServices;
  readonly #taskServices: TaskServices;
  readonly #layers: CallLayers;
  readonly #onWave: (first: Task) => void;
  readonly #outcomes = new PublishedOutcomes();
  /** The tasks that have begun, by id: the work of those that have not settled, and what remains of the others. */
  readonly #tasks = new Map<string, TaskWork | TaskTrace>();
  #wave = -1;

  /** @param onWave is called when the first task of a wave begins */
  constructor(services: InvocationServices, onWave: (first: Task) => void) {
    this.#budget = eventLoopBudget.forTenant(services.prepared.tenantId);
    this.eventLoopBudget = services.history?.createBudget(this.#budget) ?? this.#budget;
    this.#services = services;
    this.#onWave = onWave;
    this.#layers = new CallLayers(services);
    this.reuse = services.prepared.rerunSource && this.#createReuse(services.prepared.rerunSource);
    const { pipeline } = services.prepared;
    const scope = new RunScope(services, this.#outcomes.outputs, (taskId) =>
      readState(pipeline.allTasks.get(taskId), this.getTrace(taskId)),
    );
    const { failures, handlerFailures, reuse } = this;
    this.#taskServices = { services, scope, failures, handlerFailures, reuse };
  }

  #createReuse(source: RerunSource): Reuse {
    return new Reuse(this.#services.prepared, source, (taskId) => this.getOutcome(taskId));
  }

  expand(taskId: string): { ok: true; value: Expansion } | TaskResult {
    const work = this.#beginTask(taskId);
    const { history } = this.#services;
    const refusal = history?.refusal(taskId);
    try {
      this.#assertCanBegin(refusal);
      this.#services.budget.reserve(TASK_BYTES);
      this.#services.journal.reserveTaskEvents();
      const skipReason = this.#findSkipReason(work);
      if (skipReason !== undefined) return this.#skip(work, skipReason);
      const value = work.expand();
      this.#writeStartEvent(work);
      return { ok: true, value };
    } catch (thrown) {
      this.#writeStartEvent(work);
      return work.refuse(errorMessage(thrown), refusal !== undefined);
    }
  }

  /** Returns why a task calls nothing (D78): an output that it needs is missing, or a condition does not hold. */
  #findSkipReason(work: TaskWork): string | undefined {
    const { conditions, neededOutputs, id } = work.task;
    if (conditions.length === 0 && neededOutputs.length === 0) return undefined;
    const earlier = this.#services.history?.skipDecision(id);
    if (earlier !== undefined) return earlier ?? undefined;
    const missing = neededOutputs.find((taskId) => this.#outcomes.get(taskId) === undefined);
    return missing === undefined ? work.findOwnSkipReason() : this.#describeMissing(missing);
  }

  #describeMissing(taskId: string): string {
    const trace = this.getTrace(taskId);
    const state = trace?.hasFailed ? 'has failed' : trace === undefined ? 'did not run' : 'was skipped';
    return `it reads the output of "${taskId}", which ${state}`;
  }

  #skip(work: TaskWork, reason: string): SucceededResult {
    const { journal, history } = this.#services;
    const kept = work.skip(reason);
    this.skipped.push({ task_id: work.task.id, reason: kept });
    if (history?.skipDecision(work.task.id) === undefined) {
      history?.note({ kind: 'task_skipped', task: work.task.id, reason: kept });
    }
    if (journal.isObserved) journal.write({ kind: 'skip', ...toTaskFields(work), reason: kept });
    return SKIPPED;
  }

  /** @param refusal why the task could not begin in the process before */
  #assertCanBegin(refusal: string | undefined): void {
    const { history, parent } = this.#services;
    const givenUp = history?.givenUp;
    if (givenUp !== undefined) parent?.onPermanentFailure?.();
    // The tools of a pipeline whose attempt is over have nobody to work for: its handlers call nothing either.
    const stopped = parent?.callingAttempt?.isOver === true ? STOPPED : undefined;
    const problem = this.startError ?? refusal ?? givenUp ?? stopped;
    if (problem !== undefined) throw new Error(problem);
  }

  #beginTask(taskId: string): TaskWork {
    const task = this.#services.prepared.pipeline.allTasks.get(taskId);
    if (task === undefined) throw new Error(`the pipeline has no task "${taskId}"`);
    if (task.wave !== this.#wave) {
      this.#wave = task.wave;
      this.#services.session.onWaveSettled();
      this.#onWave(task);
    }
    const Work = task.parallelOver === undefined ? TaskWork : FanOutWork;
    const work = new Work(task, this.#taskServices, this.#layers.of(task));
    this.#tasks.set(taskId, work);
    this.#outcomes.begin(taskId);
    return work;
  }

  #writeStartEvent(work: TaskWork): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const { items } = work;
    const event: JournalEntry = { kind: 'start', ...toTaskFields(work) };
    journal.write(items === undefined ? event : { ...event, items: items.length });
  }

  invoke(taskId: string, item: number | undefined, slot: Slot): Abortable {
    return this.#getActiveTask(taskId).invoke(item, slot);
  }

  #getActiveTask(taskId: string): TaskWork {
    const work = this.#tasks.get(taskId);
    if (work instanceof TaskWork) return work;
    throw new Error(`task "${taskId}" is not active`);
  }

  publish(taskId: string, result: TaskResult, onPublished: OnPublished): Abortable {
    const work = this.#getActiveTask(taskId);
    const outcome = result.ok && !result.skipped ? work.getOutcome() : undefined;
    if (outcome !== undefined && outcome.writes.length > 0) {
      return this.#publishWithWrites(work, outcome, onPublished);
    }
    if (this.#services.history === undefined) this.#publishPlain(work, outcome, result, onPublished);
    else this.#inTurn(work, () => this.#publishPlain(work, outcome, result, onPublished));
    return NO_ABORT;
  }

  /** Publishes an outcome that writes nothing to the blackboard. */
  #publishPlain(
    work: TaskWork,
    outcome: TaskOutcome | undefined,
    result: TaskResult,
    onPublished: OnPublished,
  ): void {
    const published = work.recordRefusal?.() ?? result;
    if (outcome !== undefined) this.#keepOutcome(work.task.id, outcome);
    if (!published.ok) work.recordTotalFailure(published.error);
    this.#settle(work, published, onPublished);
  }

  /** Publishes at once, or during a replay when the task was published before. @param publish gets the error of a failed one */
  #inTurn(work: TaskWork, publish: (error?: string) => void): void {
    const replay = this.#services.history?.replay;
    if (replay === undefined) return publish();
    const key = taskKey(this.#services.history?.place ?? '', work.task.id);
    replay.expect(key, {
      onFact: (fact) => {
        replay.settle(key);
        const { at, ms, error } = fact as TaskPublished;
        if (ms !== undefined) work.trace.startedAt = at - ms;
        publish(error);
      },
      onEnd: () => publish(),
    });
  }

  /** Publishes the output after the blackboard has taken the writes; until then the publication can be cancelled. */
  #publishWithWrites(work: TaskWork, outcome: TaskOutcome, onPublished: OnPublished): Abortable {
    const { id } = work.task;
    const { writes } = outcome;
    const succeed = (): void => {
      if (this.#tasks.get(id) !== work) return;
      this.#keepOutcome(id, outcome);
      this.#settle(work, { ok: true }, onPublished);
    };
    const failWith = (error: string): void => {
      const result = work.failItself(error, work.attempts);
      this.#settle(work, result, onPublished, work.latest);
    };
    const fail = (reason: string): void => {
      if (this.#tasks.get(id) === work) failWith(`cannot store the values on the blackboard: ${reason}`);
    };
    // While facts are replayed, the fact of the publication says whether it was stopped.
    const applied = (reason?: string): void =>
      this.#inTurn(work, (error) => {
        if (error !== undefined) failWith(error);
        else if (reason !== undefined) fail(reason);
        else succeed();
      });
    const isApplied = work.reused !== undefined || this.#services.history?.replay !== undefined;
    const applying = this.#services.session.apply(writes, this.#budget, isApplied);
    applying.then(
      () => applied(),
      (thrown: unknown) => applied(errorMessage(thrown)),
    );
    return {
      abort: () => {
        if (this.#services.history?.replay === undefined) fail('stopped by force');
      },
    };
  }

  /** @param failedAt of a failure that happens with the publication: the fact of both has one time */
  #settle(work: TaskWork, outcome: TaskResult, onPublished: OnPublished, failedAt?: number): void {
    const result =
      work.task.toleratesFailure && !outcome.ok ? ({ ...outcome, tolerated: true } as const) : outcome;
    if (work.task.handlerOf === undefined) this.tasksSettled++;
    work.settle(result.ok, failedAt);
    this.#tasks.set(work.task.id, work.trace);
    if (!result.ok || result.skipped) this.#outcomes.fail(work.task.id);
    if (!result.ok || !result.skipped) this.#writeEndEvent(work, result);
    this.#reportPublished(work, result, onPublished);
  }

  /** Reports a publication once it is kept for good: what others have read of a task must be there after a crash. */
  #reportPublished(work: TaskWork, result: TaskResult, onPublished: OnPublished): void {
    const { history } = this.#services;
    if (history === undefined || history.replay !== undefined) return onPublished(result);
    const { startedAt, settledAt = startedAt } = work.trace;
    const fact = { kind: 'published', task: work.task.id, ms: settledAt - startedAt } as const;
    history.note(result.ok ? fact : { ...fact, error: result.error, ...work.ownFailure }, settledAt);
    history.run.publish(() => onPublished(result));
  }

  #writeEndEvent(work: TaskWork, result: TaskResult): void {
    const { journal } = this.#services;
    if (!journal.isObserved) return;
    const duration = { duration_ms: (work.trace.settledAt ?? work.trace.startedAt) - work.trace.startedAt };
    const ending = result.ok ? { kind: 'finish' as const } : { kind: 'fail' as const, error: result.error };
    // Spreading the fields into a new object takes fifty times as long.
    journal.write(Object.assign(ending, toTaskFields(work), toCountFields(work), duration));
  }

  /** Returns the wait of a task, or of an item of it (D81); undefined when it does not wait. */
  findWait({ id, pool, repeat }: Task, item: number | undefined): WaitingFor | undefined {
    return pool === undefined && repeat === undefined
      ? undefined
      : this.#services.waitingCalls.find(id, item);
  }

  /** Returns what is kept of a task for those who look at it (D59); undefined when it has not begun. */
  getTrace(taskId: string): TaskTrace | undefined {
    const task = this.#tasks.get(taskId);
    return task instanceof TaskWork ? task.trace : task;
  }

  /** Task id to output (rule 4), in declaration order: a key is added when its task begins, undefined until it has succeeded. */
  get outputs(): Record<string, Json> {
    return this.#outcomes.outputsOf(this.#services.prepared.pipeline, 'tasks');
  }

  /** The namespace `run` of templates (D80); undefined where a task is called so. */
  get runNamespace(): JsonObject | undefined {
    return this.#services.runNamespace;
  }

  /** Outputs of handlers, like those of tasks. */
  get handlerOutputs(): Record<string, Json> {
    return this.#outcomes.outputsOf(this.#services.prepared.pipeline, 'handlers');
  }

  /** Returns what a task published; undefined unless it has succeeded. */
  getOutcome(taskId: string): TaskOutcome | undefined {
    return this.#outcomes.get(taskId);
  }

  /** The blackboard writes of succeeded tasks, in order. */
  get writes(): readonly Write[] {
    return this.writesBefore(Number.POSITIVE_INFINITY).flat();
  }

  /** Returns the writes of each task of the waves before this one. */
  writesBefore(wave: number): readonly (readonly Write[])[] {
    return this.#outcomes.writesBefore(wave, this.#services.prepared.pipeline);
  }

  #keepOutcome(taskId: string, outcome: TaskOutcome): void {
    this.#outcomes.add(taskId, outcome);
    this.reuse?.onPublished(taskId, outcome);
  }
}

/** The scope of a run's templates. A class: an object literal would create its functions anew for every run. */
class RunScope implements TemplateScope {
  readonly inputs: JsonObject;
  readonly params: JsonObject;
  readonly goal: string;
  /** The meter of the invocation, or of the fan-out, that is being rendered. */
  meter = new RenderMeter();
  readonly #services: InvocationServices;
  readonly #secrets: InvocationServices['prepared']['secrets'];
  readonly #session: Session;
  readonly #outputs: Record<string, Json>;
  readonly #stateOf: (taskId: string) => TaskMembers | undefined;

  constructor(
    services: InvocationServices,
    outputs: Record<string, Json>,
    stateOf: (taskId: string) => TaskMembers | undefined,
  ) {
    const { prepared, session } = services;
    this.#services = services;
    this.inputs = prepared.inputs;
    this.params = prepared.params;
    this.goal = prepared.goal;
    this.#secrets = prepared.secrets;
    this.#session = session;
    this.#outputs = outputs;
    this.#stateOf = stateOf;
  }

  stateOf(taskId: string): TaskMembers | undefined {
    return this.#stateOf(taskId);
  }

  get run(): JsonObject | undefined {
    return this.#services.runNamespace;
  }

  get secrets(): Readonly<Record<string, string>> | undefined {
    return this.#secrets.values;
  }

  get session(): Record<string, Json> {
    return this.#session.values;
  }

  output(taskId: string): Json | undefined {
    return Object.hasOwn(this.#outputs, taskId) ? this.#outputs[taskId] : undefined;
  }
}

function toTaskFields({
  task,
  reused,
}: TaskWork): Pick<TaskEvent, 'task_id' | 'tool' | 'wave' | 'handler' | 'reused'> {
  const { id, tool, wave, handlerOf } = task;
  if (handlerOf !== undefined) return { task_id: id, tool: tool.name, wave, handler: handlerOf };
  const fields = { task_id: id, tool: tool.name, wave };
  return reused === undefined ? fields : { ...fields, reused: true };
}

/** Returns the attempts of a task or the items of a fan-out; of an outcome that was reused, the items that failed. */
function toCountFields(
  work: TaskWork,
): Pick<TaskEvent, 'attempt' | 'items' | 'failed_items' | 'cached' | 'cached_items'> {
  const { items, attempts, reused, collected = reused?.collected } = work;
  const failed = collected && { failed_items: collected.length };
  if (reused !== undefined) return { ...failed };
  const { cacheHits } = work.trace;
  if (items === undefined) return cacheHits === 0 ? { attempt: attempts } : { cached: true };
  return { items: items.length, ...failed, ...(cacheHits > 0 && { cached_items: cacheHits }) };
}
