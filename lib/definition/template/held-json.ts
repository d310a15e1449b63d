import type { Json } from '../../common/json.js';
import { jsonIn } from './json-text.js';

/** Texts that are remembered at once: more than a task reads of one after another. */
const MOST_TEXTS = 8;

/** Shorter ones are read faster than they are found. */
const REMEMBERED_FROM = 1024;

const read = new Map<string, ReturnType<typeof jsonIn>>();

/**
 * What `jsonIn` finds, frozen. It is remembered until what runs now has come to its end: a task may read many fields
 * of one large text, and each would take a reading of all of it.
 */
export function heldJson(text: string): ReturnType<typeof jsonIn> {
  if (text.length < REMEMBERED_FROM) return frozen(jsonIn(text));
  if (read.has(text)) return read.get(text);
  if (read.size === 0) queueMicrotask(() => read.clear());
  if (read.size === MOST_TEXTS) read.clear();
  const held = frozen(jsonIn(text));
  read.set(text, held);
  return held;
}

/** Without recursion: a text may hold any depth. */
function frozen<T extends Json | undefined>(root: T): T {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    for (const member of Object.values(Object.freeze(value))) open.push(member);
  }
  return root;
}
