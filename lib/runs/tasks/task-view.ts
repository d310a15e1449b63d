import { toTaskStatus } from '../../../machines/status.js';
import type { TaskStatus } from '../../../machines/types.js';
import { toIsoTime } from '../../common/clock.js';
import type { TaskFailure } from '../../common/errors.js';
import { type Json, type JsonObject, toList } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { ErrorRecord } from '../../execution/invocation/thrown-error.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import type { ReadableWork } from '../../execution/run/readable-run.js';
import { type TaskTrace, UNKNOWN_TIME } from '../../execution/run/task-trace.js';
import type { RenderedInputs, InputRenderer } from '../../execution/run/input-renderer.js';
import { cutValueInSteps } from './cut-value.js';
import type { AttemptRecord, ItemCounts, ItemRecord, TaskRecord } from './task-record.js';

type Task = PreparedRun['pipeline']['tasks'] extends ReadonlyMap<string, infer T> ? T : never;

/** A pipeline whose tasks are looked at: that of a run, or a sub-pipeline of a plan. */
export interface PipelineView {
  readonly runId: string;
  /** Undefined in a run of a pipeline. */
  readonly subPipeline: string | undefined;
  readonly tasks: readonly Task[];
  /** Undefined for a sub-pipeline that has not begun. */
  readonly begun: { readonly work: ReadableWork; readonly values: InputRenderer } | undefined;
  /** Why none of its tasks begins: its sub-pipeline is skipped; undefined when it is not (D77). */
  readonly skipReason?: string;
  /** No further task will begin, but handlers may. */
  readonly isOver: boolean;
  /** Nothing will begin any more. */
  readonly isSettled: boolean;
}

export const ITEMS_PER_STEP = 1000;

/** Characters of an item that name it where values are left out. */
const LABEL_LENGTH = 200;

/** Of a sub-pipeline, or of handlers of a plan. */
const NOT_BEGUN = { ok: false, error: 'the tasks beside it have not begun' } as const;

/** A task of a run, from which its record and those of its items are made (D59). */
export class TaskView {
  readonly #part: PipelineView;
  readonly #task: Task;
  readonly #trace: TaskTrace | undefined;
  /** Rendered when the first item is looked at. */
  #items: ReturnType<InputRenderer['renderItems']> | undefined;
  /** By item, why it failed in the run whose outcome was reused. */
  readonly #reusedErrors: ReadonlyMap<number | undefined, ErrorRecord>;

  constructor(part: PipelineView, task: Task) {
    this.#part = part;
    this.#task = task;
    this.#trace = part.begun?.work.getTrace(task.id);
    this.#reusedErrors = toReusedErrors(this.#trace?.reusedFailures);
  }

  get status(): TaskStatus {
    const trace = this.#trace;
    const hasSettled = trace?.settledAt !== undefined;
    return toTaskStatus({
      hasBegun: trace !== undefined,
      hasSucceeded: hasSettled && !trace.hasFailed,
      hasFailed: hasSettled && trace.hasFailed,
      isSkipped: trace?.skipReason !== undefined || this.#part.skipReason !== undefined,
      isOver: this.#task.handlerOf === undefined ? this.#part.isOver : this.#part.isSettled,
    });
  }

  /** Number of items; undefined for a task that is no fan-out, or has not begun. */
  get itemCount(): number | undefined {
    return this.#itemOutputs?.length;
  }

  *prepare(): Steps<void> {
    yield* this.#part.begun?.values.prepare(this.#task) ?? [];
  }

