import { parseIsoTime, toIsoTime } from '../../common/clock.js';
import { UsageError } from './usage-errors.js';

const MS_BY_UNIT: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const AGO = /^(\d{1,6})([smhdw])$/;

/** A day, or a time of day, without a zone. */
const LOCAL = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?$/;

/**
 * Reads the point in time of a flag: how long ago, as in `90m`, `2h`, `3d`, or a date or time of ISO 8601. Without a zone, it
 * is that of this machine; a date stands for its first moment. Returns milliseconds since 1970; undefined without the flag.
 *
 * @param now in milliseconds since 1970
 * @throws UsageError with the flag, its value and examples (D40)
 */
export function readPointInTime(flag: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  const [, count, unit = ''] = AGO.exec(trimmed) ?? [];
  const ms =
    count === undefined ? parseTime(trimmed) : now - Number(count) * (MS_BY_UNIT[unit] ?? Number.NaN);
  if (ms !== undefined) return ms;
  throw new UsageError(
    `${flag} must be how long ago, or a date or time, not "${text}"`,
    `for example ${flag} 90m, ${flag} 2h, ${flag} 3d, ${flag} 2026-01-31 or ${flag} ${toIsoTime(now - (now % 3_600_000)).replace('.000', '')}`,
  );
}

/** Reads the point in time of a flag for a request: ISO 8601, UTC. @throws UsageError as {@link readPointInTime} does */
export function readTimeFlag(flag: string, text: string | undefined, now: number): string | undefined {
  const ms = readPointInTime(flag, text, now);
  return ms === undefined ? undefined : toIsoTime(ms);
}

function parseTime(text: string): number | undefined {
  const [, day, time = 'T00:00'] = LOCAL.exec(text) ?? [];
  if (day === undefined) return parseIsoTime(text);
  // An impossible day or time is impossible in every zone, so UTC suffices.
  return parseIsoTime(`${day}${time}Z`) === undefined ? undefined : Date.parse(`${day}${time}`);
}
