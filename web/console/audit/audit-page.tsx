import { useEffect, useState } from 'preact/hooks';
import type { AuditPage } from '../../../lib/audit/audit-entry.js';
import { AUDIT_ACTIONS, AUDIT_RESULTS } from '../../../lib/common/wire/audit-kinds.js';
import type { Server } from '../../shared/server/server.js';
import { useJson } from '../../shared/server/use-json.js';
import { Notice } from '../../shared/views/notices.js';
import { Chosen, PeriodSelect } from '../runs/filter-bar.js';
import { PageFrame } from '../shell/frame.js';
import { useNow } from '../shell/use-now.js';
import { type AuditFilters, auditListPath, readAuditFilters, writeAuditFilters } from './audit-filters.js';
import { EntryTable } from './entry-table.js';

/** The first page of the list is read again after so many milliseconds. */
const REFRESH_MS = 5000;

/** Lists who did what on the server, newest first, for keys with the scope `admin` (D95). */
export function AuditConsole({ server }: { readonly server: Server }) {
  const [filters, setFilters] = useState(() => readAuditFilters(window.location.search));
  const [cursor, setCursor] = useState<string>();
  const show = (next: AuditFilters): void => {
    setFilters(next);
    setCursor(undefined);
  };
  const path = auditListPath(filters, useNow(), cursor);
  const list = useJson<AuditPage>(server, path, {
    refreshMs: cursor === undefined ? REFRESH_MS : 0,
    keep: true,
  });
  useEffect(() => {
    const back = (): void => show(readAuditFilters(window.location.search));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  const change = (changed: Partial<AuditFilters>): void => {
    const next = { ...filters, ...changed };
    window.history.pushState(null, '', writeAuditFilters(next));
    show(next);
  };
  const { value: listing, problem } = list;
  const next = listing?.next_cursor ?? null;
  return (
    <PageFrame server={server} section="audit" title="Audit">
      <main class="page audit">
        <h1>Audit</h1>
        <AuditFilterBar filters={filters} onChange={change} />
        {problem !== '' && (
          <Notice tone="bad">
            The audit cannot be read: <bdi>{problem}</bdi>.{' '}
            {problem.includes('"admin"') &&
              'The operator of the server gives that scope to a key in its keys file.'}
          </Notice>
        )}
        {listing === undefined && problem === '' && <p class="empty">Loading the entries…</p>}
        {listing !== undefined && listing.entries.length > 0 && (
          <EntryTable entries={listing.entries} onFilter={change} />
        )}
        {listing?.entries.length === 0 && (
          <p class="empty">
            {next === null ? 'No entry matches.' : 'No entry of this part matches; older ones may.'}
          </p>
        )}
        <p class="more">
          {next !== null && (
            <button type="button" onClick={() => setCursor(next)}>
              Show older entries
            </button>
          )}
          {cursor !== undefined && (
            <button type="button" onClick={() => setCursor(undefined)}>
              Back to the newest
            </button>
          )}
        </p>
      </main>
    </PageFrame>
  );
}

interface AuditFilterBarProps {
  readonly filters: AuditFilters;
  readonly onChange: (changed: Partial<AuditFilters>) => void;
}

function AuditFilterBar({ filters, onChange }: AuditFilterBarProps) {
  return (
    <div class="filters" role="search" aria-label="Filter the entries">
      <select
        aria-label="Action"
        value={filters.action}
        onChange={(event) => onChange({ action: event.currentTarget.value })}
      >
        <option value="">any action</option>
        {AUDIT_ACTIONS.map((action) => (
          <option key={action} value={action}>
            {action.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
      <select
        aria-label="Result"
        value={filters.result}
        onChange={(event) => onChange({ result: event.currentTarget.value })}
      >
        <option value="">any result</option>
        {AUDIT_RESULTS.map((result) => (
          <option key={result} value={result}>
            {result}
          </option>
        ))}
      </select>
      <PeriodSelect period={filters.period} onChange={onChange} />
      <Chosen name="who" value={filters.who} onClear={() => onChange({ who: '' })} />
      <Chosen name="object" value={filters.object} onClear={() => onChange({ object: '' })} />
      <Chosen name="tenant" value={filters.tenant} onClear={() => onChange({ tenant: '' })} />
    </div>
  );
}
