import type { Json, JsonObject } from '../../../lib/common/json/json.js';

/** How a value differs from that of the moment before. */
export type Mark = 'added' | 'changed' | 'removed';

/** A visible row of a JSON tree. */
export type JsonRow = ValueRow | MoreRow;

interface ValueRow {
  readonly kind: 'value';
  /** Unique in the tree: the keys that lead to the value, as a JSON array. */
  readonly id: string;
  /** From 1. */
  readonly level: number;
  /** Null for the whole. */
  readonly key: string | null;
  readonly value: Json;
  /** Undefined for a value that has nothing below it. */
  readonly isOpen: boolean | undefined;
  readonly mark: Mark | undefined;
}

/** Stands for the rest of a long object or array. */
interface MoreRow {
  readonly kind: 'more';
  readonly id: string;
  readonly level: number;
  /** The object or array. */
  readonly of: string;
  readonly remaining: number;
}

/** Entries of an object that are shown at once; a button shows as many more. */
export const JSON_PAGE = 100;

/**
 * The values that the reader has opened and closed. Values open by themselves at the top, and where something changed.
 */
export interface JsonView {
  readonly toggled: ReadonlyMap<string, boolean>;
  /** Pages shown of long objects, by their id; else one. */
  readonly pages: ReadonlyMap<string, number>;
}

/** The value that another one is compared with; undefined compares nothing. */
export interface Before {
  readonly value: Json | undefined;
}

const OPEN_LEVELS = 2;

/** Lists the visible rows of a value, and marks what differs from `before`. */
export function listJsonRows(value: Json, before: Before | undefined, view: JsonView): JsonRow[] {
  const rows: JsonRow[] = [];
  addValue(rows, { keys: [], value, before, view, removed: false });
  return rows;
}

interface Visit {
  readonly keys: readonly string[];
  readonly value: Json;
  readonly before: Before | undefined;
  readonly view: JsonView;
  readonly removed: boolean;
}

function addValue(rows: JsonRow[], visit: Visit): void {
  const { keys, value, before, view, removed } = visit;
  const id = JSON.stringify(keys);
  const level = keys.length + 1;
  const mark = removed ? 'removed' : markOf(value, before);
  const isOpen = isContainer(value) ? (view.toggled.get(id) ?? isOpenAtFirst(value, level, mark)) : undefined;
  rows.push({
    kind: 'value',
    id,
    level,
    key: keys.at(-1) ?? null,
    value,
    isOpen,
    mark: ownMark(mark, value, before),
  });
  if (!isOpen || !isContainer(value)) return;
  const limit = JSON_PAGE * (view.pages.get(id) ?? 1);
  const names = keysOf(value);
  for (const name of names.slice(0, limit)) {
    addValue(rows, {
      keys: [...keys, name],
      value: childOf(value, name),
      before: beforeOf(before, name),
      view,
      removed,
    });
  }
  if (names.length > limit) {
    rows.push({ kind: 'more', id: `${id} more`, level: level + 1, of: id, remaining: names.length - limit });
  }
  if (!removed && before && isContainer(before.value)) addRemoved(rows, visit, before.value, limit);
}

/** Shows what was there before, after what is there. */
function addRemoved(rows: JsonRow[], visit: Visit, before: Container, limit: number): void {
  const { keys, value, view } = visit;
  if (!isContainer(value) || Array.isArray(before) !== Array.isArray(value)) return;
  const gone = keysOf(before).filter((name) => !Object.hasOwn(value, name));
  for (const name of gone.slice(0, limit)) {
    addValue(rows, {
      keys: [...keys, name],
      value: childOf(before, name),
      before: undefined,
      view,
      removed: true,
    });
  }
}

function isOpenAtFirst(value: Container, level: number, mark: Mark | undefined): boolean {
  if (level <= OPEN_LEVELS) return true;
  return mark !== undefined && mark !== 'removed' && keysOf(value).length <= JSON_PAGE;
}

/** An object in which something changed is not marked itself when it is open: what changed in it is. */
function ownMark(mark: Mark | undefined, value: Json, before: Before | undefined): Mark | undefined {
  return mark === 'changed' && isContainer(value) && isContainer(before?.value) ? undefined : mark;
}

function markOf(value: Json, before: Before | undefined): Mark | undefined {
  if (before === undefined) return undefined;
  if (before.value === undefined) return 'added';
  return isEqual(value, before.value) ? undefined : 'changed';
}

function beforeOf(before: Before | undefined, name: string): Before | undefined {
  if (before === undefined) return undefined;
  const { value } = before;
  return { value: isContainer(value) && Object.hasOwn(value, name) ? childOf(value, name) : undefined };
}

type Container = JsonObject | Json[];

/** True when a value has values inside. */
export function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null && value !== undefined;
}

function keysOf(value: Container): string[] {
  return Object.keys(value);
}

function childOf(value: Container, name: string): Json {
  return (value as JsonObject)[name] ?? null;
}

/** True when two JSON values are equal; the order of keys makes no difference. */
export function isEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const names = keysOf(a);
  return (
    names.length === keysOf(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqual(childOf(a, name), childOf(b, name)))
  );
}
