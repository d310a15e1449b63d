/** Formats milliseconds since the first entry, as in `+1.204 s`. */
export function formatOffset(milliseconds: number): string {
  return `+${(milliseconds / 1000).toFixed(3)} s`;
}

/** Formats how long something takes, as in `820 ms`, `4.2 s`, `3 min 5 s`, `2 h 10 min`. */
export function formatTook(milliseconds: number): string {
  const whole = Math.round(Math.max(0, milliseconds));
  if (whole < 1000) return `${whole} ms`;
  // Rounded first, so that it never becomes as much as the next unit.
  const seconds = Math.round(whole / 100) / 10;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// Making a format takes many times as long as using it, and a list has hundreds of times.
const DATE_AND_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const DATE_AND_TIME_IN_ZONE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const INTEGER = new Intl.NumberFormat('en');

/** Formats a point in time in the reader's time zone. */
export function formatTime(iso: string): string {
  return DATE_AND_TIME.format(new Date(iso));
}

/** Formats a point in time in the reader's time zone, and names that zone. */
export function formatTimeInZone(iso: string): string {
  return DATE_AND_TIME_IN_ZONE.format(new Date(iso));
}

/** Formats the time of day in another time zone; undefined when that is the reader's, or the browser does not know it. */
export function formatTimeThere(iso: string, timeZone: string): string | undefined {
  if (timeZone === DATE_AND_TIME.resolvedOptions().timeZone) return undefined;
  try {
    return new Date(iso).toLocaleTimeString(undefined, { timeStyle: 'short', timeZone });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Formats how long ago something was, as in `5 s ago`, `3 min ago`, `yesterday`; of an older one, its date. */
export function formatAgo(iso: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(iso)) / 1000));
  if (seconds < 60) return seconds < 5 ? 'just now' : `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return DATE.format(new Date(iso));
}

/** Formats the date of a point in time; of one less than a day ago, also its time. */
export function formatSince(iso: string, now: number): string {
  return now - Date.parse(iso) < 86_400_000 ? formatTime(iso) : DATE.format(new Date(iso));
}

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** Formats a time that somebody has chosen, in its largest unit, as in `30 days`, `90 minutes`. */
export function formatPeriod(seconds: number): string {
  const [unit, noun] = UNITS.find(([length]) => seconds % length === 0) ?? [1, 'second'];
  return formatQuantity(seconds / unit, noun);
}

/** Formats a number of bytes, as in `820 B`, `4.2 kB`, `1.5 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} kB`;
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}

/** Formats a whole number with separators. */
export function formatInteger(count: number): string {
  return INTEGER.format(count);
}

/** Formats how many there are of something, as in `1 task`, `1,200 tasks`. */
export function formatQuantity(count: number, noun: string): string {
  return `${formatInteger(count)} ${noun}${count === 1 ? '' : 's'}`;
}
