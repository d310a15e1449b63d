import { toTaskStatus } from '../../../machines/status.js';
import type { TaskStatus } from '../../../machines/types.js';
import { toIsoTime } from '../../common/clock.js';
import { type Json, type JsonObject, toList } from '../../common/json.js';
import type { Steps } from '../../common/steps.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import type { PipelineRun } from '../../execution/run/pipeline-run.js';
import { type TaskTrace, UNKNOWN_TIME } from '../../execution/run/task-trace.js';
import type { RenderedInputs, TaskValues } from '../../execution/run/task-values.js';
import { cutValue } from './cut-value.js';
import type { AttemptRecord, ItemCounts, ItemRecord, TaskRecord } from './task-record.js';

type Task = PreparedRun['pipeline']['tasks'] extends ReadonlyMap<string, infer T> ? T : never;

/** A pipeline whose tasks are looked at: that of a run, or a sub-pipeline of a plan. */
export interface RunPart {
  readonly runId: string;
  /** Undefined in a run of a pipeline. */
  readonly subPipeline: string | undefined;
  readonly tasks: readonly Task[];
  /** Undefined for a sub-pipeline that has not begun. */
  readonly begun: { readonly work: PipelineRun['work']; readonly values: TaskValues } | undefined;
  /** No further task will begin. */
  readonly isOver: boolean;
}

const NOT_BEGUN = { ok: false, error: 'the sub-pipeline has not begun' } as const;

/** A task of a run, from which its record and those of its items are made (D59). */
export class TaskView {
  readonly #part: RunPart;
  readonly #task: Task;
  readonly #trace: TaskTrace | undefined;
  /** Rendered when the first item is looked at. */
  #items: ReturnType<TaskValues['renderItems']> | undefined;

  constructor(part: RunPart, task: Task) {
    this.#part = part;
    this.#task = task;
    this.#trace = part.begun?.work.getTrace(task.id);
  }

  get status(): TaskStatus {
    const trace = this.#trace;
    const hasSettled = trace?.settledAt !== undefined;
    return toTaskStatus({
      hasBegun: trace !== undefined,
      hasSucceeded: hasSettled && !trace.hasFailed,
      hasFailed: hasSettled && trace.hasFailed,
      isOver: this.#part.isOver,
    });
  }

  /** Number of items; undefined for a task that is no fan-out, or has not begun. */
  get itemCount(): number | undefined {
    return this.#itemOutputs?.length;
  }

  /** Call before the records are made. */
  *prepare(): Steps<void> {
    yield* this.#part.begun?.values.prepare(this.#task) ?? [];
  }

