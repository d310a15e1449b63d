import { useEffect, useState } from 'preact/hooks';
import type { RunPage as Page } from '../../../lib/runs/views/run-listing.js';
import type { RunSummary } from '../../../lib/runs/record.js';
import { toneOf } from '../../shared/model/tones.js';
import { messageOf, type Server } from '../../shared/server/server.js';
import { formatTook, formatTime } from '../../shared/model/format.js';
import { KeyForm } from '../../shared/views/key-form.js';

const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'];

const REFRESH_MS = 3000;
const PAGE_SIZE = 50;

/** The runs of the server, newest first, each with a link to its page. The first page is read again by itself. */
export function RunList({ server }: { readonly server: Server }) {
  const [status, setStatus] = useState('');
  const [runs, setRuns] = useState<readonly RunSummary[] | undefined>(undefined);
  const [cursor, setCursor] = useState<string | null>(null);
  const [problem, setProblem] = useState('');
  const [round, setRound] = useState(0);
  const hasMorePages = runs !== undefined && runs.length > PAGE_SIZE;

  useEffect(() => {
    const end = new AbortController();
    server
      .getJson<Page>(listPath(status, null), {}, end.signal)
      .then((page) => {
        setRuns(page.runs);
        setCursor(page.next_cursor);
        setProblem('');
      })
      .catch((error: unknown) => {
        if (!end.signal.aborted) setProblem(messageOf(error));
      });
    return () => end.abort();
  }, [server, status, round]);
  useEffect(() => {
    // Reading the first page again would take away the others.
    if (hasMorePages) return;
    const timer = window.setInterval(() => {
      if (!document.hidden) setRound((last) => last + 1);
    }, REFRESH_MS);
    return () => window.clearInterval(timer);
  }, [hasMorePages]);
  useEffect(() => {
    document.title = 'Runs · Wavetrain inspector';
  }, []);

  const more = (): void => {
    server
      .getJson<Page>(listPath(status, cursor))
      .then((page) => {
        setRuns([...(runs ?? []), ...page.runs]);
        setCursor(page.next_cursor);
      })
      .catch((error: unknown) => setProblem(messageOf(error)));
  };
  if (server.needsKey.value) return <KeyForm server={server} onKey={() => setRound(round + 1)} />;
  return (
    <div class="list-page">
      <header class="top">
        <a class="home" href="/inspect">
          Wavetrain
        </a>
        <h1>Runs</h1>
        <span class="actions">
          <select
            aria-label="Status"
            value={status}
            onChange={(event) => setStatus(event.currentTarget.value)}
          >
            <option value="">all statuses</option>
            {STATUSES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </span>
      </header>
      {problem !== '' && (
        <p class="notice bad" role="alert">
          <bdi>{problem}</bdi> It is tried again.
        </p>
      )}
      <main>
        {runs === undefined ? (
          <p class="empty">Loading the runs…</p>
        ) : runs.length === 0 ? (
          <p class="empty">There is no run. Start one with “wavetrain run”, or POST /pipelines/run_async.</p>
        ) : (
          <RunTable runs={runs} />
        )}
        {cursor !== null && (
          <button type="button" class="more" onClick={more}>
            Show more
          </button>
        )}
      </main>
    </div>
  );
}

function RunTable({ runs }: { readonly runs: readonly RunSummary[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Pipeline</th>
          <th scope="col">Run</th>
          <th scope="col">Tasks</th>
          <th scope="col">Created</th>
          <th scope="col">Took</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow key={run.run_id} run={run} />
        ))}
      </tbody>
    </table>
  );
}

function RunRow({ run }: { readonly run: RunSummary }) {
  const { run_id, status, paused, pipeline_id, kind, progress, created_at, started_at, finished_at } = run;
  const label = paused ? 'paused' : status;
  const took =
    started_at !== null && finished_at !== null ? Date.parse(finished_at) - Date.parse(started_at) : null;
  return (
    <tr>
      <td>
        <span class={`badge ${toneOf(label)}`}>{label}</span>
      </td>
      <td>
        <bdi>{pipeline_id}</bdi>
        {kind === 'plan' && <span class="src"> plan</span>}
      </td>
      <td>
        <a href={`/inspect/${encodeURIComponent(run_id)}`}>
          <code>{run_id}</code>
        </a>
      </td>
      <td class="number">
        {progress.tasks_settled.toLocaleString('en')}/{progress.tasks.toLocaleString('en')}
      </td>
      <td>{formatTime(created_at)}</td>
      <td class="number">{took === null ? '' : formatTook(took)}</td>
    </tr>
  );
}

function listPath(status: string, cursor: string | null): string {
  const query = new URLSearchParams({
    limit: String(PAGE_SIZE),
    ...(status !== '' && { status }),
    ...(cursor !== null && { cursor }),
  });
  return `/pipelines/runs?${query}`;
}
