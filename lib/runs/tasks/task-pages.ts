import { WavetrainError } from '../../common/errors.js';
import { type Json, subtractJsonLength } from '../../common/json/json.js';
import type { Steps } from '../../common/scheduling/steps.js';
import type { ReadablePlanRun, ReadableRun, ReadableSubRun } from '../../execution/run/readable-run.js';
import type { ErrorRecord } from '../../execution/invocation/thrown-error.js';
import type { PreparedRun } from '../../execution/prepare/prepare-run.js';
import { type EarlierStores, earlierStores, InputRenderer } from '../../execution/run/input-renderer.js';
import type { WantedItems } from '../store/run-store.js';
import type {
  FailedCall,
  FailedCallsQuery,
  ItemPage,
  ItemRecord,
  TaskOptions,
  TaskPage,
  TaskQuery,
  TaskRecord,
} from './task-record.js';
import { ITEMS_PER_STEP, type PipelineView, TaskView } from './task-view.js';

/** Characters of each value that are shown: on a page, of one task or item, and when everything is asked for. */
const PAGE_VALUE_LENGTH = 2048;
export const VALUE_LENGTH = 64 * 1024;
export const WHOLE = Number.POSITIVE_INFINITY;
const NO_VALUES = 0;

/** A page ends when it has about so many characters, or when so much was rendered for it. */
const MAX_PAGE_LENGTH = 2 ** 20;
const MAX_PAGE_RENDERED_BYTES = 4 * 2 ** 20;

const DEFAULT_LIMIT = 50;

/** Takes memory for what is shown, in bytes. @throws WavetrainError `memory_full` */
export type HoldMemory = (bytes: number) => void;

/** One page of the tasks of a run (D59). @throws WavetrainError `task_not_found` or `invalid_request` */
export function* listTasks(run: ReadableRun, query: TaskQuery, hold: HoldMemory): Steps<TaskPage> {
  const parts = findParts(run, query.sub_pipeline, hold);
  const page = new Page<TaskRecord>(query, parts);
  let position = 0;
  for (const part of parts) {
    for (const task of part.tasks) {
      if (position++ < page.start) continue;
      const view = new TaskView(part, task);
      if (query.status !== undefined && query.status !== view.status) continue;
      if (page.isFull(position - 1)) return { tasks: page.records, next_cursor: page.nextCursor };
      if (page.valueLength > 0) yield* view.prepare();
      if (!page.add(position - 1, yield* view.toRecord(page.valueLength))) {
        return { tasks: page.records, next_cursor: page.nextCursor };
      }
      yield;
    }
  }
  return { tasks: page.records, next_cursor: null };
}

/** The record of one task. @throws WavetrainError `task_not_found` or `invalid_request` */
export function* getTask(
  run: ReadableRun,
  taskId: string,
  options: TaskOptions,
  hold: HoldMemory,
): Steps<TaskRecord> {
  const { view } = findTaskView(run, taskId, options, hold);
  yield* view.prepare();
  return yield* view.toRecord(options.whole === true ? WHOLE : VALUE_LENGTH);
}

/** One page of the items of a fan-out. @throws WavetrainError `task_not_found` or `invalid_request` */
export function* listItems(
  run: ReadableRun,
  taskId: string,
  query: TaskQuery,
  hold: HoldMemory,
): Steps<ItemPage> {
  const { view, part } = findTaskView(run, taskId, query, hold);
  const page = new Page<ItemRecord>(query, [part]);
  yield* view.prepare();
  const count = view.itemCount ?? 0;
  for (let item = page.start; item < count; item++) {
    const isWanted = query.status === undefined || query.status === view.itemStatus(item);
    if (isWanted) {
      const isFull = page.isFull(item) || !page.add(item, yield* view.toItemRecord(item, page.valueLength));
      if (isFull) return { items: page.records, next_cursor: page.nextCursor };
    }
    if (isWanted || item % ITEMS_PER_STEP === 0) yield;
  }
  return { items: page.records, next_cursor: null };
}

/** The items that a page may have; undefined for a page of which nobody knows it before all items are looked at. */
export function itemsOn(
  { cursor, limit = DEFAULT_LIMIT, status, sub_pipeline: place = '' }: TaskQuery,
  task: string,
): WantedItems | undefined {
  if (status !== undefined || (cursor !== undefined && !CURSOR.test(cursor))) return undefined;
  const first = cursor === undefined ? 0 : decodeCursor(cursor);
  return { place, task, first, last: first + limit - 1 };
}

