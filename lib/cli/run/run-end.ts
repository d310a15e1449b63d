import type { TaskStatus } from '../../../machines/types.js';
import { errorMessage } from '../../common/errors.js';
import { type JsonObject, setOwn } from '../../common/json/json.js';
import type { RunRecord } from '../../runs/record.js';
import type { CallRecord, TaskQuery, TaskRecord } from '../../runs/tasks/task-record.js';
import type { QueriesApi } from '../context.js';
import {
  causesFirst,
  type FailureDetails,
  formatCall,
  groupFailures,
  NO_DETAILS,
} from '../render/failures.js';

/** Shows the tasks of a run: the registry of this process, or the client of a server. */
export type TaskReader = Pick<QueriesApi, 'tasks' | 'task' | 'item'>;

/** A settled run, with what its record does not have. */
export interface InspectedRun {
  readonly record: RunRecord;
  readonly details: FailureDetails;
  /** The outputs by task; of a plan, those of each sub-pipeline. Undefined when nobody asked for them. */
  readonly outputs: JsonObject | undefined;
  /** The status of each task of a run that did not succeed, by its name; undefined when nobody asked for the outputs. */
  readonly statuses: ReadonlyMap<string, TaskStatus> | undefined;
}

interface Wanted {
  /** The outputs of a run that did not succeed. */
  readonly outputs: boolean;
  /** Shows the inputs and stacks of what failed whole. */
  readonly verbose: boolean;
  /** Reads those inputs whole, for a program. */
  readonly json: boolean;
}

/** Failures whose inputs are shown: those of further items are mostly alike. */
const MAX_DETAILED = 10;

const MAX_PAGE_SIZE = 500;

/**
 * Reads what a run leaves: the inputs of what failed, and the outputs that there are (D59). Call before the run is
 * forgotten. An unreadable part does not hide the failure: the details say why it is missing.
 */
export async function readRunEnd(
  record: RunRecord,
  reader: TaskReader,
  wanted: Wanted,
): Promise<InspectedRun> {
  const unread = { outputs: undefined, statuses: undefined };
  if (record.result !== null) {
    return { record, details: NO_DETAILS, ...unread, outputs: outputsOf(record.result) };
  }
  const details = await readDetails(record, reader, wanted);
  if (!wanted.outputs) return { record, details, ...unread };
  try {
    return { record, details, ...(await readOutputs(record, reader)) };
  } catch (error) {
    return { record, details: { ...details, problem: errorMessage(error) }, ...unread };
  }
}

function outputsOf(result: NonNullable<RunRecord['result']>): JsonObject {
  if (result.plan_id === undefined) return result.outputs;
  const outputs: JsonObject = {};
  for (const [id, part] of Object.entries(result.sub_results)) setOwn(outputs, id, part.outputs);
  return outputs;
}

async function readDetails(
  { run_id, failures }: RunRecord,
  reader: TaskReader,
  { verbose, json }: Wanted,
): Promise<FailureDetails> {
  const calls = new Map<string, CallRecord>();
  // JSON lists each failure by itself.
  const shown = json ? causesFirst(failures) : groupFailures(failures, verbose).map(({ first }) => first);
  try {
    for (const failure of shown.slice(0, MAX_DETAILED)) {
      const { task_id, item, sub_pipeline } = failure;
      const options = { sub_pipeline, whole: verbose || json };
      const call = await (item === undefined
        ? reader.task(run_id, task_id, options)
        : reader.item(run_id, task_id, item, options));
      calls.set(formatCall(failure), call);
    }
    return { calls, verbose, problem: undefined };
  } catch (error) {
    return { calls, verbose, problem: errorMessage(error) };
  }
}

async function readOutputs(
  { run_id }: RunRecord,
  reader: TaskReader,
): Promise<Pick<InspectedRun, 'outputs' | 'statuses'>> {
  const outputs: JsonObject = {};
  const statuses = new Map<string, TaskStatus>();
  for await (const task of readTasks(run_id, reader, { whole: true })) {
    addOutput(outputs, task);
    statuses.set(formatCall(task), task.status);
  }
  return { outputs, statuses };
}

/** Reads the tasks of a run page by page, `most` of them at most. */
export async function* readTasks(
  runId: string,
  reader: Pick<TaskReader, 'tasks'>,
  query: TaskQuery,
  most: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<TaskRecord> {
  let left = most;
  let cursor: string | undefined;
  do {
    const page = await reader.tasks(runId, { ...query, limit: Math.min(left, MAX_PAGE_SIZE), cursor });
    yield* page.tasks;
    left -= page.tasks.length;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && left > 0);
}

/** Of a fan-out that failed, the outputs of its items that succeeded, and null in place of the others. */
function addOutput(outputs: JsonObject, { sub_pipeline, task_id, status, items, output }: TaskRecord): void {
  if (status !== 'succeeded' && (items === null || items.succeeded === 0)) return;
  if (sub_pipeline === undefined) {
    setOwn(outputs, task_id, output);
    return;
  }
  const known = Object.hasOwn(outputs, sub_pipeline) ? outputs[sub_pipeline] : undefined;
  const part = (known ?? {}) as JsonObject;
  setOwn(part, task_id, output);
  setOwn(outputs, sub_pipeline, part);
}