  /** @param limit about as many characters of each value are shown */
  toRecord(limit: number): TaskRecord {
    const cut: string[] = [];
    const trace = this.#trace;
    const isFanOut = this.#task.parallelOver !== undefined;
    return {
      ...this.#identity(),
      tool: this.#task.tool.name,
      wave: this.#task.wave,
      status: this.status,
      reused: trace?.isReused ?? false,
      started_at: toTime(trace?.startedAt),
      finished_at: toTime(trace?.settledAt),
      attempts: isFanOut ? [] : this.#listAttempts(undefined, this.status),
      items: this.#countItems(),
      ...(isFanOut ? NO_INPUTS : toInputFields(this.#renderInputs(), limit, cut)),
      output: cutValue(this.#output, limit, '/output', cut),
      error: trace?.error ?? null,
      cut,
    };
  }

  #renderInputs(): RenderedInputs {
    return this.#part.begun?.values.renderInputs(this.#task) ?? NOT_BEGUN;
  }

  get #output(): Json {
    const outputs = this.#part.begun?.work.outputs ?? {};
    const own = Object.hasOwn(outputs, this.#task.id) ? outputs[this.#task.id] : undefined;
    if (own !== undefined) return own;
    const items = this.#trace?.itemOutputs;
    return items === undefined ? null : Array.from(items, (output) => output ?? null);
  }

  /** Of a fan-out that was reused, the items of its output. */
  get #itemOutputs(): readonly Json[] | undefined {
    const { itemOutputs, isReused = false } = this.#trace ?? {};
    if (!isReused || this.#task.parallelOver === undefined) return itemOutputs;
    return toList(this.#output) as readonly Json[];
  }

  #countItems(): ItemCounts | null {
    const total = this.itemCount;
    if (total === undefined) return null;
    const counts = { total, pending: 0, running: 0, succeeded: 0, failed: 0, skipped: 0 };
    for (let item = 0; item < total; item++) counts[this.itemStatus(item)]++;
    return counts;
  }

  itemStatus(item: number): TaskStatus {
    const trace = this.#trace;
    return toTaskStatus({
      hasBegun: trace?.callStartedAt(item) !== undefined,
      hasSucceeded: trace?.isReused === true || trace?.itemSettledAt(item) !== undefined,
      hasFailed: trace?.failedAttempts(item)?.error !== undefined,
      isOver: trace?.settledAt !== undefined,
    });
  }

  /** @param limit about as many characters of each value are shown */
  toItemRecord(item: number, limit: number): ItemRecord {
    const cut: string[] = [];
    const status = this.itemStatus(item);
    const trace = this.#trace;
    const failed = trace?.failedAttempts(item);
    const output = status === 'succeeded' ? (this.#itemOutputs?.[item] ?? null) : null;
    this.#items ??= this.#part.begun?.values.renderItems(this.#task) ?? NOT_BEGUN;
    const rendered = this.#items;
    const value = rendered.ok ? (rendered.value.items[item] ?? null) : null;
    const inputs = rendered.ok ? rendered.value.render(item) : rendered;
    return {
      ...this.#identity(),
      item,
      value: cutValue(value, limit, '/value', cut),
      status,
      reused: status === 'succeeded' && trace?.callStartedAt(item) === undefined,
      started_at: toTime(failed?.firstStartedAt ?? trace?.callStartedAt(item)),
      finished_at: toTime(trace?.itemSettledAt(item)),
      attempts: this.#listAttempts(item, status),
      ...toInputFields(inputs, limit, cut),
      output: cutValue(output, limit, '/output', cut),
      error: failed?.error ?? null,
      cut,
    };
  }

  #identity(): Pick<TaskRecord, 'run_id' | 'sub_pipeline' | 'task_id'> {
    const { runId, subPipeline } = this.#part;
    const id = { run_id: runId, task_id: this.#task.id };
    return subPipeline === undefined ? id : { ...id, sub_pipeline: subPipeline };
  }

  #listAttempts(item: number | undefined, status: TaskStatus): AttemptRecord[] {
    const trace = this.#trace;
    const failed = trace?.failedAttempts(item)?.attempts ?? [];
    const records = failed.map(
      ({ attempt, startedAt, finishedAt, error }): AttemptRecord => ({
        attempt,
        started_at: toTime(startedAt),
        finished_at: toTime(finishedAt),
        error,
      }),
    );
    const startedAt = trace?.callStartedAt(item);
    const last = failed.at(-1);
    // Between two attempts, the last one is among those that failed.
    const isListed = startedAt === undefined || (status === 'running' && last?.startedAt === startedAt);
    if (isListed || (status !== 'running' && status !== 'succeeded')) return records;
    const finishedAt = item === undefined ? trace?.settledAt : trace?.itemSettledAt(item);
    const attempt = (last?.attempt ?? 0) + 1;
    records.push({ attempt, started_at: toTime(startedAt), finished_at: toTime(finishedAt), error: null });
    return records;
  }
}

const NO_INPUTS = { inputs: null, inputs_error: null };

function toInputFields(
  rendered: RenderedInputs,
  limit: number,
  cut: string[],
): Pick<TaskRecord, 'inputs' | 'inputs_error'> {
  if (!rendered.ok) return { inputs: null, inputs_error: rendered.error };
  return { inputs: cutValue(rendered.value, limit, '/inputs', cut) as JsonObject, inputs_error: null };
}

function toTime(ms: number | undefined): string | null {
  return ms === undefined || ms === UNKNOWN_TIME ? null : toIsoTime(ms);
}
