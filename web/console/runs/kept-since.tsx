import type { RunPage } from '../../../lib/runs/views/run-listing.js';
import {
  formatBytes,
  formatInteger,
  formatPeriod,
  formatQuantity,
  formatSince,
  formatTime,
} from '../../shared/model/format.js';
import { Notice } from '../../shared/views/notices.js';

type Retention = NonNullable<RunPage['retention']>;

/** Since when runs are kept, and which limits delete older ones. Nothing as long as no run has settled. */
export function KeptSince({ retention, now }: { readonly retention: Retention; readonly now: number }) {
  const { oldest } = retention;
  if (oldest === null) return null;
  return (
    <p class="kept-since">
      Runs are kept since{' '}
      <time dateTime={oldest} title={formatTime(oldest)}>
        {formatSince(oldest, now)}
      </time>
      {describeLimits(retention)}.
    </p>
  );
}

/** `: for 30 days, at most 1,000,000 runs, in a file of at most 10.0 GB` */
function describeLimits({ max_age_seconds: age, max_runs: runs, max_bytes: bytes }: Retention): string {
  const limits = [
    ...(age === null ? [] : [`for ${formatPeriod(age)}`]),
    ...(runs === null ? [] : [`at most ${formatQuantity(runs, 'run')}`]),
    ...(bytes === null ? [] : [`in a file of at most ${formatBytes(bytes)}`]),
  ];
  return limits.length === 0 ? '' : `: ${limits.join(', ')}`;
}

/** Says how many runs the list lacks, because an earlier version has kept them. */
export function MigrationNotice({ runs }: { readonly runs: number }) {
  const are =
    runs === 1 ? '1 run of an earlier version is' : `${formatInteger(runs)} runs of an earlier version are`;
  return <Notice>{are} still being brought over.</Notice>;
}
