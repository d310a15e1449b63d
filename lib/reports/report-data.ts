import type { TaskFailure } from '../common/errors.js';
import type { LiveEvent } from '../execution/events/event.js';
import type { DefinitionGraph } from '../plans/graph.js';
import type { RunRecord } from '../runs/record.js';
import type {
  CallRecord,
  ItemPage,
  ItemRecord,
  TaskOptions,
  TaskPage,
  TaskQuery,
  TaskRecord,
} from '../runs/tasks/task-record.js';
import type { BlackboardView } from '../runs/views/submission-view.js';
import { REPORT_LIMITS } from './report-limits.js';

/** A record whose status may be one that only the history of the shell has: `interrupted`. */
export type ReportedRun = Omit<RunRecord, 'status'> & {
  readonly status: RunRecord['status'] | 'interrupted';
};

/** The last events of a run. */
interface EventsPage {
  readonly events: readonly LiveEvent[];
  readonly last_seq: number;
}

/** Reads one run: of the registry of a server, or over HTTP. */
export interface ReportSource {
  record(): Promise<ReportedRun>;
  tasks(query: TaskQuery): Promise<TaskPage>;
  items(taskId: string, query: TaskQuery): Promise<ItemPage>;
  task(taskId: string, options: TaskOptions): Promise<TaskRecord>;
  item(taskId: string, item: number, options: TaskOptions): Promise<ItemRecord>;
  events(after: number, limit: number): Promise<EventsPage>;
  /** Default: the waves come from the tasks, and the edges are not known. */
  graph?(): Promise<DefinitionGraph>;
  /** Default: what the result of a plan has. */
  blackboard?(): Promise<BlackboardView>;
}

/** Failures that are the same but for their items. */
export interface FailureGroup {
  readonly call: CallRecord;
  readonly failure: TaskFailure;
  /** How many there are. */
  readonly count: number;
}

/** The data of a run that a report shows, with lists cut as {@link REPORT_LIMITS} says. */
export interface ReportData {
  readonly run: ReportedRun;
  readonly tasks: readonly TaskRecord[];
  /** The first failed the run, if a task did. */
  readonly failures: readonly FailureGroup[];
  /** The number of failures that are left out. */
  readonly moreFailures: number;
  /** Items of fan-outs: those that failed, then some of the others. */
  readonly items: readonly ItemRecord[];
  readonly events: readonly LiveEvent[];
  /** The number of events before `events`. */
  readonly earlierEvents: number;
  readonly graph: DefinitionGraph | undefined;
  readonly blackboard: BlackboardView | undefined;
}

/** Reads what a report shows, page by page. Rejects as its source does. */
export async function readReportData(source: ReportSource): Promise<ReportData> {
  const run = await source.record();
  const tasks = await readTasksOf(source);
  const groups = groupFailures(run);
  const failures: FailureGroup[] = [];
  for (const { failure, count } of groups.slice(0, REPORT_LIMITS.failures)) {
    failures.push({ failure, count, call: await readCall(source, failure) });
  }
  const shown = failures.reduce((sum, { count }) => sum + count, 0);
  const items = await readItems(source, tasks);
  const { last_seq: last } = await source.events(Number.MAX_SAFE_INTEGER, 1);
  const { events } = await source.events(Math.max(0, last - REPORT_LIMITS.events), REPORT_LIMITS.events);
  return {
    run,
    tasks,
    failures,
    moreFailures: run.failures.length - shown,
    items,
    events,
    earlierEvents: Math.max(0, (events[0]?.seq ?? last + 1) - 1),
    graph: await source.graph?.(),
    blackboard: await source.blackboard?.(),
  };
}

async function readTasksOf(source: ReportSource): Promise<TaskRecord[]> {
  const tasks: TaskRecord[] = [];
  let cursor: string | undefined;
  do {
    const page = await source.tasks({ limit: REPORT_LIMITS.tasks - tasks.length, cursor });
    tasks.push(...page.tasks);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined && tasks.length < REPORT_LIMITS.tasks);
  return tasks;
}

function readCall(source: ReportSource, failure: TaskFailure): Promise<CallRecord> {
  const { task_id: taskId, item, sub_pipeline } = failure;
  const options = { sub_pipeline };
  return item === undefined ? source.task(taskId, options) : source.item(taskId, item, options);
}

/** Returns true for a failure without which the run went on (D67, D79). */
export function wentOnWithout({ collected, tolerated }: TaskFailure): boolean {
  return collected === true || tolerated === true;
}

/** The failure that failed the run first, then others that did, then those without which it went on. */
function groupFailures({ failures, failed_task: cause }: ReportedRun): readonly Omit<FailureGroup, 'call'>[] {
  const groups = new Map<string, { failure: TaskFailure; count: number; rank: number }>();
  for (const failure of failures) {
    const { task_id: taskId, sub_pipeline: part, item, error, collected } = failure;
    const isCause = cause?.task_id === taskId && cause.sub_pipeline === part && cause.item === item;
    const key = JSON.stringify([part, taskId, collected, item === undefined ? '' : error]);
    const group = groups.get(key);
    const rank = isCause ? 0 : wentOnWithout(failure) ? 2 : 1;
    if (group === undefined) groups.set(key, { failure, count: 1, rank });
    else {
      group.count++;
      if (rank < group.rank) Object.assign(group, { failure, rank });
    }
  }
  return [...groups.values()].sort((a, b) => a.rank - b.rank);
}

/** Items that failed, of all fan-outs; then some of each fan-out, from its start. */
async function readItems(source: ReportSource, tasks: readonly TaskRecord[]): Promise<ItemRecord[]> {
  const fanOuts = tasks.filter(({ items }) => items !== null && items.total > 0);
  const items: ItemRecord[] = [];
  for (const status of ['failed', undefined] as const) {
    for (const { task_id: taskId, sub_pipeline, items: counts } of fanOuts) {
      const left = REPORT_LIMITS.items - items.length;
      const most = status === undefined ? Math.min(left, REPORT_LIMITS.otherItems) : left;
      if (most <= 0 || (status === 'failed' && counts?.failed === 0)) continue;
      const page = await source.items(taskId, { sub_pipeline, status, limit: most });
      items.push(...page.items.filter((item) => status !== undefined || item.status !== 'failed'));
    }
  }
  return items;
}
