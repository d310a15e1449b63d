/** Values that JSON can hold: all that travels between tasks, tools and callers (D24). */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** `value` is an object with keys: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Sets an own property whatever its name: `__proto__` is only a name. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    (target as Record<string, unknown>)[key] = value;
  }
}

/** Names the kind of a value for a message: `null`, `list`, `object`, `string`, … */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}

/** What a JSON value takes in memory, in bytes, roughly. Many small objects take far more than their text. */
export function weightOf(value: unknown): number {
  let weight = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const one = waiting.pop();
    weight += typeof one === 'string' ? one.length + 16 : 8;
    if (typeof one !== 'object' || one === null) continue;
    weight += 56;
    for (const key in one) waiting.push((one as Record<string, unknown>)[key]);
  }
  return weight;
}
