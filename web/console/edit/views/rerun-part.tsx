import { useState } from 'preact/hooks';
import type { JsonObject } from '../../../../lib/common/json/json.js';
import { RerunPreview, useRerunPreview } from '../../run/views/rerun-preview.js';
import type { EditSession } from '../session/edit-session.js';

/** A plan has no params (D60). */
type RerunValues = Readonly<Record<'inputs' | 'session', JsonObject>> & { readonly params?: JsonObject };

interface RerunPartProps {
  readonly session: EditSession;
  readonly values: RerunValues;
  readonly isStarting: boolean;
  readonly onStart: (send: () => Promise<string>) => void;
}

/** Runs the changed definition in place of a run, and says before it starts what will run and what is reused (D60). */
export function RerunPart({ session, values, isStarting, onStart }: RerunPartProps) {
  const [isWhole, setWhole] = useState(false);
  const { isOk, text } = session.checker.state.value;
  const bodyOf = (yaml: string): object => ({ yaml, ...values, ...(!isWhole && { from: 'failed' }) });
  const preview = useRerunPreview(session.server, session.opened.run, isOk ? bodyOf(text) : undefined);
  const start = (): void => {
    const body = bodyOf(session.text);
    onStart(async () => {
      const path = `/pipelines/runs/${encodeURIComponent(session.opened.run)}/rerun`;
      const { run_id } = await session.server.post<{ run_id: string }>(path, body);
      return run_id;
    });
  };
  return (
    <section class="rerun-part" aria-label="Run it again">
      <label class="check">
        <input
          type="checkbox"
          checked={isWhole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
        />
        Run everything again, also what has succeeded and is unchanged
      </label>
      {isOk && <RerunPreview preview={preview} />}
      <p class="actions">
        <button type="button" class="primary" disabled={isStarting || !isOk} onClick={start}>
          {isStarting ? 'Starting…' : 'Rerun with these changes'}
        </button>
        <button type="submit" disabled={isStarting || !isOk}>
          Run as a new run
        </button>
      </p>
    </section>
  );
}
