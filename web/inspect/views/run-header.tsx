import { useState } from 'preact/hooks';
import type { FailedTask } from '../../../lib/common/errors.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import { formatInteger } from '../../shared/model/format.js';
import { toneOf } from '../../shared/model/tones.js';
import { messageOf } from '../../shared/server/server.js';
import { FileLink } from '../../shared/views/file-link.js';
import { actorOfTask } from '../model/addresses.js';
import type { RunSession } from '../session/run-session.js';
import { PauseLines } from './pause-line.js';

/** Names the run and says how it stands, with the buttons for it. */
export function RunHeader({ session }: { readonly session: RunSession }) {
  const record = session.record.value;
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const report = (work: Promise<void>): void => {
    setBusy(true);
    setProblem('');
    work.catch((error: unknown) => setProblem(messageOf(error))).finally(() => setBusy(false));
  };
  const act = (action: 'continue' | 'step' | 'cancel', body?: object): void =>
    report(session.act(action, body));
  const offers = session.offers.value;
  const mayAct = record !== undefined && offers.includes('actions');
  const label = record?.paused ? 'paused' : (record?.status ?? '');
  return (
    <header class="top">
      <a class="home" href="/">
        Wavetrain
      </a>
      <h1>
        <bdi>{record?.pipeline_id ?? 'Run'}</bdi>
      </h1>
      {label !== '' && <span class={`badge ${toneOf(label)}`}>{label}</span>}
      <code class="id">{session.runId}</code>
      {record && (
        <span class="progress">
          {formatInteger(record.progress.tasks_settled)}/{formatInteger(record.progress.tasks)} tasks, wave{' '}
          {formatInteger(record.progress.waves_executed)}/{formatInteger(record.progress.waves)}
        </span>
      )}
      <span class="actions">
        {mayAct && record.paused && (
          <>
            <button type="button" class="primary" disabled={isBusy} onClick={() => act('continue')}>
              Continue
            </button>
            <button type="button" disabled={isBusy} onClick={() => act('step')}>
              Step
            </button>
          </>
        )}
        {mayAct && !record.settled && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => act('cancel', record.status === 'cancelled' ? { force: true } : {})}
          >
            {record.status === 'cancelled' ? 'Abort tools' : 'Cancel'}
          </button>
        )}
        {offers.includes('stately') && record?.settled === false && (
          <a class="button" href={`/inspect/stately/${encodeURIComponent(session.runId)}`}>
            Stately inspector
          </a>
        )}
        {offers.includes('recording') && (
          <FileLink run={session} path="/recording" name={`${session.runId}.wtrec`}>
            Download recording
          </FileLink>
        )}
      </span>
      {problem !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
          <button type="button" class="link" onClick={() => setProblem('')}>
            Close
          </button>
        </p>
      )}
      <PauseLines session={session} />
      {record?.error != null && <FirstError session={session} record={record} message={record.error} />}
    </header>
  );
}

const LONGEST_MESSAGE = 600;

interface FirstErrorProps {
  readonly session: RunSession;
  readonly record: RunRecord;
  readonly message: string;
}

/** Why the run has failed; the name of the task leads to its actor, and to the moment at which it failed. */
function FirstError({ session, record, message }: FirstErrorProps) {
  const failed = record.failed_task;
  const shown = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
  return (
    <p class="failure">
      {failed && (
        <>
          <button type="button" class="link" onClick={() => session.showFailure(actorOfTask(failed))}>
            <bdi>{nameOf(failed)}</bdi>
          </button>{' '}
        </>
      )}
      <bdi>{shown}</bdi>
    </p>
  );
}

function nameOf({ sub_pipeline, task_id, item }: FailedTask): string {
  const task = sub_pipeline === undefined ? task_id : `${sub_pipeline}/${task_id}`;
  return item === undefined ? task : `${task}[${item}]`;
}
