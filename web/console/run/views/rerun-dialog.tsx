import { useEffect, useRef, useState } from 'preact/hooks';
import type { JsonObject } from '../../../../lib/common/json.js';
import type { RerunReport, RerunTask } from '../../../../lib/runs/rerun/rerun-report.js';
import { formatInteger } from '../../../shared/model/format.js';
import { messageOf } from '../../../shared/server/server.js';
import { useJson } from '../../../shared/server/use-json.js';
import { formatSelection } from '../model/addresses.js';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import { describeChanges, type RerunDraft } from '../model/values.js';
import type { FollowedRun } from '../run-session.js';

interface RerunDialogProps {
  readonly session: FollowedRun;
  /** The task, or of a plan the sub-pipeline, that the reader wants to run again. */
  readonly from?: string;
  readonly onClose: () => void;
}

/** Tasks of each list that are shown. */
const MOST_LISTED = 12;

/** Asks what to run again, and with which values; says before it starts what will run and what is reused (D60). */
export function RerunDialog({ session, from, onClose }: RerunDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const record = session.record.value;
  const definition = useJson<EditableDefinition>(session.server, session.path('/definition')).value;
  const [draft, setDraft] = useState<RerunDraft>({
    from: from ?? (record?.status === 'succeeded' ? '' : 'failed'),
    params: undefined,
    inputs: undefined,
  });
  const [problem, setProblem] = useState('');
  const [isStarting, setStarting] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const changes = describeChanges(draft);
  const preview = usePreview(session, changes.ok ? changes.body : undefined);
  const start = (): void => {
    if (!changes.ok) return;
    setStarting(true);
    setProblem('');
    session.server
      .post<{ run_id: string }>(session.path('/rerun'), changes.body)
      .then(({ run_id }) => window.location.assign(`/runs/${encodeURIComponent(run_id)}`))
      .catch((error: unknown) => {
        setProblem(messageOf(error));
        setStarting(false);
      });
  };
  const parts =
    session.graph.value?.kind === 'plan'
      ? session.parts().map(({ subPipeline }) => subPipeline ?? '')
      : undefined;
  const names = parts ?? [...session.tasks.all()].map(({ taskId }) => taskId);
  const change = (changed: Partial<RerunDraft>): void => setDraft({ ...draft, ...changed });
  return (
    <dialog ref={dialog} class="rerun" aria-labelledby="rerun-title" onClose={onClose}>
      <h2 id="rerun-title">Run it again</h2>
      <label>
        What runs
        <select value={draft.from} onChange={(event) => change({ from: event.currentTarget.value })}>
          <option value="failed">what has not succeeded; the rest is reused</option>
          <option value="">everything</option>
          {names.slice(0, MOST_OPTIONS).map((name) => (
            <option key={name} value={name}>
              {name}, and what depends on it
            </option>
          ))}
        </select>
      </label>
      <JsonField
        name="Params"
        value={draft.params}
        original={definition?.params}
        problem={changes.ok ? undefined : changes.problems.params}
        onChange={(params) => change({ params })}
      />
      <JsonField
        name="Inputs"
        value={draft.inputs}
        original={definition?.inputs}
        problem={changes.ok ? undefined : changes.problems.inputs}
        onChange={(inputs) => change({ inputs })}
      />
      <p class="about">
        To change the definition,{' '}
        <a href={`/edit?run=${encodeURIComponent(session.runId)}`}>mend it in the editor</a> and run it from
        there.
      </p>
      <Preview preview={preview} />
      {problem !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      <p class="actions">
        <button type="button" onClick={() => dialog.current?.close()}>
          Do not run
        </button>
        <button
          type="button"
          class="primary"
          disabled={isStarting || !changes.ok || preview.problem !== ''}
          onClick={start}
        >
          {isStarting ? 'Starting…' : 'Run again'}
        </button>
      </p>
    </dialog>
  );
}

const MOST_OPTIONS = 2000;

interface JsonFieldProps {
  readonly name: string;
  /** What the reader has typed; undefined until then. */
  readonly value: string | undefined;
  readonly original: JsonObject | undefined;
  readonly problem: string | undefined;
  readonly onChange: (text: string) => void;
}

function JsonField({ name, value, original, problem, onChange }: JsonFieldProps) {
  if (original === undefined || (Object.keys(original).length === 0 && value === undefined)) return null;
  const text = value ?? JSON.stringify(original, undefined, 2);
  const id = `rerun-${name.toLowerCase()}`;
  return (
    <label>
      {name}
      <textarea
        rows={Math.min(8, text.split('\n').length)}
        spellcheck={false}
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-problem`}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <span id={`${id}-problem`} class="problem">
        {problem ?? ''}
      </span>
    </label>
  );
}

/** What a rerun would do, or why it cannot be said. */
interface PreviewState {
  readonly report: RerunReport | undefined;
  readonly problem: string;
}

/** What is typed is looked at after a pause of so many milliseconds. */
const PAUSE_MS = 350;

/** Asks the server what a rerun would do, each time that its request changes. */
function usePreview(session: FollowedRun, body: object | undefined): PreviewState {
  const [state, setState] = useState<PreviewState>({ report: undefined, problem: '' });
  const text = body === undefined ? undefined : JSON.stringify(body);
  useEffect(() => {
    if (text === undefined) return;
    let isOld = false;
    const timer = window.setTimeout(() => {
      session.server
        .post<RerunReport>(session.path('/rerun/preview'), JSON.parse(text) as object)
        .then((report) => {
          if (!isOld) setState({ report, problem: '' });
        })
        .catch((error: unknown) => {
          if (!isOld)
            setState({
              report: undefined,
              problem: messageOf(error),
            });
        });
    }, PAUSE_MS);
    return () => {
      isOld = true;
      window.clearTimeout(timer);
    };
  }, [session, text]);
  return state;
}

function Preview({ preview: { report, problem } }: { readonly preview: PreviewState }) {
  if (problem !== '') {
    return (
      <p class="problem" role="alert">
        <bdi>{problem}</bdi>
      </p>
    );
  }
  if (report === undefined) return <p class="src">Looking what would run…</p>;
  const { runs, reused, warnings } = report;
  return (
    <div class="preview" role="status">
      <h3>
        {formatInteger(runs.length)} {runs.length === 1 ? 'task runs' : 'tasks run'}
      </h3>
      <ul>
        {runs.slice(0, MOST_LISTED).map((task) => (
          <li key={nameOf(task)}>
            <bdi class="name">{nameOf(task)}</bdi> <span class="src">{task.reason}</span>
            {task.reusable_items > 0 && (
              <span class="src">; {formatInteger(task.reusable_items)} of its items are reused</span>
            )}
          </li>
        ))}
      </ul>
      <More hidden={runs.length - MOST_LISTED} />
      <h3>
        {formatInteger(reused.length)} {reused.length === 1 ? 'task is' : 'tasks are'} reused
      </h3>
      <p class="src">
        <bdi>{reused.slice(0, MOST_LISTED).map(nameOf).join(', ')}</bdi>
      </p>
      <More hidden={reused.length - MOST_LISTED} />
      {warnings.map(({ message }) => (
        <p key={message} class="paused">
          <bdi>{message}</bdi>
        </p>
      ))}
    </div>
  );
}

function More({ hidden }: { readonly hidden: number }) {
  return hidden > 0 ? <p class="src">and {formatInteger(hidden)} more</p> : null;
}

function nameOf({ sub_pipeline, task_id }: RerunTask): string {
  return formatSelection({
    taskId: task_id,
    ...(sub_pipeline !== undefined && { subPipeline: sub_pipeline }),
  });
}
