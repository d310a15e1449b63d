import { pathOfRun } from '../../../lib/common/wire/run-summary.js';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { NamedPipeline } from '../../../lib/library/named-pipeline.js';
import { formatAgo, formatTime } from '../../shared/model/format.js';
import { toneOf } from '../../shared/model/tones.js';
import type { Server } from '../../shared/server/server.js';
import { useReading } from '../../shared/server/use-reading.js';
import { Notice } from '../../shared/views/notices.js';
import { type Folder, MOST_FILES } from '../edit/session/files.js';
import { editAddressOf } from '../edit/session/opened.js';
import { PageFrame } from '../shell/frame.js';
import { useNow } from '../shell/use-now.js';
import { RunForm } from './run-form.js';
import { PauseButton, ScheduleFacts } from './schedule-facts.js';

/** The list is read again after so many milliseconds. */
const REFRESH_MS = 3000;

const LIST = `/pipelines?limit=${MOST_FILES}`;

/** The pipelines of the server's folder, with their schedules and their last runs. */
export function LibraryPage({ server }: { readonly server: Server }) {
  // Counts the changes that this page has made, so that they are shown at once.
  const [changes, setChanges] = useState(0);
  const { value, problem } = useReading(
    server.needsKey.value ? null : `${LIST} ${changes}`,
    (signal) => server.getJson<Folder>(LIST, {}, signal),
    { refreshMs: REFRESH_MS, keep: true },
  );
  const [text, setText] = useState('');
  const now = useNow();
  const wanted = text.trim().toLowerCase();
  const shown = value?.pipelines.filter((named) => nameOf(named).toLowerCase().includes(wanted)) ?? [];
  return (
    <PageFrame server={server} section="library" title="Pipelines">
      <main class="page library">
        <h1>Pipelines</h1>
        {problem !== '' && (
          <Notice tone="bad">
            The pipelines cannot be read: <bdi>{problem}</bdi>. It is tried again.
          </Notice>
        )}
        {value === undefined ? (
          problem === '' && <p class="empty">Loading the pipelines…</p>
        ) : !value.enabled ? (
          <NoFolder />
        ) : (
          <>
            <div class="filters">
              <input
                type="search"
                aria-label="Search the pipelines"
                placeholder="Search the pipelines"
                value={text}
                onInput={(event) => setText(event.currentTarget.value)}
              />
              {value.writable && (
                <a class="button" href="/edit">
                  New pipeline
                </a>
              )}
            </div>
            {shown.length === 0 && (
              <p class="empty">
                {wanted === '' ? 'The folder has no pipeline yet.' : 'No pipeline matches.'}
              </p>
            )}
            {shown.map((named) => (
              <Entry
                key={`${named.tenant_id}/${named.file}`}
                server={server}
                named={named}
                now={now}
                pausing={
                  value.pausable && (
                    <PauseButton
                      server={server}
                      named={named}
                      onChange={() => setChanges((count) => count + 1)}
                    />
                  )
                }
              />
            ))}
            {value.next_cursor !== null && <p class="src">The first {MOST_FILES} pipelines are shown.</p>}
          </>
        )}
      </main>
    </PageFrame>
  );
}

function nameOf({ id, file, goal }: NamedPipeline): string {
  return `${id} ${file} ${goal}`;
}

function NoFolder() {
  return (
    <div class="empty first-steps">
      <p>This server has no folder of pipelines.</p>
      <p>
        Start it with one, and the pipelines in it are listed here, run by their ids, on schedules and by
        webhooks:
      </p>
      <pre class="code">SERVICE_PIPELINES=pipelines wavetrain serve</pre>
    </div>
  );
}

interface NamedNow {
  readonly named: NamedPipeline;
  /** The button beside a schedule, for keys that may pause it. */
  readonly pausing: ComponentChildren;
  /** In milliseconds since 1970. */
  readonly now: number;
}

function Entry({ server, named, now, pausing }: NamedNow & { readonly server: Server }) {
  const [isRunning, setRunning] = useState(false);
  const { id, kind, file, goal, description, ok, stale, problems, tenant_id } = named;
  const errors = problems.filter(({ severity }) => severity === 'error');
  const editPath = editAddressOf(named);
  return (
    <section class="entry" aria-label={`Pipeline ${id}`}>
      <header>
        <h2>
          <a href={editPath} title="Open it in the editor">
            <bdi>{id}</bdi>
          </a>
        </h2>
        {kind === 'plan' && <span class="src">plan</span>}
        {tenant_id !== 'default' && (
          <span class="src">
            tenant <bdi>{tenant_id}</bdi>
          </span>
        )}
        {!ok && <span class="badge failed">{stale ? 'an earlier version is in use' : 'cannot run'}</span>}
        <span class="tools">
          <button
            type="button"
            class="primary"
            aria-expanded={isRunning}
            disabled={!ok && !stale}
            onClick={() => setRunning(!isRunning)}
          >
            Run…
          </button>
          <a class="button" href={editPath}>
            Edit
          </a>
          <a class="button" href={`/?${new URLSearchParams({ pipeline: id, tenant: tenant_id })}`}>
            Runs
          </a>
        </span>
      </header>
      <p class="about">
        <bdi>{description ?? goal}</bdi> <code class="src">{file}</code>
      </p>
      {errors.length > 0 && (
        <ul class="file-problems">
          {errors.slice(0, MOST_PROBLEMS).map(({ message, line, hint }) => (
            <li key={`${line}${message}`}>
              <a href={editPath}>{line === undefined ? 'file' : `line ${line}`}</a>: <bdi>{message}</bdi>
              {hint !== undefined && <bdi class="hint">{hint}</bdi>}
            </li>
          ))}
          {errors.length > MOST_PROBLEMS && <li>and {errors.length - MOST_PROBLEMS} more</li>}
        </ul>
      )}
      <Starts named={named} now={now} pausing={pausing} />
      <LastRuns named={named} now={now} />
      {isRunning && <RunForm server={server} named={named} />}
    </section>
  );
}

const MOST_PROBLEMS = 5;

/** The schedule and the webhook of a pipeline, which start it besides people. */
function Starts({ named: { schedule, webhook }, now, pausing }: NamedNow) {
  if (schedule === null && webhook === null) return null;
  return (
    <dl class="line-facts">
      {schedule !== null && <ScheduleFacts schedule={schedule} now={now} pausing={pausing} />}
      {webhook !== null && (
        <div>
          <dt>Webhook</dt>
          <dd>
            <code>POST {webhook.path}</code>
            {!webhook.ready && <span class="failed"> the server does not have its secret</span>}
          </dd>
        </div>
      )}
    </dl>
  );
}

function LastRuns({ named: { last_runs }, now }: Omit<NamedNow, 'pausing'>) {
  if (last_runs.length === 0) return null;
  return (
    <p class="last-runs">
      <span class="src">Last runs</span>
      {last_runs.map(({ run_id, status, created_at }) => (
        <a key={run_id} href={pathOfRun(run_id)}>
          <span class={`dot ${toneOf(status)}`} aria-hidden="true" /> {status}{' '}
          <time class="src" dateTime={created_at} title={formatTime(created_at)}>
            {formatAgo(created_at, now)}
          </time>
        </a>
      ))}
    </p>
  );
}
