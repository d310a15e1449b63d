import { pathOfRun } from '../../../../lib/common/wire/run-summary.js';
import { useState } from 'preact/hooks';
import type { RunRecord } from '../../../../lib/runs/record.js';
import { listLabels } from '../../../../lib/common/wire/labels.js';
import { formatStartedBy } from '../../../../lib/common/wire/started-by.js';
import { formatInteger, formatTime, formatTook } from '../../../shared/model/format.js';
import { toneOf } from '../../../shared/model/tones.js';
import { messageOf } from '../../../shared/server/server.js';
import { WaitText } from '../../shell/wait-text.js';
import { useNow } from '../../shell/use-now.js';
import { describeEnded } from '../model/shown-status.js';
import type { FollowedRun } from '../followed-run.js';
import { FileLink } from '../../../shared/views/file-link.js';
import { DeleteDialog } from './delete-dialog.js';
import { RerunDialog } from './rerun-dialog.js';

/** Names the run, says how it stands, and has the buttons for it. */
export function RunTitle({ session }: { readonly session: FollowedRun }) {
  const record = session.record.value;
  return (
    <header class="run-header">
      <div class="title">
        <h1>
          {record === undefined ? (
            'Run'
          ) : (
            <a href={runsOfPath(record)} title="Show the runs of this pipeline">
              <bdi>{record.pipeline_id}</bdi>
            </a>
          )}
        </h1>
        {record && <Status record={record} />}
        {record && <Actions session={session} record={record} />}
      </div>
      {record?.goal && (
        <p class="goal">
          <bdi>{record.goal.slice(0, MOST_CHARACTERS)}</bdi>
        </p>
      )}
      {record && <Facts session={session} record={record} />}
    </header>
  );
}

const MOST_CHARACTERS = 400;

/** The list of the runs of the same pipeline. */
function runsOfPath({ pipeline_id: pipeline, tenant_id: tenant }: RunRecord): string {
  return `/?${new URLSearchParams({ pipeline, tenant })}`;
}

function Status({ record }: { readonly record: RunRecord }) {
  const { status, paused, settled, waiting_for } = record;
  const isEnding = !settled && status !== 'queued' && status !== 'running';
  const label = paused ? 'paused' : status;
  return (
    <>
      <span class={`badge ${toneOf(label)}`}>{label}</span>
      {isEnding && (
        <span class="src">{status === 'cancelled' ? 'its tools are still working' : 'its handlers run'}</span>
      )}
      {waiting_for !== null && (
        <span class="src">
          <WaitText wait={waiting_for} />
        </span>
      )}
    </>
  );
}

function Facts({ session, record }: { readonly session: FollowedRun; readonly record: RunRecord }) {
  const now = useNow(record.finished_at === null);
  const {
    created_at,
    started_at,
    finished_at,
    progress,
    tenant_id,
    rerun_of,
    started_by,
    labels,
    priority,
    usage,
    cost,
    kind,
  } = record;
  const end = finished_at === null ? now : Date.parse(finished_at);
  return (
    <dl class="line-facts">
      <Fact name={kind === 'plan' ? 'Plan run' : 'Run'}>
        <code>{session.runId}</code>
      </Fact>
      <Fact name="Created">
        <time dateTime={created_at}>{formatTime(created_at)}</time>
      </Fact>
      {started_at !== null && <Fact name="Took">{formatTook(end - Date.parse(started_at))}</Fact>}
      {started_at !== null && Date.parse(started_at) - Date.parse(created_at) >= WAITED_MS && (
        <Fact name="Waited">{formatTook(Date.parse(started_at) - Date.parse(created_at))}</Fact>
      )}
      <Fact name="Tasks">
        <TaskCounts session={session} record={record} />
      </Fact>
      {kind === 'pipeline' && (
        <Fact name="Waves">
          {formatInteger(progress.waves_executed)} of {formatInteger(progress.waves)}
        </Fact>
      )}
      <Fact name="Calls">{formatInteger(progress.invocations)}</Fact>
      {tenant_id !== 'default' && (
        <Fact name="Tenant">
          <bdi>{tenant_id}</bdi>
        </Fact>
      )}
      {usage.map(({ model, requests, input_tokens, output_tokens }) => (
        <Fact key={model} name="Model">
          <bdi>{model}</bdi> {formatInteger(requests)} requests, {formatInteger(input_tokens)} tokens in,{' '}
          {formatInteger(output_tokens)} out
        </Fact>
      ))}
      {cost !== undefined && <Fact name="Cost">${cost.toFixed(4)}</Fact>}
      <Fact name="Started by">
        <bdi>{formatStartedBy(started_by)}</bdi>
      </Fact>
      {Object.keys(labels).length > 0 && (
        <Fact name="Labels">
          <LabelLinks labels={labels} />
        </Fact>
      )}
      {priority !== 0 && <Fact name="Priority">{priority}</Fact>}
      {rerun_of !== null && (
        <Fact name="Rerun of">
          <a href={pathOfRun(rerun_of)}>{rerun_of.slice(-12)}</a>{' '}
          <button type="button" class="link" onClick={() => session.show({ tab: 'compare' })}>
            compare
          </button>
        </Fact>
      )}
    </dl>
  );
}

