import type { TaskRecord } from '../../../lib/runs/tasks/task-record.js';

/** When the runs of the specs start, in milliseconds since 1970. */
export const START = Date.parse('2026-11-23T10:00:00.000Z');

/** A task that has succeeded in 500 ms, but for what is given. */
export function record(more: Partial<TaskRecord>): TaskRecord {
  return {
    run_id: 'r',
    task_id: 'a',
    tool: 'mock',
    wave: 0,
    status: 'succeeded',
    reused: false,
    cached: false,
    started_at: new Date(START).toISOString(),
    finished_at: new Date(START + 500).toISOString(),
    attempts: [],
    items: null,
    cached_items: null,
    inputs: null,
    inputs_error: null,
    output: null,
    error: null,
    cut: [],
    ...more,
  };
}
