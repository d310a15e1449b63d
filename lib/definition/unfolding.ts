/**
 * By how much a value is larger, in characters, when each part that stands in several places is written out in each:
 * a small text whose aliases name large parts would be checked again and again. For values that do not hold themselves.
 */
function surplusOf(value: unknown): number {
  const sizes = new Map<object, number>();
  /** All of it, each part once. */
  let once = 0;
  const count = (own: number): number => {
    once += own;
    return own;
  };
  const sizeOf = (part: unknown): number => {
    if (typeof part !== 'object' || part === null)
      return count(typeof part === 'string' ? part.length + 2 : 8);
    const known = sizes.get(part);
    if (known !== undefined) return known;
    let size = count(2);
    for (const [key, member] of Object.entries(part)) size += count(key.length + 4) + sizeOf(member);
    sizes.set(part, size);
    return size;
  };
  return sizeOf(value) - once;
}

/** What is wrong with a value that grows by more than the limit; undefined when it does not. */
export function unfoldingProblem(value: unknown, limitBytes: number): string | undefined {
  if (surplusOf(value) <= limitBytes) return undefined;
  return `parts that stand in several places would make it longer by more than ${limitBytes / 2 ** 20} MiB`;
}
