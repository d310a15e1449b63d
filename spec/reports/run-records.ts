import type { ReportedRun } from '../../lib/reports/report-data.js';
import type { AttemptRecord, ItemRecord, TaskRecord } from '../../lib/runs/tasks/task-record.js';
import { createRunRecord } from '../support/runs/run-record.js';

const START = Date.parse('2026-01-01T12:00:00.000Z');

/** The time so many ms after the beginning of the run, as records have it. */
export const at = (ms: number): string => new Date(START + ms).toISOString();

export function attempt(
  number: number,
  from: number,
  to: number | null,
  error: string | null = null,
): AttemptRecord {
  return { attempt: number, started_at: at(from), finished_at: to === null ? null : at(to), error };
}

/** The record of a task that has succeeded within 100 ms. */
export function taskRecord(task_id: string, changes: Partial<TaskRecord> = {}): TaskRecord {
  return {
    run_id: 'r',
    task_id,
    tool: 'mock',
    wave: 0,
    status: 'succeeded',
    reused: false,
    cached: false,
    started_at: at(0),
    finished_at: at(100),
    attempts: [attempt(1, 0, 100)],
    inputs: {},
    inputs_error: null,
    output: null,
    error: null,
    cut: [],
    items: null,
    cached_items: null,
    ...changes,
  };
}

export function itemRecord(task_id: string, item: number, changes: Partial<ItemRecord> = {}): ItemRecord {
  const { tool: _, wave: __, items: ___, cached_items: ____, ...call } = taskRecord(task_id);
  return { ...call, item, value: item, ...changes };
}

/** The record of a run that has succeeded. */
export function runRecord(changes: Partial<ReportedRun> = {}): ReportedRun {
  const record = createRunRecord({
    status: 'succeeded',
    pipeline_id: 'demo',
    goal: 'show',
    settled: true,
    created_at: at(-5000),
    started_at: at(0),
    finished_at: at(2000),
    progress: { waves: 1, waves_executed: 1, tasks: 1, tasks_settled: 1, invocations: 1 },
    started_by: { kind: 'key', name: 'ci' },
  });
  return { ...record, ...changes };
}