  /** @param limit about as many characters of each value are shown; 0: inputs and output are left out */
  *toRecord(limit: number): Steps<TaskRecord> {
    const cut: string[] = [];
    const items = yield* this.#countItems();
    const output = limit === 0 ? null : (this.#output ?? (yield* this.#listItemOutputs()));
    const trace = this.#trace;
    const isFanOut = this.#task.parallelOver !== undefined;
    return {
      ...this.#identity(),
      tool: this.#task.tool.name,
      wave: this.#task.wave,
      ...(this.#task.handlerOf && { handler: this.#task.handlerOf }),
      status: this.status,
      reused: trace?.isReused ?? false,
      cached: trace?.isCached(undefined) ?? false,
      started_at: toTime(trace?.startedAt),
      finished_at: toTime(trace?.settledAt),
      attempts: isFanOut ? [] : this.#listAttempts(undefined, this.status),
      items,
      ...(this.#task.repeat && { rounds: trace?.rounds ?? 0 }),
      cached_items: items === null ? null : (trace?.cacheHits ?? 0),
      ...(isFanOut || limit === 0 ? NO_INPUTS : yield* toInputFields(this.#renderInputs(), limit, cut)),
      output: yield* cutValueInSteps(output, limit, '/output', cut),
      error: trace?.error ?? null,
      ...this.#skipReason(undefined),
      ...this.#waitingFor(undefined),
      cut,
    };
  }

  #renderInputs(): RenderedInputs {
    return this.#part.begun?.values.renderInputs(this.#task) ?? NOT_BEGUN;
  }

  /** Undefined unless the task has succeeded. */
  get #output(): Json | undefined {
    return this.#part.begun?.work.getOutcome(this.#task.id)?.output;
  }

  /** Returns the outputs of the items that have succeeded so far, with null in place of the others. */
  *#listItemOutputs(): Steps<Json> {
    const outputs = this.#trace?.itemOutputs;
    if (outputs === undefined) return null;
    const list: Json[] = [];
    for (let item = 0; item < outputs.length; item++) {
      list.push(outputs[item] ?? null);
      if (item % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    }
    return list;
  }

  /** Of a fan-out that was reused, the items of its output. */
  get #itemOutputs(): readonly Json[] | undefined {
    const { itemOutputs, isReused = false } = this.#trace ?? {};
    if (!isReused || this.#task.parallelOver === undefined) return itemOutputs;
    return toList(this.#output ?? null) as readonly Json[];
  }

  *#countItems(): Steps<ItemCounts | null> {
    const total = this.itemCount;
    if (total === undefined) return null;
    const counts = { total, pending: 0, running: 0, succeeded: 0, failed: 0, skipped: 0 };
    for (let item = 0; item < total; item++) {
      counts[this.itemStatus(item)]++;
      if (item % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    }
    return counts;
  }

  #itemError(item: number): ErrorRecord | undefined {
    return this.#trace?.endedAttempts(item)?.error ?? this.#reusedErrors.get(item);
  }

  itemStatus(item: number): TaskStatus {
    const trace = this.#trace;
    return toTaskStatus({
      hasBegun: trace?.callStartedAt(item) !== undefined,
      hasSucceeded: trace?.isReused === true || trace?.itemSettledAt(item) !== undefined,
      hasFailed: this.#itemError(item) !== undefined,
      isSkipped: trace?.skipReasonOf(item) !== undefined,
      isOver: trace?.settledAt !== undefined,
    });
  }

  /** Lists what has failed: the task itself (undefined), and the first of its items, as many as `most`. */
  *listFailed(most: number): Steps<(number | undefined)[]> {
    const failed: (number | undefined)[] = this.status === 'failed' ? [undefined] : [];
    for (let item = 0; item < (this.itemCount ?? 0) && failed.length <= most; item++) {
      if (this.itemStatus(item) === 'failed') failed.push(item);
      if (item % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
    }
    return failed;
  }

  *toCall(item: number | undefined, limit: number): Steps<TaskRecord | ItemRecord> {
    return yield* item === undefined ? this.toRecord(limit) : this.toItemRecord(item, limit);
  }

  /** @param limit about as many characters of each value are shown; 0: only the item itself, and little of that */
  *toItemRecord(item: number, limit: number): Steps<ItemRecord> {
    const cut: string[] = [];
    const status = this.itemStatus(item);
    const trace = this.#trace;
    const ended = trace?.endedAttempts(item);
    const output = limit > 0 && status === 'succeeded' ? (this.#itemOutputs?.[item] ?? null) : null;
    this.#items ??= this.#part.begun?.values.renderItems(this.#task) ?? NOT_BEGUN;
    const rendered = this.#items;
    const value = rendered.ok ? (rendered.value.items[item] ?? null) : null;
    const inputs = (): RenderedInputs => (rendered.ok ? rendered.value.render(item) : rendered);
    return {
      ...this.#identity(),
      item,
      value: yield* cutValueInSteps(value, limit || LABEL_LENGTH, '/value', cut),
      status,
      reused: this.#isItemReused(item, status),
      cached: trace?.isCached(item) ?? false,
      started_at: toTime(ended?.firstStartedAt ?? trace?.callStartedAt(item)),
      finished_at: toTime(trace?.itemSettledAt(item)),
      attempts: this.#listAttempts(item, status),
      ...(limit === 0 ? NO_INPUTS : yield* toInputFields(inputs(), limit, cut)),
      output: yield* cutValueInSteps(output, limit, '/output', cut),
      error: this.#itemError(item) ?? null,
      ...this.#skipReason(item),
      ...this.#waitingFor(item),
      cut,
    };
  }

  #skipReason(item: number | undefined): Pick<TaskRecord, 'skip_reason'> {
    const reason = this.#trace?.skipReasonOf(item) ?? this.#part.skipReason;
    return reason === undefined ? {} : { skip_reason: reason };
  }

  #waitingFor(item: number | undefined): Pick<TaskRecord, 'waiting_for'> {
    const wait = this.#part.begun?.work.findWait?.(this.#task, item);
    return wait === undefined ? {} : { waiting_for: wait };
  }

  #isItemReused(item: number, status: TaskStatus): boolean {
    const trace = this.#trace;
    const hasOwnOutput = trace?.callStartedAt(item) !== undefined || trace?.isCached(item) === true;
    return !hasOwnOutput && (status === 'succeeded' || this.#reusedErrors.has(item));
  }

  #identity(): Pick<TaskRecord, 'run_id' | 'sub_pipeline' | 'task_id'> {
    const { runId, subPipeline } = this.#part;
    const id = { run_id: runId, task_id: this.#task.id };
    return subPipeline === undefined ? id : { ...id, sub_pipeline: subPipeline };
  }

  #listAttempts(item: number | undefined, status: TaskStatus): AttemptRecord[] {
    const trace = this.#trace;
    const ended = trace?.endedAttempts(item)?.attempts ?? [];
    const records = ended.map(
      ({ attempt, startedAt, finishedAt, error }): AttemptRecord => ({
        attempt,
        started_at: toTime(startedAt),
        finished_at: toTime(finishedAt),
        error,
      }),
    );
    const startedAt = trace?.callStartedAt(item);
    const last = ended.at(-1);
    // Between two attempts, the last one is among those that have ended.
    const isListed = startedAt === undefined || (status === 'running' && last?.startedAt === startedAt);
    if (isListed || (status !== 'running' && status !== 'succeeded')) return records;
    const finishedAt = item === undefined ? trace?.settledAt : trace?.itemSettledAt(item);
    const attempt = (last?.attempt ?? 0) + 1;
    records.push({ attempt, started_at: toTime(startedAt), finished_at: toTime(finishedAt), error: null });
    return records;
  }
}

const NO_ERRORS: ReadonlyMap<number, ErrorRecord> = new Map();

/** Of a reused outcome, only the messages of errors are kept. */
function toReusedErrors(
  failures: readonly TaskFailure[] | undefined,
): ReadonlyMap<number | undefined, ErrorRecord> {
  if (failures === undefined) return NO_ERRORS;
  return new Map(failures.map(({ item, error }) => [item, { type: 'Error', message: error, causes: [] }]));
}

const NO_INPUTS = { inputs: null, inputs_error: null };

function* toInputFields(
  rendered: RenderedInputs,
  limit: number,
  cut: string[],
): Steps<Pick<TaskRecord, 'inputs' | 'inputs_error'>> {
  if (!rendered.ok) return { inputs: null, inputs_error: rendered.error };
  const inputs = yield* cutValueInSteps(rendered.value, limit, '/inputs', cut);
  return { inputs: inputs as JsonObject, inputs_error: null };
}

function toTime(ms: number | undefined): string | null {
  return ms === undefined || ms === UNKNOWN_TIME ? null : toIsoTime(ms);
}
