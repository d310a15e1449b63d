/** The list of waves of handlers that run one after the other: those of `on_failure`, then those of `finally` (D80). */
export type HandlerList = readonly (readonly string[])[];

/** The states to which the tasks of a run can come, or the sub-pipelines of a plan. */
export type TasksEnd = 'succeeded' | 'failed' | 'cancelled';

/** Ids of handlers, wave by wave and list by list, for each state to which the tasks can come. No list and no wave is empty. */
export type HandlerLists = Readonly<Record<TasksEnd, readonly HandlerList[]>>;

/** The handlers of a run while they run. */
export interface HandlersContext {
  readonly handlers?: HandlerLists;
  /** The lists that are left; the first wave of the first one is at work. */
  readonly handlersLeft?: readonly HandlerList[];
}

export function hasHandlers({ handlers }: HandlersContext, end: TasksEnd): boolean {
  return handlers !== undefined && handlers[end].length > 0;
}

export function beginHandlers({ handlers }: HandlersContext, end: TasksEnd): HandlersContext {
  return { handlersLeft: handlers?.[end] ?? [] };
}

/** The handlers of the wave that begins now. */
export function currentHandlers({ handlersLeft = [] }: HandlersContext): readonly string[] {
  return handlersLeft[0]?.[0] ?? [];
}

/** The next wave of the list, or the next list after a failure: `finally` runs whatever happens before it. */
export function nextHandlers(
  { handlersLeft: [list = [], ...others] = [] }: HandlersContext,
  failed: readonly string[],
): HandlersContext {
  const waves = failed.length > 0 ? [] : list.slice(1);
  return { handlersLeft: waves.length === 0 ? others : [waves, ...others] };
}

/** Leaves only the wave at work, which settles: of its list, or of all lists. */
export function dropHandlers(
  { handlersLeft: [list = [], ...others] = [] }: HandlersContext,
  dropped: 'list' | 'all',
): HandlersContext {
  return { handlersLeft: [list.slice(0, 1), ...(dropped === 'all' ? [] : others)] };
}
