import type { QueriesApi, RegistryApi } from '../../../lib/cli/context.js';
import { WavetrainError } from '../../../lib/common/errors.js';
import type { RunInputs } from '../../../lib/execution/prepare/run-inputs.js';
import type { RunRecord } from '../../../lib/runs/record.js';
import type { RestoredRuns } from '../../../lib/runs/store/restore/restoration.js';
import type { FailedCall, TaskPage } from '../../../lib/runs/tasks/task-record.js';
import { deferred } from '../../support/deferred.js';
import { createRunRecord } from '../../support/runs/run-record.js';

export const TWO_TASKS = 'id: p\ngoal: g\ntasks: [{id: a, tool: mock}, {id: b, tool: mock, await: [a]}]\n';

/** The record of a running pipeline of two tasks, `a` and then `b`. */
export const RUNNING = createRunRecord({
  run_id: 'r1',
  progress: { waves: 2, waves_executed: 0, tasks: 2, tasks_settled: 0, invocations: 1 },
  started_by: { kind: 'cli', name: null },
});

/** A registry with one run, which the spec settles by hand. */
export class HeldRegistry implements RegistryApi, QueriesApi {
  readonly queries = this;

  record(): never {
    throw new Error('nobody looks at a held run');
  }

  readonly submitted: RunInputs[] = [];
  readonly cancelled: boolean[] = [];
  readonly forgotten: string[] = [];
  readonly end = deferred<RunRecord>();
  refuses = false;

  async submit(run: RunInputs): Promise<string> {
    this.submitted.push(run);
    return 'r1';
  }

  submitPlan(): Promise<string> {
    throw new Error('not a plan');
  }

  settled(): Promise<RunRecord> {
    return this.end.promise;
  }

  async cancel(_: string, { force = false } = {}): Promise<RunRecord> {
    this.cancelled.push(force);
    if (this.refuses) throw new WavetrainError('run_already_terminal', 'run r1 is already succeeded');
    return { ...RUNNING, status: 'cancelled' };
  }

  async cacheWritten(): Promise<void> {}

  /** No task has begun. */
  async tasks(): Promise<TaskPage> {
    return { tasks: [], next_cursor: null };
  }

  task(): Promise<never> {
    return Promise.reject(new WavetrainError('task_not_found', 'run r1 has no such task'));
  }

  async failedCalls(): Promise<FailedCall[]> {
    return [];
  }

  items(): never {
    throw new Error('nobody reads items here');
  }

  item(): Promise<never> {
    return this.task();
  }

  artifacts(): { find(): undefined } {
    return { find: () => undefined };
  }

  resume(): RunRecord {
    return RUNNING;
  }

  async restore(): Promise<RestoredRuns> {
    return { kept: 0, goingOn: 0, waiting: 0 };
  }

  rerun(): never {
    throw new Error('nobody reruns a held run');
  }

  previewRerun(): never {
    return this.rerun();
  }

  rerunValues(): never {
    return this.rerun();
  }

  async rerunReport(): Promise<null> {
    return null;
  }

  async close(): Promise<void> {}

  forget(runId: string): void {
    this.forgotten.push(runId);
  }
}
