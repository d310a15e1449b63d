/** Both ends of a long list, for a message. */
export function shortenedList(parts: readonly string[]): string[] {
  return parts.length <= 12 ? [...parts] : [...parts.slice(0, 6), '…', ...parts.slice(-5)];
}
