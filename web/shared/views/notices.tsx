import type { ComponentChildren } from 'preact';
import type { RunConnection } from '../server/run-connection.js';

/** A line that a reader must see: something went wrong, or differs from what they expect. */
export function Notice({ tone, children }: { readonly tone?: 'bad'; readonly children: ComponentChildren }) {
  return (
    <p class={`notice${tone ? ` ${tone}` : ''}`} role={tone ? 'alert' : 'status'}>
      {children}
    </p>
  );
}

/** Why a page does not show its run as it is now, and what can be done about it. */
export function ConnectionNotice({ run }: { readonly run: RunConnection }) {
  const feed = run.feed.value;
  const problem = run.problem.value;
  return (
    <>
      {feed.kind === 'lost' && (
        <Notice tone="bad">
          The connection to the server is lost. It is tried again in {feed.seconds} s.{' '}
          <button type="button" class="link" onClick={() => run.retry()}>
            Try now
          </button>
        </Notice>
      )}
      {feed.kind === 'restarted' && (
        <Notice tone="bad">
          The server does not know this run any more: it has restarted without a store, or the run was
          deleted. What is shown is what had arrived.
        </Notice>
      )}
      {feed.kind === 'refused' && (
        <Notice tone="bad">
          <bdi>{feed.message}</bdi>{' '}
          <button type="button" class="link" onClick={() => run.restart()}>
            Try again
          </button>
        </Notice>
      )}
      {problem !== '' && (
        <Notice tone="bad">
          <bdi>{problem}</bdi>
        </Notice>
      )}
    </>
  );
}
