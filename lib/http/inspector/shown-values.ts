import { WavetrainError } from '../../common/errors.js';
import { recordingFormat } from '../../runs/inspection/recording.js';
import type {
  FailedCall,
  FailedCallsQuery,
  ItemPage,
  ItemRecord,
  TaskOptions,
  TaskQuery,
  TaskRecord,
} from '../../runs/tasks/task-record.js';

/** A run that is at work: it can be cancelled and continued, and has values. */
export interface LiveRun {
  cancel(force: boolean): Promise<void>;
  /** Lets the run go on that has paused. */
  resume(by: 'continue' | 'step'): Promise<void>;
  /** The record of a task, or of an item of it. */
  call(taskId: string, item: number | undefined, options: TaskOptions): Promise<TaskRecord | ItemRecord>;
  /** One page of the items of a fan-out. */
  items(taskId: string, query: TaskQuery): Promise<ItemPage>;
}

/** Where the values of a run come from. */
interface ShownValues {
  /** Undefined for a recording. */
  readonly live?: LiveRun | undefined;
  readonly failedCalls: (query: FailedCallsQuery) => Promise<readonly FailedCall[]>;
}

const CALL = /^\/tasks\/([^/]+)(\/items(?:\/(\d{1,9}))?)?$/;

/** Items on one page. */
const MAX_ITEMS = 500;

/**
 * Reads the values of a task, of an item, or of a page of items.
 *
 * @param path the rest of the path of the run
 * @returns undefined for another path
 * @throws WavetrainError `not_found` for a recording, and as the registry does
 */
export async function findValues(
  { live, failedCalls }: ShownValues,
  path: string,
  query: URLSearchParams,
): Promise<TaskRecord | ItemRecord | ItemPage | FailedCall | undefined> {
  const [, taskId, items, item] = CALL.exec(path) ?? [];
  if (taskId === undefined) return undefined;
  const id = decodeTaskId(taskId);
  const index = item === undefined ? undefined : Number(item);
  const subPipeline = query.get('sub_pipeline') ?? undefined;
  if (live === undefined) {
    return findFailedCall(await failedCalls(recordingFormat.failedCalls), id, index, subPipeline);
  }
  const options = { sub_pipeline: subPipeline, whole: query.get('whole') === 'true' };
  if (items !== undefined && item === undefined) {
    return live.items(id, { ...options, ...readPageQuery(query) });
  }
  return live.call(id, index, options);
}

function findFailedCall(
  calls: readonly FailedCall[],
  taskId: string,
  item: number | undefined,
  subPipeline: string | undefined,
): FailedCall {
  const found = calls.find(
    (call) =>
      call.task_id === taskId &&
      call.sub_pipeline === subPipeline &&
      ('item' in call ? call.item : undefined) === item,
  );
  if (found !== undefined) return found;
  throw new WavetrainError(
    'not_found',
    `a recording has values only of what failed, and of ${recordingFormat.failedCalls.most} tasks and items at most: look at others on the machine that ran it`,
  );
}

/** The page asks for the items that have failed, or for all. */
function readPageQuery(query: URLSearchParams): Pick<TaskQuery, 'status' | 'limit'> {
  const limit = Number(query.get('limit') ?? MAX_ITEMS);
  const status = query.get('status') ?? undefined;
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_ITEMS) {
    throw new WavetrainError('invalid_request', `limit: must be a number from 1 to ${MAX_ITEMS}`);
  }
  if (status !== undefined && status !== 'failed') {
    throw new WavetrainError('invalid_request', 'status: must be "failed", or left out for all items');
  }
  return { status, limit };
}

function decodeTaskId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new WavetrainError('invalid_request', 'the address is not one', { cause: error });
  }
}
