/** Returns a value that earlier checks have proved to exist; throws when a bug in the checks lets it be missing. */
export function assertDefined<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is missing after the check`);
  return value;
}

/** Returns the entry of a key that earlier checks have proved to exist; throws as `assertDefined`. */
export function getOrThrow<V>(entries: ReadonlyMap<string, V>, key: string): V {
  return assertDefined(entries.get(key), `"${key}"`);
}
