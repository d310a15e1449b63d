import type { ItemPage, ItemRecord } from '../../../../lib/runs/tasks/task-record.js';
import { type TaskSelection, valuesPath } from './addresses.js';

/** Items that one request reads. */
const PER_PAGE = 100;

/** The items of a fan-out that the page has read, in their order. */
export interface ReadItems {
  /** The status that the items were asked by; empty for all. */
  readonly status: string;
  readonly items: readonly ItemRecord[];
  /** Where the next page begins; null when there is none. */
  readonly cursor: string | null;
}

export function startItems(status: string): ReadItems {
  return { status, items: [], cursor: null };
}

/**
 * Adds a page, or one that was read again: from `after` to its last item it says what there is, to the end when no page
 * follows it. Items change their status meanwhile, so that one moves from page to page; it is shown once all the same.
 *
 * @param after the last item before the page; -1 for the first page
 */
export function addItemPage(known: ReadItems, { items, next_cursor }: ItemPage, after = -1): ReadItems {
  const last = next_cursor === null ? Number.POSITIVE_INFINITY : (items.at(-1)?.item ?? after);
  const before = known.items.filter(({ item }) => item <= after);
  const behind = known.items.filter(({ item }) => item > last);
  return {
    ...known,
    items: [...before, ...items, ...behind],
    cursor: behind.length > 0 ? known.cursor : next_cursor,
  };
}

/** The path of the API to a page of the items of a task, below that of the run. @param cursor undefined for the first page */
export function itemsPath({ taskId, subPipeline }: TaskSelection, status: string, cursor?: string): string {
  const query = {
    values: 'false',
    limit: String(PER_PAGE),
    ...(status !== '' && { status }),
    ...(cursor !== undefined && { cursor }),
  };
  return valuesPath({ taskId, subPipeline }, query, '/items');
}
