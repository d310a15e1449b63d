import type { RunStatus } from '../../../../../machines/types.js';
import { toIsoTime } from '../../../../common/clock.js';
import type { Labels } from '../../../../common/wire/labels.js';
import type { StartedBy } from '../../../../common/wire/started-by.js';
import type { RunSummary } from '../../../../common/wire/run-summary.js';
import type { EndCounts, ListedRun, RunEnd } from '../../run-archive.js';

/** The statuses by the number that stands for them in a row; runs at work have 0. */
export const STATES: readonly (RunStatus | undefined)[] = [
  undefined,
  undefined,
  'succeeded',
  'failed',
  'cancelled',
];

export const END_STATES: readonly number[] = [2, 3, 4];

export const NO_ENDS: EndCounts = { succeeded: 0, failed: 0, cancelled: 0 };

/** The counted parts of the progress of a run, in the order of the list that its row has. */
const PROGRESS = [
  'waves',
  'waves_executed',
  'tasks',
  'tasks_settled',
  'invocations',
  'sub_pipelines',
  'sub_pipelines_settled',
] as const;

interface EndColumns {
  readonly state: number;
  readonly rerun_of: string | null;
  readonly kind: string;
  readonly pipeline: string;
  readonly goal: string;
  readonly error: string | null;
  readonly error_code: string | null;
  readonly failed_task: string | null;
  readonly begun_at: number | null;
  readonly finished_at: number;
  readonly progress: string;
  readonly trigger: string | null;
  readonly starter: string;
  readonly starter_name: string | null;
  readonly artifacts: number;
  readonly artifact_bytes: number;
  readonly cost: number | null;
  readonly labels: string | null;
  readonly expires_at: number | null;
  readonly priority: number;
}

/** The columns of which a list is made. */
export const SUMMARY_COLUMNS =
  'run.number, run.id, run.created_at, run.tenant, run.state, run.rerun_of, run.kind, run.pipeline, run.goal, run.error, ' +
  'run.error_code, run.failed_task, run.begun_at, run.finished_at, run.progress, run.trigger, run.starter, run.starter_name, run.labels, ' +
  'run.priority';

/** A row with these columns. */
export interface SummaryRow extends Omit<EndColumns, 'artifacts' | 'artifact_bytes' | 'cost' | 'expires_at'> {
  readonly number: number;
  readonly id: string;
  readonly created_at: number;
  readonly tenant: string;
}

export function toColumns({ summary, cost, artifactCount, artifactBytes, keep }: RunEnd): EndColumns {
  const { progress, failed_task: failedTask, started_by: startedBy } = summary;
  const finishedAt = Date.parse(summary.finished_at ?? summary.created_at);
  return {
    state: STATES.indexOf(summary.status),
    rerun_of: summary.rerun_of,
    kind: summary.kind,
    pipeline: summary.pipeline_id,
    goal: summary.goal,
    error: summary.error,
    error_code: summary.error_code,
    failed_task: failedTask === null ? null : JSON.stringify(failedTask),
    begun_at: summary.started_at === null ? null : Date.parse(summary.started_at),
    finished_at: finishedAt,
    progress: JSON.stringify(PROGRESS.map((part) => progress[part]).filter((count) => count !== undefined)),
    trigger: summary.trigger,
    starter: startedBy.kind,
    starter_name: startedBy.name,
    artifacts: artifactCount,
    artifact_bytes: artifactBytes,
    cost: cost ?? null,
    labels: Object.keys(summary.labels).length === 0 ? null : JSON.stringify(summary.labels),
    expires_at: keep?.ageMs === undefined ? null : finishedAt + keep.ageMs,
    priority: summary.priority,
  };
}

export function toListedRun(row: SummaryRow): ListedRun {
  const counts = JSON.parse(row.progress) as readonly number[];
  const progress = Object.fromEntries(counts.map((count, index) => [PROGRESS[index], count]));
  const summary: RunSummary = {
    run_id: row.id,
    kind: row.kind as RunSummary['kind'],
    status: STATES[row.state] ?? 'cancelled',
    paused: false,
    pipeline_id: row.pipeline,
    tenant_id: row.tenant,
    goal: row.goal,
    settled: true,
    created_at: toIsoTime(row.created_at),
    started_at: row.begun_at === null ? null : toIsoTime(row.begun_at),
    finished_at: toIsoTime(row.finished_at),
    progress,
    error: row.error,
    error_code: row.error_code,
    failed_task: row.failed_task === null ? null : (JSON.parse(row.failed_task) as RunSummary['failed_task']),
    rerun_of: row.rerun_of,
    trigger: row.trigger as RunSummary['trigger'],
    started_by: { kind: row.starter as StartedBy['kind'], name: row.starter_name },
    labels: row.labels === null ? {} : (JSON.parse(row.labels) as Labels),
    priority: row.priority,
    waiting_for: null,
  };
  return { number: row.number, summary };
}
