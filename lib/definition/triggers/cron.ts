import { createRequire } from 'node:module';
import type { Cron } from 'croner';
import { errorMessage } from '../../common/errors.js';

// croner is loaded with the first schedule: most definitions have none, and a run must start fast.
const require = createRequire(import.meta.url);

/** A problem of a time of start or its time zone, and how to write it. */
export interface TimeProblem {
  readonly message: string;
  readonly hint: string;
}

const NICKNAMES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

const FIVE_FIELDS =
  'write minute, hour, day of the month, month and day of the week, as in "0 6 * * 1-5": at 6:00 from Monday to Friday';

/** Any time: fields of cron say nothing about the year. */
const REFERENCE = new Date(0);

/** Checks a text with the five fields of cron, or a name for them such as `@daily` (D70). */
export function findCronProblem(text: string): TimeProblem | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('@')) {
    if (NICKNAMES.includes(trimmed.toLowerCase())) return undefined;
    return { message: `there is no "${text}"`, hint: `the names are ${NICKNAMES.join(', ')}` };
  }
  const fields = trimmed === '' ? [] : trimmed.split(/\s+/);
  if (fields.length !== 5) {
    const count = ['no fields', 'one field'][fields.length] ?? `${fields.length} fields`;
    const hint = fields.length === 6 ? `there are no seconds: ${FIVE_FIELDS}` : FIVE_FIELDS;
    return { message: `"${text}" has ${count}, not five`, hint };
  }
  try {
    if (createCron(text, 'UTC').nextRun(REFERENCE) !== null) return undefined;
    return { message: `"${text}" never comes`, hint: 'no month has such a day' };
  } catch (error) {
    const reason = errorMessage(error).replace(/^Cron\w+: /, '');
    return { message: `"${text}": ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`, hint: FIVE_FIELDS };
  }
}

/** Returns true if this machine knows a time zone, by its name in the IANA database. */
export function isTimeZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    // An offset such as +02:00 has no daylight saving, and is no name.
    return /^[A-Za-z]/.test(timeZone);
  } catch {
    return false;
  }
}

/** The names of all time zones, for suggestions. */
export function listTimeZones(): readonly string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

/**
 * The times at which a schedule is due. Where it names the hour, the hour that comes twice when daylight saving ends counts
 * once; a `*` in its place means every hour that passes. A time that the beginning of daylight saving skips comes right after
 * it, unless the schedule names several in that hour, which do not come (D70).
 */
export class ScheduleTimes {
  readonly #times: readonly CronTimes[];

  /** @param cron each without a problem. @param timezone the name of one */
  constructor(cron: readonly string[], timezone: string) {
    this.#times = cron.map((text) => new CronTimes(text, timezone));
  }

  /** The first time after another one, in milliseconds since 1970, UTC; undefined when there is none. */
  next(afterMs: number): number | undefined {
    const times = this.#times.flatMap((each) => each.next(afterMs) ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}

/** Hours before, in which the clock may have been set back. */
const SET_BACK_MS = [3_600_000, 1_800_000];

/** The times of one text. */
class CronTimes {
  readonly #cron: Cron;
  /** Formats the local time; undefined when hours that come twice count twice. */
  readonly #local: Intl.DateTimeFormat | undefined;

  constructor(text: string, timezone: string) {
    this.#cron = createCron(text, timezone);
    const [, hour = '*'] = text.trim().split(/\s+/);
    if (hour.includes('*') && !/^@(?!hourly)/i.test(text.trim())) return;
    this.#local = new Intl.DateTimeFormat('en', {
      timeZone: timezone,
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      hourCycle: 'h23',
    });
  }

  next(afterMs: number): number | undefined {
    for (let after = new Date(afterMs); ; ) {
      const time = this.#cron.nextRun(after);
      if (time === null) return undefined;
      if (!this.#isRepeated(time.getTime())) return time.getTime();
      after = time;
    }
  }

  /** Returns true if the clocks have shown this time shortly before. */
  #isRepeated(time: number): boolean {
    const local = this.#local;
    return local !== undefined && SET_BACK_MS.some((ms) => local.format(time) === local.format(time - ms));
  }
}

function createCron(text: string, timezone: string): Cron {
  const { Cron: CronClass } = require('croner') as typeof import('croner');
  return new CronClass(text.trim(), { timezone, paused: true });
}
