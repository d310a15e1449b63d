import { useState } from 'preact/hooks';
import type { ItemRecord, TaskRecord } from '../../../../lib/runs/tasks/task-record.js';
import { formatInteger, formatTime, formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { useJson } from '../../../shared/server/use-json.js';
import { formatSelection, selectionOf, type TaskSelection, valuesPath } from '../model/addresses.js';
import { shownStatus } from '../model/shown-status.js';
import { WaitText } from '../../shell/wait-text.js';
import type { FollowedRun } from '../followed-run.js';
import { ErrorDetails } from './error-details.js';
import { ItemList } from './item-list.js';
import { RerunDialog } from '../views/rerun-dialog.js';
import { ValueView } from './value-view.js';

/** Values of a task that is at work are read again after so many milliseconds. */
const REFRESH_MS = 1500;

interface TaskPanelProps {
  readonly session: FollowedRun;
  readonly selection: TaskSelection;
}

/** One task or item: how it stands, why it failed, with what its tool was called, and what came of it. */
export function TaskPanel({ session, selection }: TaskPanelProps) {
  const { subPipeline, taskId, item } = selection;
  const [isWhole, setWhole] = useState(false);
  const [isRerunning, setRerunning] = useState(false);
  void session.version.value;
  const status = session.tasks.get(formatSelection({ taskId, subPipeline }))?.status;
  const isOver = status !== undefined && status !== 'running' && status !== 'pending';
  // The state of the task is part of the address, so that the task is read again when its state changes.
  const path = `${session.path(valuesPath(selection, isWhole ? { whole: 'true' } : {}))}#${status ?? ''}`;
  const { value: found, problem } = useJson<TaskRecord | ItemRecord>(session.server, path, {
    refreshMs: isOver ? 0 : REFRESH_MS,
    keep: true,
  });
  const shown = found && shownStatus(found.status, found.error?.message, found.skip_reason);
  const streamed = session.events.textOf(selection);
  const isSettledRun = session.record.value?.settled === true;
  const handler = found && 'handler' in found ? found.handler : undefined;
  return (
    <aside class="panel task-panel" aria-label={`Task ${formatSelection(selection)}`}>
      <header>
        <h2>
          <bdi>{formatSelection(selection)}</bdi>
        </h2>
        {shown && <span class={`badge ${toneOf(shown)}`}>{shown}</span>}
        <span class="tools">
          {isSettledRun && handler === undefined && (
            <button type="button" onClick={() => setRerunning(true)}>
              {item === undefined ? 'Rerun from here…' : 'Rerun this item…'}
            </button>
          )}
          <button
            type="button"
            aria-label="Close the task"
            onClick={() => session.show({ selection: undefined })}
          >
            ×
          </button>
        </span>
      </header>
      <div class="content" tabIndex={0} role="group" aria-label="Values of the task">
        {item !== undefined && (
          <button
            type="button"
            class="link"
            onClick={() => session.show({ selection: { taskId, subPipeline } })}
          >
            ← all items
          </button>
        )}
        {problem !== '' && found === undefined && (
          <p class="problem" role="alert">
            <bdi>{problem}</bdi>
          </p>
        )}
        {found === undefined ? (
          problem === '' && <p class="empty">Reading the values…</p>
        ) : (
          <Facts found={found} />
        )}
        {shown === 'aborted' && (
          <p class="about">It was at work when the run was cancelled and its tools were aborted.</p>
        )}
        {shown === 'not run' && <NotRun session={session} subPipeline={subPipeline} handler={handler} />}
        {found?.waiting_for !== undefined && (
          <p class="about">
            It <WaitText wait={found.waiting_for} />.
          </p>
        )}
        {found?.skip_reason !== undefined && (
          <p class="about">
            It was skipped: <bdi>{found.skip_reason}</bdi>
          </p>
        )}
        {found?.error && shown !== 'aborted' && <ErrorDetails error={found.error} />}
        {streamed !== '' && found?.status === 'running' && (
          <>
            <h3>The model is answering</h3>
            <pre class="code streamed">{streamed}</pre>
          </>
        )}
        {found && <Values found={found} onWhole={() => setWhole(true)} />}
        {found && 'items' in found && found.items !== null && (
          <ItemList session={session} selection={selection} counts={found.items} taskStatus={found.status} />
        )}
      </div>
      {isRerunning && (
        <RerunDialog
          session={session}
          from={formatSelection(selection)}
          onClose={() => setRerunning(false)}
        />
      )}
    </aside>
  );
}

interface NotRunProps {
  readonly session: FollowedRun;
  readonly subPipeline: string | undefined;
  readonly handler: TaskRecord['handler'];
}

/** The end of a run after which the handlers of a list run (D80). */
const END_OF_LIST = {
  on_success: 'succeeded',
  on_failure: 'failed',
  on_cancel: 'been cancelled',
} as const;

/** Why a task has not run: its run has failed first, or has ended otherwise. */
function NotRun({ session, subPipeline, handler }: NotRunProps) {
  const record = session.record.value;
  if (handler !== undefined) {
    const status = subPipeline === undefined ? record?.status : record?.sub_pipelines?.[subPipeline];
    return (
      <p class="about">
        {handler === 'finally' || END_OF_LIST[handler].endsWith(status ?? '')
          ? 'It did not run: a handler before it in its list has failed, or the handlers were stopped.'
          : `It did not run: handlers of ${handler} run only when the run has ${END_OF_LIST[handler]}.`}
      </p>
    );
  }
  const failed = record?.failures.find(
    (failure) =>
      failure.collected !== true && failure.tolerated !== true && failure.sub_pipeline === subPipeline,
  );
  const cause = failed ?? record?.failed_task ?? undefined;
  if (record?.status === 'failed' && cause !== undefined) {
    return (
      <p class="about">
        It did not run, because{' '}
        <button type="button" class="link" onClick={() => session.show({ selection: selectionOf(cause) })}>
          <bdi>{formatSelection(selectionOf(cause))}</bdi>
        </button>{' '}
        has failed.
      </p>
    );
  }
  return <p class="about">It did not run: the run ended before its turn.</p>;
}

function Facts({ found }: { readonly found: TaskRecord | ItemRecord }) {
  const { started_at, finished_at, attempts, reused, cached } = found;
  return (
    <>
      <dl class="facts">
        {'tool' in found && (
          <>
            <dt>tool</dt>
            <dd>
              <bdi>{found.tool}</bdi>
            </dd>
            {found.handler === undefined ? <dt>wave</dt> : <dt>handler of</dt>}
            <dd>{found.handler ?? found.wave + 1}</dd>
          </>
        )}
        {started_at !== null && (
          <>
            <dt>started</dt>
            <dd>{formatTime(started_at)}</dd>
          </>
        )}
        {started_at !== null && finished_at !== null && (
          <>
            <dt>took</dt>
            <dd>{formatTook(Date.parse(finished_at) - Date.parse(started_at))}</dd>
          </>
        )}
        {'rounds' in found && found.rounds !== undefined && (
          <>
            <dt>rounds</dt>
            <dd>{formatInteger(found.rounds)}</dd>
          </>
        )}
        {reused && (
          <>
            <dt>reused</dt>
            <dd>the output of an earlier run; the tool was not called</dd>
          </>
        )}
        {cached && (
          <>
            <dt>cached</dt>
            <dd>the output of an equal call; the tool was not called</dd>
          </>
        )}
      </dl>
      {attempts.length > 1 && <Attempts attempts={attempts} />}
    </>
  );
}

function Attempts({ attempts }: Pick<TaskRecord, 'attempts'>) {
  return (
    <>
      <h3>Attempts</h3>
      <ol class="attempts">
        {attempts.map(({ attempt, started_at, finished_at, error }) => (
          <li key={attempt} value={attempt}>
            <span class="src">
              {started_at !== null && finished_at !== null
                ? formatTook(Date.parse(finished_at) - Date.parse(started_at))
                : 'under way'}
            </span>{' '}
            {error === null ? finished_at !== null && 'succeeded' : <bdi class="failed">{error}</bdi>}
          </li>
        ))}
      </ol>
    </>
  );
}

interface ValuesProps {
  readonly found: TaskRecord | ItemRecord;
  readonly onWhole: () => void;
}

function Values({ found, onWhole }: ValuesProps) {
  const { status, inputs, inputs_error, output, cut, task_id } = found;
  const hasOutput = status === 'succeeded' || (output !== null && status === 'failed');
  const name = `${task_id}${'item' in found ? `-${found.item}` : ''}`;
  return (
    <>
      {'value' in found && <ValueView title="Item" value={found.value} name={`${name}-item`} />}
      {inputs !== null && <ValueView title="Inputs" value={inputs} name={`${name}-inputs`} />}
      {inputs_error !== null && status !== 'skipped' && (
        <>
          <h3>Inputs</h3>
          <p class="problem">
            <bdi>{inputs_error}</bdi>
          </p>
        </>
      )}
      {hasOutput && <ValueView title="Output" value={output} name={`${name}-output`} />}
      {cut.length > 0 && (
        <p class="about">
          {cut.length === 1 ? 'One value is cut.' : `${cut.length} values are cut.`}{' '}
          <button type="button" class="link" onClick={onWhole}>
            Show everything
          </button>
        </p>
      )}
    </>
  );
}
