/** Formats the first `most` items and counts the others: `['a', 'b', 'and 7 more']`. */
export function formatFirst<T>(
  items: readonly T[],
  most: number,
  format: (item: T) => string = String,
): string[] {
  const shown = items.slice(0, most).map(format);
  return items.length > most ? [...shown, andMore(items.length - most)] : shown;
}

/** Joins the first `most` names and counts the others: `a, b and 7 more`. */
export function joinFirst(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} ${andMore(names.length - most)}` : shown;
}

/** `and 1,234 more` */
function andMore(count: number): string {
  return `and ${count.toLocaleString('en')} more`;
}

/** Formats a size: `1.5 MiB`. */
export function formatMebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`;
}
