/** Formats milliseconds since the first entry, as in `+1.204 s`. */
export function formatOffset(milliseconds: number): string {
  return `+${(milliseconds / 1000).toFixed(3)} s`;
}

/** Formats how long something takes, as in `820 ms`, `4.2 s`, `3 min 5 s`. */
export function formatTook(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** Formats a point in time in the reader's time zone. */
export function formatTime(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}
