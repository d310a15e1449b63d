/** A JSON value: everything that is passed between tasks, tools and callers (D24). */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** Returns true for an object with keys: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own property, even one that is named `__proto__`. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as Record<string, unknown>)[key] = value;
  }
}

/** Names the kind of a value: `null`, `list`, `object`, `string`, … */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}

/** Names the kind of a value with its article: `a list`, `an object`, `null`. */
export function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  const kind = kindOf(value);
  return `${kind === 'object' ? 'an' : 'a'} ${kind}`;
}

/** Returns the value if it is a list, and an empty list otherwise. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Estimates the bytes that a JSON value occupies in memory. Many small objects occupy far more than their text. */
export function estimateBytes(value: unknown): number {
  let bytes = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    bytes += typeof next === 'string' ? next.length + 16 : 8;
    if (typeof next !== 'object' || next === null) continue;
    bytes += 56;
    for (const key in next) pending.push((next as Record<string, unknown>)[key]);
  }
  return bytes;
}