/** The record of one item of a fan-out. @throws WavetrainError `task_not_found` or `invalid_request` */
export function* getItem(
  run: ReadableRun,
  taskId: string,
  item: number,
  options: TaskOptions,
  hold: HoldMemory,
): Steps<ItemRecord> {
  const { view } = findTaskView(run, taskId, options, hold);
  const count = view.itemCount;
  if (count === undefined) throw notFound(`task "${taskId}" has no items`);
  if (!Number.isInteger(item) || item < 0 || item >= count) {
    throw notFound(`task "${taskId}" has no item ${item}: it has ${count}, counted from 0`);
  }
  yield* view.prepare();
  return yield* view.toItemRecord(item, options.whole === true ? WHOLE : VALUE_LENGTH);
}

/** The tasks and items that have failed: the one that failed the run, then the others in the order of the waves. */
export function* listFailedCalls(
  run: ReadableRun,
  { most, valueLength = PAGE_VALUE_LENGTH }: FailedCallsQuery,
  hold: HoldMemory,
): Steps<FailedCall[]> {
  const calls: FailedCall[] = [];
  const first = run.failedTask;
  if (first !== null) {
    const { view } = findTaskView(run, first.task_id, first, hold);
    yield* view.prepare();
    const item = view.itemCount === undefined ? undefined : first.item;
    calls.push(yield* view.toCall(item, valueLength));
  }
  if (calls.length >= most) return calls;
  for (const part of findParts(run, undefined, hold)) {
    for (const task of part.tasks) {
      const view = new TaskView(part, task);
      for (const item of yield* view.listFailed(most)) {
        if (calls.length >= most) return calls;
        const isFirst =
          first?.task_id === task.id && first.sub_pipeline === part.subPipeline && first.item === item;
        if (isFirst) continue;
        yield* view.prepare();
        calls.push(yield* view.toCall(item, valueLength));
      }
      yield;
    }
  }
  return calls;
}

/** Why the task failed that failed a run; undefined when none has. */
export function findError(run: ReadableRun): ErrorRecord | undefined {
  if (run.failedTask === null) return undefined;
  const { sub_pipeline: subPipeline = '', task_id: taskId, item } = run.failedTask;
  const { work } = run.kind === 'plan' ? (run.subRuns.begun.get(subPipeline) ?? {}) : run;
  return work?.getTrace(taskId)?.endedAttempts(item)?.error;
}

class Page<R extends TaskRecord | ItemRecord> {
  /** Position of the first candidate. */
  readonly start: number;
  readonly valueLength: number;
  readonly records: R[] = [];
  nextCursor: string | null = null;
  readonly #limit: number;
  readonly #parts: readonly PipelineView[];
  #lengthLeft = MAX_PAGE_LENGTH;

  constructor(query: TaskQuery, parts: readonly PipelineView[]) {
    const { cursor, limit = DEFAULT_LIMIT, whole = false, values = true } = query;
    this.start = cursor === undefined ? 0 : decodeCursor(cursor);
    this.valueLength = values ? (whole ? WHOLE : PAGE_VALUE_LENGTH) : NO_VALUES;
    this.#limit = limit;
    this.#parts = parts;
  }

