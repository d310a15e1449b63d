import { useEffect, useMemo } from 'preact/hooks';
import { BrowserScheduler } from '../../shared/server/browser-scheduler.js';
import type { Server } from '../../shared/server/server.js';
import { ConnectionNotice } from '../../shared/views/notices.js';
import { PageFrame } from '../shell/frame.js';
import { writeView } from './model/addresses.js';
import { FollowedRun } from './followed-run.js';
import { FailureBox, HandlerFailures } from './views/failure-box.js';
import { RunTitle } from './views/run-header.js';
import { RunTabs } from './views/run-tabs.js';
import { TaskPanel } from './task/task-panel.js';

/** One run: its waves, its times, its values, and what can be done with it. */
export function RunConsole({ server, runId }: { readonly server: Server; readonly runId: string }) {
  const session = useMemo(
    () => new FollowedRun(server, runId, new BrowserScheduler(), window.location.hash),
    [server, runId],
  );
  const needsKey = server.needsKey.value;
  useEffect(() => {
    if (needsKey) return;
    session.start();
    const follow = (): void => session.follow(window.location.hash);
    window.addEventListener('hashchange', follow);
    return () => {
      window.removeEventListener('hashchange', follow);
      session.close();
    };
  }, [session, needsKey]);
  const record = session.record.value;
  const view = session.view.value;
  useEffect(() => {
    const hash = writeView(view);
    if (window.location.hash !== hash)
      window.history.replaceState(null, '', hash || window.location.pathname);
  }, [view]);
  const { selection } = view;
  const title =
    record === undefined ? 'Run' : `${record.paused ? 'paused' : record.status}: ${record.pipeline_id}`;
  return (
    <PageFrame server={server} section="runs" title={title}>
      {session.feed.value.kind === 'missing' ? (
        <MissingRun runId={runId} />
      ) : (
        <main class="run-page">
          <RunTitle session={session} />
          <ConnectionNotice run={session} />
          <FailureBox session={session} />
          <HandlerFailures session={session} />
          <div class={selection === undefined ? 'body' : 'body split'}>
            <RunTabs session={session} />
            {selection !== undefined && (
              <TaskPanel key={JSON.stringify(selection)} session={session} selection={selection} />
            )}
          </div>
        </main>
      )}
    </PageFrame>
  );
}

function MissingRun({ runId }: { readonly runId: string }) {
  return (
    <main class="page">
      <h1>There is no such run</h1>
      <p>
        The server keeps no run <code>{runId.slice(0, 200)}</code>. Settled runs are forgotten after a while
        (SERVICE_RUN_TTL, SERVICE_RUN_KEEP), and all runs when a server without a store restarts
        (SERVICE_STORE).
      </p>
      <p>
        <a href="/">Show the runs that there are</a>
      </p>
    </main>
  );
}
