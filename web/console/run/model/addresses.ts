/** The tabs of a run's page. */
export const TABS = [
  'graph',
  'outputs',
  'timeline',
  'events',
  'blackboard',
  'files',
  'definition',
  'compare',
] as const;

export type Tab = (typeof TABS)[number];

/** A task of the run, or an item of it. */
export interface TaskSelection {
  readonly taskId: string;
  readonly subPipeline?: string | undefined;
  /** Of a fan-out, from 0. */
  readonly item?: number | undefined;
}

/** The part of a run that its page shows: the address of the page says so, and leads there again. */
export interface View {
  readonly tab: Tab;
  readonly selection: TaskSelection | undefined;
}

/** Reads the hash of the address. */
export function readView(hash: string): View {
  const query = new URLSearchParams(hash.replace(/^#/, ''));
  const tab = TABS.find((name) => name === query.get('tab')) ?? 'graph';
  const taskId = query.get('task') ?? '';
  if (taskId === '') return { tab, selection: undefined };
  const subPipeline = query.get('sub') ?? '';
  const item = query.get('item') ?? '';
  return {
    tab,
    selection: {
      taskId,
      ...(subPipeline !== '' && { subPipeline }),
      ...(/^\d{1,9}$/.test(item) && { item: Number(item) }),
    },
  };
}

/** Returns the hash of a link to the view; empty for the one that is shown first. */
export function writeView({ tab, selection }: View): string {
  const query = new URLSearchParams();
  if (tab !== 'graph') query.set('tab', tab);
  if (selection?.subPipeline !== undefined) query.set('sub', selection.subPipeline);
  if (selection !== undefined) query.set('task', selection.taskId);
  if (selection?.item !== undefined) query.set('item', String(selection.item));
  return query.size === 0 ? '' : `#${query}`;
}

/** The path of the API to the values of a task or an item, or to what there is `below` them; itself below that of the run. */
export function valuesPath(
  { taskId, subPipeline, item }: TaskSelection,
  more: Record<string, string> = {},
  below = '',
): string {
  const query = new URLSearchParams({
    ...(subPipeline !== undefined && { sub_pipeline: subPipeline }),
    ...more,
  });
  const items = item === undefined ? '' : `/items/${item}`;
  return `/tasks/${encodeURIComponent(taskId)}${items}${below}${query.size > 0 ? `?${query}` : ''}`;
}

/** The address of the editor with the definition of a run, at a task of it or at the sub-pipeline of that task. */
export function editorPath(runId: string, selection?: TaskSelection): string {
  const part = selection?.subPipeline ?? selection?.taskId;
  return `/edit?${new URLSearchParams({ run: runId, ...(part !== undefined && { task: part }) })}`;
}

/** How the server says which task or item something is about. */
interface Located {
  readonly task_id: string;
  readonly sub_pipeline?: string | undefined;
  readonly item?: number | undefined;
}

export function selectionOf({ task_id, sub_pipeline, item }: Located): TaskSelection {
  return { taskId: task_id, subPipeline: sub_pipeline, item };
}

/** How messages name a task or an item, as in `draft/fetch[3]`: no two of a run have the same name. */
export function formatSelection({ taskId, subPipeline, item }: TaskSelection): string {
  const task = subPipeline === undefined ? taskId : `${subPipeline}/${taskId}`;
  return item === undefined ? task : `${task}[${item}]`;
}