  /** Returns true when the page ends before a position, whatever the record there is. A page has at least one record. */
  isFull(position: number): boolean {
    const count = this.records.length;
    return (count === this.#limit || (count > 0 && this.#hasRenderedMuch())) && this.#endAt(position);
  }

  /** Adds the record at a position; returns false when the page ends before it, because it is too long. */
  add(position: number, record: R): boolean {
    this.#lengthLeft = subtractJsonLength(this.#lengthLeft, record as unknown as Json);
    if (this.records.length > 0 && this.#lengthLeft < 0) return !this.#endAt(position);
    this.records.push(record);
    return true;
  }

  #endAt(position: number): true {
    this.nextCursor = `t${position.toString(36)}`;
    return true;
  }

  #hasRenderedMuch(): boolean {
    let bytes = 0;
    for (const { begun } of this.#parts) bytes += begun?.values.renderedBytes ?? 0;
    return bytes > MAX_PAGE_RENDERED_BYTES;
  }
}

const CURSOR = /^t[0-9a-z]{1,10}$/;

function decodeCursor(cursor: string): number {
  if (CURSOR.test(cursor)) return Number.parseInt(cursor.slice(1), 36);
  throw new WavetrainError('invalid_request', 'cursor must be the next_cursor of an earlier page');
}

function findTaskView(
  run: ReadableRun,
  taskId: string,
  { sub_pipeline: subPipeline }: TaskOptions,
  hold: HoldMemory,
): { readonly part: PipelineView; readonly view: TaskView } {
  // In a plan, only its handlers stand in no sub-pipeline.
  const isHandler = run.kind === 'plan' && subPipeline === undefined;
  if (isHandler && run.prepared.handlers?.pipeline.allTasks.has(taskId) !== true) {
    throw new WavetrainError(
      'invalid_request',
      `run ${run.id} belongs to a plan: sub_pipeline must say in which sub-pipeline "${taskId}" is`,
    );
  }
  const part = isHandler ? findHandlers(run, hold) : findParts(run, subPipeline, hold)[0];
  const task = part?.tasks.find(({ id }) => id === taskId);
  if (part === undefined || task === undefined) throw notFound(`run ${run.id} has no task "${taskId}"`);
  return { part, view: new TaskView(part, task) };
}

/** All pipelines of a run in declared order, or the one that is named. */
function findParts(run: ReadableRun, subPipeline: string | undefined, hold: HoldMemory): PipelineView[] {
  const isOver = run.status !== 'queued' && run.status !== 'running';
  const { isSettled } = run;
  if (run.kind === 'pipeline') {
    if (subPipeline !== undefined)
      throw notFound(`run ${run.id} has no sub-pipelines: it belongs to a pipeline`);
    const values = new InputRenderer(run, () => ({ session: run.prepared.session, writes: [] }), hold);
    return [toPart(run, run.prepared, { work: run.work, values }, { isOver, isSettled })];
  }
  const { subRuns } = run.prepared;
  const ids = subPipeline === undefined ? [...subRuns.keys()] : [subPipeline];
  const parts = ids.map((id) => {
    const prepared = subRuns.get(id);
    if (prepared === undefined) throw notFound(`run ${run.id} has no sub-pipeline "${id}"`);
    const begun = run.subRuns.begun.get(id);
    const hasSettled = isSettled || begun?.isSettled === true;
    const end = { isOver: isOver || hasSettled, isSettled: hasSettled };
    const part = toPart(run, prepared, toBegun(run, begun, hold), end, id);
    const skipReason = run.subRuns.skipped.get(id);
    return skipReason === undefined ? part : { ...part, skipReason: `its sub-pipeline was: ${skipReason}` };
  });
  const handlers = subPipeline === undefined ? findHandlers(run, hold) : undefined;
  return handlers === undefined ? parts : [...parts, handlers];
}

/** The handlers of a plan; undefined for a plan without any. */
function findHandlers(run: ReadablePlanRun, hold: HoldMemory): PipelineView | undefined {
  const { handlers } = run.prepared;
  const { isSettled } = run;
  const end = { isOver: isSettled, isSettled };
  return handlers && toPart(run, handlers, toBegun(run, run.subRuns.handlers, hold), end);
}

/** @param begun undefined for a sub-pipeline, or handlers, that have not begun */
function toBegun(
  { prepared, subRuns }: ReadablePlanRun,
  begun: ReadableSubRun | undefined,
  hold: HoldMemory,
): PipelineView['begun'] {
  if (begun === undefined) return undefined;
  const findEarlier = (): EarlierStores => earlierStores(prepared.session, subRuns.begun.values(), begun);
  return { work: begun.work, values: new InputRenderer(begun, findEarlier, hold) };
}

function toPart(
  { id }: ReadableRun,
  { pipeline }: PreparedRun,
  begun: PipelineView['begun'],
  end: Pick<PipelineView, 'isOver' | 'isSettled'>,
  subPipeline?: string,
): PipelineView {
  const tasks = pipeline.allWaves.flat().flatMap((taskId) => pipeline.allTasks.get(taskId) ?? []);
  return { runId: id, subPipeline, tasks, begun, ...end };
}

function notFound(message: string): WavetrainError {
  return new WavetrainError('task_not_found', message);
}
