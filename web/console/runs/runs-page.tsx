import { useEffect, useState } from 'preact/hooks';
import { formatInteger } from '../../shared/model/format.js';
import type { Server } from '../../shared/server/server.js';
import { useJson } from '../../shared/server/use-json.js';
import { Notice } from '../../shared/views/notices.js';
import { PageFrame } from '../shell/frame.js';
import { useNow } from '../shell/use-now.js';
import { FilterBar } from './filter-bar.js';
import { KeptSince, MigrationNotice } from './kept-since.js';
import {
  FIRST_RANGE,
  isFiltered,
  isTyping,
  listPath,
  MOST_RUNS,
  reachesBefore,
  readFilters,
  type RunFilters,
  type RunRange,
  writeFilters,
} from './run-filters.js';
import { RunTable } from './run-table.js';
import type { RunPage } from '../../../lib/runs/views/run-listing.js';

/** So many are added at once: the browser lays out more of them within one frame only where it is fast. */
const MORE_RUNS = 90;

/** The first page of the list is read again after so many milliseconds. */
const REFRESH_MS = 2000;

/** The runs of the server, newest first, with filters; the list follows what happens. */
export function RunsPage({ server }: { readonly server: Server }) {
  const [filters, setFilters] = useState(() => readFilters(window.location.search));
  const now = useNow();
  const [range, setRange] = useState(FIRST_RANGE);
  // The cursor of a list leads nowhere in another one.
  const show = (next: RunFilters): void => {
    setFilters(next);
    setRange(FIRST_RANGE);
  };
  const path = listPath(filters, now, range);
  const list = useJson<RunPage>(server, path, { refreshMs: REFRESH_MS, keep: true });
  useEffect(() => {
    const back = (): void => show(readFilters(window.location.search));
    window.addEventListener('popstate', back);
    return () => window.removeEventListener('popstate', back);
  }, []);
  const change = (changed: Partial<RunFilters>): void => {
    const next = { ...filters, ...changed };
    window.history[isTyping(changed) ? 'replaceState' : 'pushState'](null, '', writeFilters(next));
    show(next);
  };
  const { value: listing, problem } = list;
  const { retention, migrating = 0 } = listing ?? {};
  const isEarlier = reachesBefore(filters, retention?.oldest ?? null, now);
  const isAtEnd = listing?.next_cursor === null && (listing.runs.length > 0 || isFiltered(filters));
  return (
    <PageFrame server={server} section="runs" title="Runs">
      <main class="page runs">
        <h1>Runs</h1>
        <FilterBar filters={filters} counts={listing?.counts} onChange={change} />
        {listing?.queue && listing.queue.queued > 0 && <QueueNotice queue={listing.queue} />}
        {migrating > 0 && <MigrationNotice runs={migrating} />}
        {isEarlier && retention && <KeptSince retention={retention} now={now} />}
        {problem !== '' && (
          <Notice tone="bad">
            The runs cannot be read: <bdi>{problem}</bdi>. It is tried again.
          </Notice>
        )}
        {listing === undefined ? (
          problem === '' && <p class="empty">Loading the runs…</p>
        ) : listing.runs.length === 0 ? (
          <NoRuns isFiltered={isFiltered(filters)} onClear={() => change(readFilters(''))} />
        ) : (
          <RunTable runs={listing.runs} now={now} onFilter={change} />
        )}
        {isAtEnd && !isEarlier && retention && <KeptSince retention={retention} now={now} />}
        <Pages range={range} next={listing?.next_cursor ?? null} onChange={setRange} />
      </main>
    </PageFrame>
  );
}

interface PagesProps {
  readonly range: RunRange;
  /** The cursor after the last run that is shown. */
  readonly next: string | null;
  readonly onChange: (range: RunRange) => void;
}

/** The list grows to as many runs as one request may read, and all of them stay up to date; then comes the next page. */
function Pages({ range, next, onChange }: PagesProps) {
  const { limit, cursor } = range;
  return (
    <p class="more">
      {next !== null && limit < MOST_RUNS && (
        <button
          type="button"
          onClick={() => onChange({ ...range, limit: Math.min(limit + MORE_RUNS, MOST_RUNS) })}
        >
          Show more
        </button>
      )}
      {next !== null && limit >= MOST_RUNS && (
        <button type="button" onClick={() => onChange({ limit, cursor: next })}>
          Show older runs
        </button>
      )}
      {cursor !== undefined && (
        <button type="button" onClick={() => onChange(FIRST_RANGE)}>
          Back to the newest
        </button>
      )}
    </p>
  );
}

const WAITS_FOR = {
  tenant: ': your tenant has as many running as its share allows (SERVICE_TENANT_SHARE)',
  server: ': all places of the server are taken (SERVICE_MAX_RUNNING)',
  breakpoints: ': they have breakpoints, and runs with breakpoints have half of the places at most',
  max_running: ': as many runs of their pipeline are at work as it allows (max_running)',
  restart: ': the runs from before the restart come first, and are still being read',
} as const;

function QueueNotice({ queue }: { readonly queue: NonNullable<RunPage['queue']> }) {
  const { queued, waits_for } = queue;
  const runs = queued === 1 ? '1 run waits' : `${formatInteger(queued)} runs wait`;
  return (
    <Notice>
      {runs} in the queue
      {waits_for !== null && WAITS_FOR[waits_for]}. Each starts when another one ends.
    </Notice>
  );
}

function NoRuns({
  isFiltered: some,
  onClear,
}: {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
}) {
  if (some) {
    return (
      <p class="empty">
        No run matches.{' '}
        <button type="button" class="link" onClick={onClear}>
          Show all runs
        </button>
      </p>
    );
  }
  return (
    <div class="empty first-steps">
      <p>There is no run yet. Start one:</p>
      <ul>
        <li>
          write a pipeline in the <a href="/edit">editor</a> and run it,
        </li>
        <li>
          run one of the <a href="/library">pipelines of the folder</a>,
        </li>
        <li>
          or send one: <code>POST /pipelines/run_async</code>, as the <a href="/docs">API documentation</a>{' '}
          shows.
        </li>
      </ul>
      <p>
        A server with a store (<code>SERVICE_STORE</code>) keeps its runs; one without forgets them when it
        restarts.
      </p>
    </div>
  );
}
