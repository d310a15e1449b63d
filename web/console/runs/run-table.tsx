import { pathOfRun } from '../../../lib/common/wire/run-summary.js';
import type { RunSummary } from '../../../lib/common/wire/run-summary.js';
import { listLabels } from '../../../lib/common/wire/labels.js';
import { formatAgo, formatInteger, formatTime, formatTook } from '../../shared/model/format.js';
import { toneOf } from '../../shared/model/tones.js';
import { formatSelection, selectionOf } from '../run/model/addresses.js';
import { WaitText } from '../shell/wait-text.js';
import type { RunFilters } from './run-filters.js';

interface RunTableProps {
  readonly runs: readonly RunSummary[];
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly onFilter: (changed: Partial<RunFilters>) => void;
}

/** The runs as a table: a click on a row opens its run, and buttons in it show only runs of the same kind. */
export function RunTable({ runs, now, onFilter }: RunTableProps) {
  const hasTenants = runs.some(({ tenant_id }) => tenant_id !== runs[0]?.tenant_id);
  return (
    <div class="wide">
      <table>
        <thead>
          <tr>
            <th scope="col" class="about-status">
              Status
            </th>
            <th scope="col" class="about-id">
              Run
            </th>
            <th scope="col">Pipeline</th>
            {hasTenants && (
              <th scope="col" class="about-tenant">
                Tenant
              </th>
            )}
            <th scope="col" class="about-tasks">
              Tasks
            </th>
            <th scope="col" class="about-time">
              Created
            </th>
            <th scope="col" class="about-time">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.run_id} run={run} now={now} hasTenants={hasTenants} onFilter={onFilter} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RunRowProps extends Pick<RunTableProps, 'now' | 'onFilter'> {
  readonly run: RunSummary;
  readonly hasTenants: boolean;
}

function RunRow({ run, now, hasTenants, onFilter }: RunRowProps) {
  const {
    run_id,
    status,
    paused,
    pipeline_id,
    kind,
    tenant_id,
    goal,
    created_at,
    rerun_of,
    trigger,
    started_by,
    labels,
  } = run;
  const label = paused ? 'paused' : status;
  return (
    <tr>
      <td>
        <span class={`badge ${toneOf(label)}`}>{label}</span>
      </td>
      <td class="about-links">
        <a class="run-link" href={pathOfRun(run_id)} title={`${run_id}\ncreated ${formatTime(created_at)}`}>
          <code>{run_id.slice(-12)}</code>
        </a>{' '}
        {rerun_of !== null && (
          <a class="again" href={pathOfRun(rerun_of)} title={`repeats ${rerun_of}`}>
            rerun
          </a>
        )}
        {trigger !== null && (
          <button
            type="button"
            class="link again"
            title={`Show only the runs that a ${trigger} has started`}
            onClick={() => onFilter({ trigger })}
          >
            {trigger}
          </button>
        )}
        {started_by.kind === 'key' && (
          <button
            type="button"
            class="link again"
            title={`Show only the runs that the key "${started_by.name}" has started`}
            onClick={() => onFilter({ started_by: `key:${started_by.name}` })}
          >
            <bdi>{started_by.name}</bdi>
          </button>
        )}
      </td>
      <td class="about-run">
        <bdi class="name">{pipeline_id}</bdi>
        {kind === 'plan' && <span class="src"> plan</span>} <Labels labels={labels} onFilter={onFilter} />
        <button
          type="button"
          class="link filter"
          title="Show only its runs"
          onClick={() => onFilter({ pipeline: pipeline_id })}
        >
          Filter<span class="hidden-text"> by {pipeline_id}</span>
        </button>
        <span class="line">
          <bdi>{cut(goal)}</bdi>
        </span>
        {run.waiting_for !== null && (
          <span class="line">
            <WaitText wait={run.waiting_for} />
          </span>
        )}
        {run.error !== null && (
          <span class="line">
            <FailureLine run={run} />
          </span>
        )}
      </td>
      {hasTenants && (
        <td>
          <button
            type="button"
            class="link"
            title="Show only its runs"
            onClick={() => onFilter({ tenant: tenant_id })}
          >
            <bdi>{tenant_id}</bdi>
          </button>
        </td>
      )}
      <td>
        <Progress run={run} />
      </td>
      <td class="number">
        <time dateTime={created_at}>{formatAgo(created_at, now)}</time>
      </td>
      <td class="number">{formatDuration(run, now)}</td>
    </tr>
  );
}

/** So many labels of a run are shown: the page of the run has them all. */
const MOST_LABELS = 4;

function Labels({ labels, onFilter }: Pick<RunSummary, 'labels'> & Pick<RunTableProps, 'onFilter'>) {
  const all = listLabels(labels);
  if (all.length === 0) return null;
  return (
    <span class="labels">
      {all.slice(0, MOST_LABELS).map((label) => (
        <button
          key={label}
          type="button"
          class="label"
          title={`${label}\nShow only the runs with this label`}
          onClick={() => onFilter({ label })}
        >
          <bdi>{label}</bdi>
        </button>
      ))}
      {all.length > MOST_LABELS && (
        <span class="src" title={all.slice(MOST_LABELS).join('\n')}>
          +{formatInteger(all.length - MOST_LABELS)}
        </span>
      )}
    </span>
  );
}

function FailureLine({ run: { error, failed_task } }: { readonly run: RunSummary }) {
  return (
    <bdi class="failed">
      {failed_task !== null && `${formatSelection(selectionOf(failed_task))}: `}
      {cut(error ?? '')}
    </bdi>
  );
}

/** Characters of a goal or an error: the row has one line for each. */
const MOST_CHARACTERS = 300;

function cut(text: string): string {
  return text.slice(0, MOST_CHARACTERS);
}

function Progress({ run: { progress, status } }: { readonly run: RunSummary }) {
  const { tasks, tasks_settled } = progress;
  return (
    <span class="progress-cell">
      <meter
        class={toneOf(status)}
        min={0}
        max={Math.max(1, tasks)}
        value={tasks_settled}
        aria-label={`${tasks_settled} of ${tasks} tasks have settled`}
      />
      <span class="number">
        {formatInteger(tasks_settled)}/{formatInteger(tasks)}
      </span>
    </span>
  );
}

function formatDuration({ started_at, finished_at }: RunSummary, now: number): string {
  if (started_at === null) return '';
  const end = finished_at === null ? now : Date.parse(finished_at);
  return formatTook(end - Date.parse(started_at));
}
