import type { Steps } from '../../common/scheduling/steps.js';
import { HANDLER_LISTS, type HandlerListName } from '../../definition/schema/fields.js';
import { computeWaves, type Layering, type Upstream } from './waves.js';

/** The list of a definition in which a task stands. */
export type TaskList = 'tasks' | HandlerListName;

type Waves = readonly (readonly string[])[];

/** The ids of handlers by list and wave (D80). */
export type HandlerWaves = Readonly<Record<HandlerListName, Waves>>;

/** The waves of the tasks, and those of each list of handlers. */
export type ListedLayering =
  | { readonly ok: true; readonly waves: Waves; readonly handlers: HandlerWaves | undefined }
  | (Layering & { readonly ok: false });

/** The tasks of a definition, as far as their order goes. */
interface ListedTasks {
  readonly tasks: readonly { readonly id: string; readonly list: TaskList }[];
  readonly upstream: Upstream;
}

/** Layers the tasks into waves, and each list of handlers by itself: all that a handler reads of others has ended before. */
export function* layerLists(draft: ListedTasks): Steps<ListedLayering> {
  if (draft.tasks.every(({ list }) => list === 'tasks')) {
    const layering = yield* computeWaves(draft.upstream);
    return layering.ok ? { ...layering, handlers: undefined } : layering;
  }
  const layering = yield* computeWaves(within(draft, 'tasks'));
  if (!layering.ok) return layering;
  const handlers: Partial<Record<HandlerListName, Waves>> = {};
  for (const list of HANDLER_LISTS) {
    const found = yield* computeWaves(within(draft, list));
    if (!found.ok) return found;
    handlers[list] = found.waves;
  }
  return { ...layering, handlers: handlers as HandlerWaves };
}

/** The tasks of one list, and of those that must run before them, the ones of the same list. */
function within({ tasks, upstream }: ListedTasks, list: TaskList): Upstream {
  const ids = new Set(tasks.flatMap((task) => (task.list === list ? task.id : [])));
  return new Map(
    [...ids].map((id) => [id, new Set([...(upstream.get(id) ?? [])].filter((need) => ids.has(need)))]),
  );
}

/** All waves in one row: those of the tasks, then those of the handlers, which have the next numbers. */
export function joinWaves(waves: Waves, handlers: HandlerWaves | undefined): Waves {
  if (handlers === undefined) return waves;
  return [...waves, ...HANDLER_LISTS.flatMap((list) => handlers[list])];
}

/** The list of each wave, with undefined for so many waves of tasks before them. */
export function listWaves(tasks: number, handlers: HandlerWaves): readonly (HandlerListName | undefined)[] {
  const lists = HANDLER_LISTS.flatMap((list) => handlers[list].map(() => list));
  return [...Array.from({ length: tasks }, () => undefined), ...lists];
}
