/** How long something takes: a number of seconds, or a text such as `30s`, `5m`, `1h30m` or `2d` (D82). */
export type Duration = number | string;

/** The units of a text, in milliseconds. A text has each of them once at most, in this order. */
export const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;

type Unit = keyof typeof UNIT_MS;

/** How to write a duration, for whoever has written another text. */
export const DURATION_FORMS = 'write seconds, or 30s, 5m, 1h30m, 2d';

const COUNT = String.raw`\d{1,9}(?:\.\d{1,9})?`;
const PARTS = Object.keys(UNIT_MS)
  .map((unit) => `(?:${COUNT}${unit})?`)
  .join('');

/** The texts that are durations, and the empty one, as a pattern that every dialect of regular expressions has. */
export const DURATION_PATTERN = `^${PARTS}$`;

/** The keywords of JSON Schema for a text that is a duration. */
export const DURATION_TEXT = { minLength: 1, pattern: DURATION_PATTERN } as const;

const DURATION = new RegExp(DURATION_PATTERN);

/** Reads a text as milliseconds; undefined when it is no duration, such as `5 minutes` or `30`. */
export function parseDuration(text: string): number | undefined {
  if (text === '' || !DURATION.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)([a-z]+)/g))
    sum += Number(count) * UNIT_MS[unit as Unit];
  return sum;
}

/** Turns a duration into milliseconds; undefined when it is a text that is none. */
export function durationToMs(duration: Duration): number | undefined {
  return typeof duration === 'number' ? duration * 1000 : parseDuration(duration);
}
