/**
 * Selects the runs that the list shows. The address of the page has the filters, so that a link leads to the same list.
 */
export interface RunFilters {
  /** Empty for all. */
  readonly status: string;
  readonly pipeline: string;
  readonly tenant: string;
  /** The trigger that has started the runs, such as `schedule`. */
  readonly trigger: string;
  /** Such as `key:ci`, as the API takes it (D75). */
  readonly started_by: string;
  /** Such as `team:billing`, as the API takes it (D76). */
  readonly label: string;
  /** Part of the id of the run or of the pipeline, of the goal, of the error or of a label. */
  readonly text: string;
  readonly period: Period;
}

/** For how long back the list goes. */
export type Period = keyof typeof PERIODS;

/** Milliseconds by name. */
export const PERIODS = {
  any: Number.POSITIVE_INFINITY,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
} as const;

const NAMES = ['status', 'pipeline', 'tenant', 'trigger', 'started_by', 'label', 'text'] as const;

/** Reads the filters from the query of the address. */
export function readFilters(search: string): RunFilters {
  const query = new URLSearchParams(search);
  const [status = '', pipeline = '', tenant = '', trigger = '', started_by = '', label = '', text = ''] =
    NAMES.map((name) => query.get(name) ?? '');
  return {
    status,
    pipeline,
    tenant,
    trigger,
    started_by,
    label,
    text,
    period: readPeriod(query),
  };
}

/** Reads the period from the query of an address; `any` for a name that is none. */
export function readPeriod(query: URLSearchParams): Period {
  const period = query.get('period') ?? 'any';
  return isPeriod(period) ? period : 'any';
}

function isPeriod(text: string): text is Period {
  return Object.hasOwn(PERIODS, text);
}

/** Returns the address of the list with the filters. */
export function writeFilters(filters: RunFilters): string {
  const query = new URLSearchParams();
  for (const name of NAMES) if (filters[name] !== '') query.set(name, filters[name]);
  if (filters.period !== 'any') query.set('period', filters.period);
  return query.size === 0 ? '/' : `/?${query}`;
}

/** A period begins at a whole minute, so that the same list has the same address for a while. */
const ROUNDING_MS = 60_000;

/** Returns when a period began, as ISO 8601; undefined for any time. @param now milliseconds since 1970 */
export function startOf(period: Period, now: number): string | undefined {
  const start = Math.floor((now - PERIODS[period]) / ROUNDING_MS) * ROUNDING_MS;
  return Number.isFinite(start) ? new Date(start).toISOString() : undefined;
}

/** Selects the part of the matching runs that is read. */
export interface RunRange {
  readonly limit: number;
  /** The runs after those of an earlier page; undefined for the newest. */
  readonly cursor?: string;
}

/** As many as are seen without scrolling far. */
export const FIRST_RANGE: RunRange = { limit: 50 };

/** As many as one request may read. */
export const MOST_RUNS = 500;

/** Returns the path of a part of the list. @param now milliseconds since 1970 */
export function listPath(filters: RunFilters, now: number, { limit, cursor }: RunRange): string {
  const { status, pipeline, tenant, trigger, started_by, label, text, period } = filters;
  const start = startOf(period, now);
  const query = new URLSearchParams({
    counts: 'true',
    limit: String(limit),
    ...(cursor !== undefined && { cursor }),
    ...(status !== '' && { status }),
    ...(pipeline !== '' && { pipeline_id: pipeline }),
    ...(tenant !== '' && { tenant_id: tenant }),
    ...(trigger !== '' && { trigger }),
    ...(started_by !== '' && { started_by }),
    ...(label !== '' && { label }),
    ...(text.trim() !== '' && { text: text.trim() }),
    ...(start !== undefined && { created_after: start }),
  });
  return `/pipelines/runs?${query}`;
}

/** True when the list goes back to a time before its oldest run that is kept: runs of that time may have been deleted. */
export function reachesBefore({ period }: RunFilters, oldest: string | null, now: number): boolean {
  return oldest !== null && Number.isFinite(PERIODS[period]) && now - PERIODS[period] < Date.parse(oldest);
}

/** True when the list shows less than everything. */
export function isFiltered({ period, ...filters }: RunFilters): boolean {
  return period !== 'any' || NAMES.some((name) => filters[name] !== '');
}

/** True for a change of the text alone, of which each letter is no step back of its own. */
export function isTyping(changed: Partial<RunFilters>): boolean {
  return Object.keys(changed).every((name) => name === 'text');
}
