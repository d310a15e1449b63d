import { useEffect, useState } from 'preact/hooks';
import type { JsonObject } from '../../../../lib/common/json.js';
import type { RerunReport } from '../../../../lib/runs/rerun/rerun-report.js';
import { messageOf } from '../../../shared/server/server.js';
import type { EditSession } from '../session/edit-session.js';

interface RerunPartProps {
  readonly session: EditSession;
  readonly values: Readonly<Record<'params' | 'inputs' | 'session', JsonObject>>;
  readonly isStarting: boolean;
  readonly onStart: (send: () => Promise<string>) => void;
}

/** After the last change of the text or of a value. */
const PAUSE_MS = 500;

/** Names that are listed of what runs and of what is reused. */
const MOST_NAMED = 8;

/** Runs the changed definition in place of a run, and says before it starts what will run and what is reused (D60). */
export function RerunPart({ session, values, isStarting, onStart }: RerunPartProps) {
  const [isWhole, setWhole] = useState(false);
  const [report, setReport] = useState<RerunReport | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const { isOk, isGraphCurrent } = session.checker.state.value;
  const path = `/pipelines/runs/${encodeURIComponent(session.opened.run)}/rerun`;
  const yaml = isOk && isGraphCurrent ? session.text : undefined;
  const body =
    yaml === undefined ? undefined : JSON.stringify({ yaml, ...values, ...(!isWhole && { from: 'failed' }) });
  useEffect(() => {
    if (body === undefined) return;
    let isOld = false;
    const timer = window.setTimeout(() => {
      session.server
        .post<RerunReport>(`${path}/preview`, JSON.parse(body) as object)
        .then((received) => {
          if (isOld) return;
          setReport(received);
          setProblem('');
        })
        .catch((error: unknown) => {
          if (isOld) return;
          setReport(undefined);
          setProblem(messageOf(error));
        });
    }, PAUSE_MS);
    return () => {
      isOld = true;
      window.clearTimeout(timer);
    };
  }, [session, path, body]);
  const start = (): void => {
    if (body === undefined) return;
    onStart(async () => {
      const { run_id } = await session.server.post<{ run_id: string }>(path, JSON.parse(body) as object);
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
      {problem !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      {report !== undefined && problem === '' && (
        <dl class="preview">
          <dt>Runs</dt>
          <dd>
            <Names tasks={report.runs} />
          </dd>
          <dt>Reused</dt>
          <dd>
            <Names tasks={report.reused} />
          </dd>
        </dl>
      )}
      <p class="actions">
        <button type="button" class="primary" disabled={isStarting || body === undefined} onClick={start}>
          {isStarting ? 'Starting…' : 'Rerun with these changes'}
        </button>
        <button type="submit" disabled={isStarting || !isOk}>
          Run as a new run
        </button>
      </p>
    </section>
  );
}

interface NamesProps {
  readonly tasks: readonly { readonly task_id: string; readonly sub_pipeline?: string }[];
}

function Names({ tasks }: NamesProps) {
  if (tasks.length === 0) return <span class="src">nothing</span>;
  const names = tasks
    .slice(0, MOST_NAMED)
    .map(({ task_id, sub_pipeline }) =>
      sub_pipeline === undefined ? task_id : `${sub_pipeline}/${task_id}`,
    );
  const hidden = tasks.length - names.length;
  return (
    <bdi>
      {names.join(', ')}
      {hidden > 0 && ` and ${hidden.toLocaleString('en')} more`}
    </bdi>
  );
}
