import type { Json, JsonObject } from '../../../../lib/common/json/json.js';
import { pathOfRun } from '../../../../lib/common/wire/run-summary.js';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DefinitionGraph } from '../../../../lib/plans/graph.js';
import type { EditableDefinition } from '../../../../lib/runs/views/submission-view.js';
import { formatQuantity } from '../../../shared/model/format.js';
import { messageOf } from '../../../shared/server/server.js';
import { useJson } from '../../../shared/server/use-json.js';
import { JsonField } from '../../shell/json-field.js';
import { editorPath, selectionOf } from '../model/addresses.js';
import { describeChanges, type RerunDraft } from '../model/values.js';
import type { FollowedRun } from '../followed-run.js';
import { countRepeats, RerunPreview, useRerunPreview } from './rerun-preview.js';

interface RerunDialogProps {
  readonly session: FollowedRun;
  /** The task, the item of a task, or the sub-pipeline that the reader wants to run again. */
  readonly from?: string;
  readonly onClose: () => void;
}

/** The sub-pipelines or tasks from which a run can be run again: handlers run at its end in any case (D80). */
function listStarts(graph: DefinitionGraph | undefined): readonly string[] {
  if (graph === undefined) return [];
  if (graph.kind === 'plan') return graph.plan.waves.flat().map(({ id }) => id);
  const { waves, wave_lists: lists } = graph.graph;
  const ofTasks = waves.filter((_, wave) => (lists?.[wave] ?? null) === null);
  return ofTasks.flat().map(({ id }) => id);
}

/** The values that a definition gives to params or inputs that nobody has sent. */
function defaultsOf(definition: EditableDefinition | undefined, field: 'params' | 'inputs'): JsonObject {
  const { params = {}, inputs = {} } = (definition?.definition ?? {}) as Declarations;
  if (field === 'inputs') return inputs;
  return Object.fromEntries(Object.entries(params).map(([name, { default: value = null }]) => [name, value]));
}

/** The part of a pipeline or a plan that declares what it is given. */
interface Declarations {
  readonly params?: Readonly<Record<string, { readonly default?: Json }>>;
  readonly inputs?: JsonObject;
}

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
  /** So many repeated calls the reader has agreed to. */
  const [confirmed, setConfirmed] = useState(0);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const changes = describeChanges(draft);
  const failed = record?.failed_task;
  const preview = useRerunPreview(session.server, session.runId, changes.ok ? changes.body : undefined);
  const start = (): void => {
    if (!changes.ok) return;
    setStarting(true);
    setProblem('');
    session.server
      .post<{ run_id: string }>(session.path('/rerun'), changes.body)
      .then(({ run_id }) => window.location.assign(pathOfRun(run_id)))
      .catch((error: unknown) => {
        setProblem(messageOf(error));
        setStarting(false);
      });
  };
  const known = listStarts(session.graph.value);
  const names = from === undefined || known.includes(from) ? known : [from, ...known];
  const repeats = preview.report === undefined ? 0 : countRepeats(preview.report);
  const change = (changed: Partial<RerunDraft>): void => setDraft({ ...draft, ...changed });
  return (
    <dialog ref={dialog} class="run-dialog" aria-labelledby="rerun-title" onClose={onClose}>
      <h2 id="rerun-title">Run it again</h2>
      <label>
        What runs
        <select value={draft.from} onChange={(event) => change({ from: event.currentTarget.value })}>
          <option value="failed">
            {record?.status === 'succeeded' ? 'what you change here' : 'what has not succeeded'}; the rest is
            reused
          </option>
          <option value="">everything, from the beginning</option>
          {names.slice(0, MOST_OPTIONS).map((name) => (
            <option key={name} value={name}>
              {name}, and what depends on it
            </option>
          ))}
        </select>
      </label>
      {(['params', 'inputs'] as const).map((field) => {
        const original = { ...defaultsOf(definition, field), ...definition?.[field] };
        const typed = draft[field];
        if (Object.keys(original).length === 0 && typed === undefined) return null;
        return (
          <JsonField
            key={field}
            id={`rerun-${field}`}
            name={field === 'params' ? 'Params' : 'Inputs'}
            value={typed ?? JSON.stringify(original, undefined, 2)}
            problem={changes.ok ? undefined : changes.problems[field]}
            onChange={(text) => change({ [field]: text })}
          />
        );
      })}
      <p class="about">
        To change the definition,{' '}
        <a href={editorPath(session.runId, failed ? selectionOf(failed) : undefined)}>fix it in the editor</a>{' '}
        and run it from there.
      </p>
      <RerunPreview preview={preview} />
      {repeats > 0 && (
        <label class="confirm">
          <input
            type="checkbox"
            checked={confirmed === repeats}
            onChange={(event) => setConfirmed(event.currentTarget.checked ? repeats : 0)}
          />
          Make {formatQuantity(repeats, 'call')} again that had succeeded
        </label>
      )}
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
          disabled={isStarting || !changes.ok || preview.problem !== '' || confirmed < repeats}
          onClick={start}
        >
          {isStarting ? 'Starting…' : 'Run again'}
        </button>
      </p>
    </dialog>
  );
}

const MOST_OPTIONS = 2000;
