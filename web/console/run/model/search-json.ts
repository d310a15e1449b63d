import type { Json } from '../../../../lib/common/json.js';

/** Values that are looked at: the search of a very large value ends there. */
const MOST_VALUES = 200_000;

/**
 * Returns the parts of a value whose key or text contains the text, in their places; undefined when there are none. A
 * list becomes an object with the indexes of what was found.
 */
export function searchJson(value: Json, text: string): Json | undefined {
  const wanted = text.trim().toLowerCase();
  let left = MOST_VALUES;
  const search = (part: Json): Json | undefined => {
    if (left-- <= 0) return undefined;
    if (typeof part !== 'object' || part === null) {
      return String(part).toLowerCase().includes(wanted) ? part : undefined;
    }
    const found: [string, Json][] = [];
    for (const [key, member] of Object.entries(part)) {
      const isNamed = !Array.isArray(part) && key.toLowerCase().includes(wanted);
      const kept = isNamed ? member : search(member);
      if (kept !== undefined) found.push([key, kept]);
    }
    return found.length === 0 ? undefined : Object.fromEntries(found);
  };
  return search(value);
}
