import { toIsoTime } from '../../../common/clock.js';
import { isObject } from '../../../common/json/json.js';
import { LISTING_LIMITS } from '../../../common/limits.js';
import { createTextFinder } from '../../../common/text.js';
import { type Labels, listLabels } from '../../../common/wire/labels.js';
import { BY_COMMAND_LINE } from '../../../common/wire/started-by.js';
import type { RunSummary } from '../../../common/wire/run-summary.js';
import type { StoredSubmission } from '../../../runs/store/run-store.js';
import type { KeptRuns, ShellRun } from '../../../runs/store/shell/kept-runs.js';
import { type KeptState, type ShownRecord, stateOf } from '../kept-run.js';

/** A run of a server, or of the history. */
export type RunOfList = Omit<RunSummary, 'status' | 'progress'> &
  Pick<ShownRecord, 'status'> & { readonly progress: RunSummary['progress'] | UnknownProgress };

/** Of a run of the history that has not settled: it is not rebuilt to be listed. */
type UnknownProgress = Readonly<
  Record<'waves' | 'waves_executed' | 'tasks_settled' | 'invocations', null>
> & {
  readonly tasks: number;
};

/** Says of a run of the history what lists say, without rebuilding it; undefined for one that a crash has torn. */
export function findListed(id: string, history: KeptRuns): RunOfList | undefined {
  const summary = history.summary(id);
  if (summary !== undefined) return summary;
  const run = history.read(id);
  if (run === undefined) return undefined;
  const state = stateOf(run, history);
  return state === undefined ? undefined : summarize(run, state);
}

function summarize({ id, createdAt, submission }: ShellRun, status: KeptState): RunOfList {
  const { kind, definition, pipelines, tenant_id, rerun } = submission;
  const parts = pipelines === undefined ? [definition] : Object.values(pipelines);
  const tasks = parts.reduce(
    (sum, part) => sum + (Array.isArray(part['tasks']) ? part['tasks'].length : 0),
    0,
  );
  return {
    run_id: id,
    kind,
    status,
    paused: false,
    pipeline_id: textOf(definition['id']),
    tenant_id,
    goal: textOf(definition['goal']),
    settled: status === 'interrupted',
    created_at: toIsoTime(createdAt),
    started_at: null,
    finished_at: null,
    progress: { waves: null, waves_executed: null, tasks, tasks_settled: null, invocations: null },
    error: null,
    error_code: null,
    failed_task: null,
    rerun_of: rerun?.run_id ?? null,
    trigger: null,
    started_by: submission.started_by ?? BY_COMMAND_LINE,
    labels: labelsOf(submission),
    priority: typeof definition['priority'] === 'number' ? definition['priority'] : 0,
    waiting_for: null,
  };
}

/** Returns what finds a text in runs as a server does. */
export function createRunFinder(text: string): (run: RunOfList) => boolean {
  const finds = createTextFinder(text, LISTING_LIMITS.searchedLength);
  const id = text.toLowerCase();
  return ({ run_id: runId, pipeline_id, goal, error, labels }) =>
    finds([pipeline_id, goal, error ?? '', ...listLabels(labels)]) ||
    (id.length >= LISTING_LIMITS.idPartLength && (runId.startsWith(id) || runId.endsWith(id)));
}

function labelsOf({ definition, labels }: StoredSubmission): Labels {
  return { ...(isObject(definition['labels']) && (definition['labels'] as Labels)), ...labels };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
