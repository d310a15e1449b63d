import { useState } from 'preact/hooks';
import type { BlackboardView as Blackboard } from '../../../../lib/runs/views/submission-view.js';
import { useJson } from '../../../shared/server/use-json.js';
import { JsonTree } from '../../../shared/views/json-view.js';
import type { RunSession } from '../run-session.js';

/** The values of the blackboard now, with marks on what differs from when the run began. */
export function BlackboardView({ session }: { readonly session: RunSession }) {
  const [whole, setWhole] = useState(false);
  const [showsBefore, setShowsBefore] = useState(false);
  // What has settled may have stored something.
  const round = session.settledCount.value;
  const path = session.path(`/blackboard?whole=${whole}`);
  const { value, problem } = useJson<Blackboard>(session.server, `${path}#${round}`, { keep: true });
  if (problem !== '') return <p class="empty">The blackboard cannot be read: {problem}</p>;
  if (value === undefined) return <p class="empty">Reading the blackboard…</p>;
  const { before, after, cut } = value;
  const isEmpty = Object.keys(before).length === 0 && Object.keys(after).length === 0;
  if (isEmpty)
    return (
      <p class="empty">
        The blackboard is empty: no task has stored anything, and the run began with nothing.
      </p>
    );
  return (
    <div class="content">
      <p class="about">
        <label class="check">
          <input type="checkbox" checked={showsBefore} onChange={() => setShowsBefore(!showsBefore)} /> As it
          was before the run
        </label>{' '}
        {cut.length > 0 && (
          <button type="button" class="link" onClick={() => setWhole(true)}>
            Large values are cut: show them whole
          </button>
        )}
      </p>
      {showsBefore ? (
        <JsonTree value={before} label="Blackboard before the run" />
      ) : (
        <JsonTree value={after} before={{ value: before }} label="Blackboard" />
      )}
    </div>
  );
}
