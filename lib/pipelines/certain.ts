/** What the checks before have proved to be there: that it is missing is a mistake of ours, and must be loud. */
export function certain<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is missing after the check`);
  return value;
}

export function entryOf<V>(entries: ReadonlyMap<string, V>, key: string): V {
  return certain(entries.get(key), `"${key}"`);
}
