import type { RunRecord } from '../../../lib/runs/record.js';

const TIME = '2026-01-01T00:00:00.000Z';

/** The record of a pipeline of one task that has just started; for all else a spec says what differs. */
export function createRunRecord(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    run_id: 'r',
    kind: 'pipeline',
    status: 'running',
    paused: false,
    pipeline_id: 'p',
    tenant_id: 'default',
    goal: 'g',
    settled: false,
    created_at: TIME,
    started_at: TIME,
    finished_at: null,
    progress: { waves: 1, waves_executed: 0, tasks: 1, tasks_settled: 0, invocations: 1 },
    result: null,
    error: null,
    failures: [],
    artifacts: [],
    artifact_count: 0,
    usage: [],
    sub_pipelines: null,
    events: null,
    error_code: null,
    failed_task: null,
    rerun_of: null,
    trigger: null,
    started_by: { kind: 'library', name: null },
    labels: {},
    priority: 0,
    waiting_for: null,
    ...changes,
  };
}
