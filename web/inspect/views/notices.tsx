import type { ComponentChildren } from 'preact';
import type { RunSession } from '../session/run-session.js';

/** What the reader must know about where the page's data comes from, and whether it still comes. */
export function Notices({ session }: { readonly session: RunSession }) {
  void session.version.value;
  const feed = session.feed.value;
  const missed = session.missedCount.value;
  const { dropped } = session.timeline;
  return (
    <div class="notices" aria-live="polite">
      {feed.kind === 'connecting' && <Notice>Loading the run…</Notice>}
      {feed.kind === 'lost' && (
        <Notice tone="bad">
          The connection to the server is lost. It is tried again in {feed.seconds} s.{' '}
          <button type="button" class="link" onClick={() => session.retry()}>
            Try now
          </button>
        </Notice>
      )}
      {feed.kind === 'restarted' && (
        <Notice tone="bad">
          The server does not know this run any more: it has restarted, or the run was deleted. What is shown
          is what had arrived.
        </Notice>
      )}
      {feed.kind === 'refused' && (
        <Notice tone="bad">
          <bdi>{feed.message}</bdi>{' '}
          <button type="button" class="link" onClick={() => session.restart()}>
            Try again
          </button>
        </Notice>
      )}
      {session.problem.value !== '' && (
        <Notice tone="bad">
          <bdi>{session.problem.value}</bdi>
        </Notice>
      )}
      {session.origin.value === 'events' && (
        <Notice>
          Nobody watched this run, so this was rebuilt from its events: there are its tasks and items, but not
          every transition, and the snapshots are short.
        </Notice>
      )}
      {missed > 0 && (
        <Notice>
          {missed.toLocaleString('en')} older entries were dropped by the server before this page read them.
        </Notice>
      )}
      {dropped > 0 && (
        <Notice>
          This page has dropped its {dropped.toLocaleString('en')} oldest entries. The recording may still
          have them.
        </Notice>
      )}
    </div>
  );
}

interface NoticeProps {
  readonly tone?: 'bad';
  readonly children: ComponentChildren;
}

function Notice({ tone, children }: NoticeProps) {
  return <p class={`notice${tone ? ` ${tone}` : ''}`}>{children}</p>;
}
