import { useEffect } from 'preact/hooks';
import { formatInteger } from '../../shared/model/format.js';
import { KeyForm } from '../../shared/views/key-form.js';
import { ConnectionNotice, Notice } from '../../shared/views/notices.js';
import { readMoment } from '../model/addresses.js';
import type { RunSession } from '../session/run-session.js';
import { ActorTreeView } from './actor-tree-view.js';
import { ChartView } from './chart-view.js';
import { DetailView } from './detail-view.js';
import { RunHeader } from './run-header.js';
import { Scrubber } from './scrubber.js';
import { SequenceView } from './sequence-view.js';

/** The page of one run: its actors, the chart and the snapshot of one of them, and the sequence of events. */
export function RunInspector({ session }: { readonly session: RunSession }) {
  useEffect(() => {
    session.start();
    const follow = (): void => session.goTo(readMoment(window.location.hash));
    window.addEventListener('hashchange', follow);
    return () => {
      window.removeEventListener('hashchange', follow);
      session.close();
    };
  }, [session]);
  useAddress(session);
  const record = session.record.value;
  useEffect(() => {
    document.title = `${record?.pipeline_id ?? 'Run'} · Wavetrain inspector`;
  }, [record?.pipeline_id]);

  const { kind } = session.feed.value;
  if (kind === 'key' || session.server.needsKey.value) {
    return <KeyForm server={session.server} onKey={() => session.restart()} />;
  }
  if (kind === 'missing') return <MissingRun runId={session.runId} />;
  return (
    <div class="run">
      <RunHeader session={session} />
      <Notices session={session} />
      <main class="panels">
        <ActorTreeView session={session} />
        <div class="middle">
          <ChartView session={session} />
          <SequenceView session={session} />
        </div>
        <DetailView session={session} />
      </main>
      <Scrubber session={session} />
    </div>
  );
}

/** Keeps the address a link to what is shown. Browsers refuse very many changes of it, so it waits a little. */
function useAddress(session: RunSession): void {
  const hash = session.hash();
  useEffect(() => {
    const timer = window.setTimeout(() => {
      if (window.location.hash !== hash) {
        window.history.replaceState(null, '', hash === '' ? window.location.pathname : hash);
      }
    }, 150);
    return () => window.clearTimeout(timer);
  }, [hash]);
}

/** Tells the reader where the page's data comes from, and whether it still comes. */
function Notices({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const missed = session.missedCount.value;
  const { dropped } = session.timeline;
  return (
    <div class="notices">
      {session.feed.value.kind === 'connecting' && <Notice>Loading the run…</Notice>}
      <ConnectionNotice run={session} />
      {session.origin.value === 'events' && (
        <Notice>
          Nobody watched this run, so this was rebuilt from its events: there are its tasks and items, but not
          every transition, and the snapshots are short.
        </Notice>
      )}
      {missed > 0 && (
        <Notice>
          {formatInteger(missed)} older entries were dropped by the server before this page read them.
        </Notice>
      )}
      {dropped > 0 && (
        <Notice>
          This page has dropped its {formatInteger(dropped)} oldest entries. The recording may still have
          them.
        </Notice>
      )}
    </div>
  );
}

function MissingRun({ runId }: { readonly runId: string }) {
  return (
    <main class="center">
      <div class="card">
        <h1>There is no such run</h1>
        <p>
          The server keeps no run <code class="id">{runId.slice(0, 200)}</code>. Settled runs are forgotten
          after a while, and all runs when the server restarts.
        </p>
        <a class="button" href="/">
          Show the runs that there are
        </a>
      </div>
    </main>
  );
}
