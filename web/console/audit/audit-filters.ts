import { type Period, readPeriod, startOf } from '../runs/run-filters.js';

/** Selects the entries that the page shows. The address of the page has the filters. Empty for all. */
export interface AuditFilters {
  /** Such as `key`, or `key:ci`, as the API takes it (D95). */
  readonly who: string;
  readonly action: string;
  /** Such as `pipeline:hello`. */
  readonly object: string;
  readonly result: string;
  readonly tenant: string;
  readonly period: Period;
}

const NAMES = ['who', 'action', 'object', 'result', 'tenant'] as const;

const AUDIT_PATH = '/audit';

/** Reads the filters from the query of the address. */
export function readAuditFilters(search: string): AuditFilters {
  const query = new URLSearchParams(search);
  const [who = '', action = '', object = '', result = '', tenant = ''] = NAMES.map(
    (name) => query.get(name) ?? '',
  );
  return { who, action, object, result, tenant, period: readPeriod(query) };
}

/** Returns the address of the page with the filters. */
export function writeAuditFilters(filters: AuditFilters): string {
  const query = new URLSearchParams();
  for (const name of NAMES) if (filters[name] !== '') query.set(name, filters[name]);
  if (filters.period !== 'any') query.set('period', filters.period);
  return query.size === 0 ? AUDIT_PATH : `${AUDIT_PATH}?${query}`;
}

const ENTRIES = '100';

/** Returns the path of a page of the list. @param now milliseconds since 1970 */
export function auditListPath(filters: AuditFilters, now: number, cursor: string | undefined): string {
  const { who, action, object, result, tenant, period } = filters;
  const start = startOf(period, now);
  const query = new URLSearchParams({
    limit: ENTRIES,
    ...(cursor !== undefined && { cursor }),
    ...(who !== '' && { who }),
    ...(action !== '' && { action }),
    ...(object !== '' && { object }),
    ...(result !== '' && { result }),
    ...(tenant !== '' && { tenant_id: tenant }),
    ...(start !== undefined && { from: start }),
  });
  return `/admin/audit?${query}`;
}