/** Each leads to the runs that have it. */
function LabelLinks({ labels }: Pick<RunRecord, 'labels'>) {
  return listLabels(labels).map((label) => (
    <a
      key={label}
      class="label"
      href={`/?${new URLSearchParams({ label })}`}
      title="Show the runs with this label"
    >
      <bdi>{label}</bdi>
    </a>
  ));
}

/** How far the tasks have come; of a run that has ended without success, how each has ended. */
function TaskCounts({ session, record }: { readonly session: FollowedRun; readonly record: RunRecord }) {
  void session.version.value;
  const { status, settled, progress } = record;
  const isKnown = session.tasks.size === progress.tasks;
  if (status === 'succeeded' || !settled || !isKnown)
    return `${formatInteger(progress.tasks_settled)} of ${formatInteger(progress.tasks)} settled`;
  return describeEnded(session.tasks.all());
}

/** A run that waits for less has not waited. */
const WAITED_MS = 1000;

interface FactProps {
  readonly name: string;
  readonly children: preact.ComponentChildren;
}

function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Actions({ session, record }: { readonly session: FollowedRun; readonly record: RunRecord }) {
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [asks, setAsks] = useState<'rerun' | 'delete' | undefined>(undefined);
  const closeDialog = (): void => setAsks(undefined);
  const act = (action: 'continue' | 'step' | 'cancel', body?: object): void => {
    setBusy(true);
    setProblem('');
    session
      .act(action, body)
      .catch((error: unknown) => setProblem(messageOf(error)))
      .finally(() => setBusy(false));
  };
  const { status, paused, settled, run_id } = record;
  const isOver = status !== 'queued' && status !== 'running';
  return (
    <>
      <span class="actions">
        {paused && (
          <>
            <button type="button" class="primary" disabled={isBusy} onClick={() => act('continue')}>
              Continue
            </button>
            <button
              type="button"
              disabled={isBusy}
              onClick={() => act('step')}
              title="Runs one wave, and pauses again"
            >
              Step
            </button>
          </>
        )}
        {!isOver && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => act('cancel')}
            title="Starts no further wave. What is running finishes first."
          >
            Cancel
          </button>
        )}
        {!settled && (
          <button
            type="button"
            class="danger"
            disabled={isBusy}
            onClick={() => act('cancel', { force: true })}
            title="Starts nothing more, and aborts the tools that are running: what they were doing is lost."
          >
            {isOver ? 'Abort the tools' : 'Cancel and abort'}
          </button>
        )}
        {settled && (
          <button type="button" class="primary" onClick={() => setAsks('rerun')}>
            Rerun…
          </button>
        )}
        <FileLink run={session} path="/report" name={`${run_id}.html`}>
          Report
        </FileLink>
        <a class="button" href={`/inspect/${encodeURIComponent(run_id)}`}>
          Open in inspector
        </a>
        {settled && (
          <button type="button" class="danger" onClick={() => setAsks('delete')}>
            Delete…
          </button>
        )}
      </span>
      {problem !== '' && (
        <p class="problem" role="alert">
          <bdi>{problem}</bdi>
        </p>
      )}
      {asks === 'rerun' && <RerunDialog session={session} onClose={closeDialog} />}
      {asks === 'delete' && <DeleteDialog session={session} record={record} onClose={closeDialog} />}
    </>
  );
}
