import type { RunStatus, TaskStatus } from '../../../machines/types.js';

// Only for display; no run gets its status from here (law L3).
const QUEUED: RunStatus = 'queued';
const SUCCEEDED: RunStatus = 'succeeded';
const FAILED: TaskStatus = 'failed';

const RUN_ID = '019a7c3e-5b1d-7c44-9e0f-3d2a1b4c5d6e';
const TIMES = {
  created_at: '2026-01-01T12:00:00.000Z',
  started_at: '2026-01-01T12:00:00.004Z',
  finished_at: '2026-01-01T12:00:01.250Z',
};

const OUTCOME = {
  outputs: {
    greet: {
      status: 'success',
      message: 'Mock tool executed',
      inputs: { text: 'Hello, Ada!' },
      call_count: 1,
    },
    keep: 'Hello, Ada!',
  },
  waves_executed: 2,
  tasks_executed: 2,
};

const SUMMARY = {
  run_id: RUN_ID,
  kind: 'pipeline',
  status: SUCCEEDED,
  paused: false,
  pipeline_id: 'hello',
  tenant_id: 'default',
  goal: 'greet Ada',
  settled: true,
  ...TIMES,
  progress: { waves: 2, waves_executed: 2, tasks: 2, tasks_settled: 2, invocations: 2 },
  error: null,
  error_code: null,
  failed_task: null,
  rerun_of: null,
  trigger: null,
  started_by: { kind: 'key', name: 'ci' },
  labels: { team: 'billing' },
  priority: 0,
  waiting_for: null,
};

const PLAN_OUTCOME = {
  plan_id: 'letter',
  sub_results: {
    greet: { outputs: { keep: 'Dear Ada' }, waves_executed: 1, tasks_executed: 1, events: null },
    sign: {
      outputs: { write: 'Dear Ada, yours, Wavetrain' },
      waves_executed: 1,
      tasks_executed: 1,
      events: null,
    },
  },
  blackboard: { greeting: 'Dear Ada', letter: 'Dear Ada, yours, Wavetrain' },
  total_tasks_executed: 2,
  total_waves: 2,
};

const REFUSED = 'connect ECONNREFUSED 127.0.0.1:9';

/** An item of a fan-out that failed. */
const CALL = {
  run_id: RUN_ID,
  task_id: 'fetch',
  status: FAILED,
  reused: false,
  cached: false,
  started_at: TIMES.started_at,
  finished_at: TIMES.finished_at,
  attempts: [
    {
      attempt: 1,
      started_at: TIMES.started_at,
      finished_at: TIMES.finished_at,
      error: `fetch failed: ${REFUSED}`,
    },
  ],
  inputs: { city: 'Oslo' },
  inputs_error: null,
  error: {
    type: 'TypeError',
    message: `fetch failed: ${REFUSED}`,
    causes: [{ type: 'Error', message: REFUSED, code: 'ECONNREFUSED' }],
  },
  cut: [],
};

const ARTIFACT = { name: 'greeting.csv', task_id: 'greet', media_type: 'text/csv', size: 42 };

/** The fields of a report on a valid definition. */
const VALID = { ok: true, errors: null, warnings: [], problems: [] };

/** Examples of components, by title: what the server returns for the example pipeline and the example plan. */
export const COMPONENT_EXAMPLES: Readonly<Record<string, unknown>> = {
  Accepted: { run_id: RUN_ID, status: QUEUED },
  AcceptedRerun: {
    run_id: RUN_ID,
    status: QUEUED,
    rerun: {
      reused: [{ task_id: 'greet' }],
      runs: [{ task_id: 'keep', reason: 'has changed inputs', reusable_items: 0, repeats: 0 }],
      warnings: [],
    },
  },
  RunOutcome: OUTCOME,
  RunResult: { ...OUTCOME, events: null },
  PlanOutcome: PLAN_OUTCOME,
  PlanResult: { ...PLAN_OUTCOME, events: null },
  RunSummary: SUMMARY,
  RunRecord: {
    ...SUMMARY,
    result: OUTCOME,
    failures: [],
    sub_pipelines: null,
    events: null,
    artifacts: [ARTIFACT],
    artifact_count: 1,
    usage: [],
  },
  RunArtifact: ARTIFACT,
  ArtifactPage: { artifacts: [ARTIFACT], total: 1, next_cursor: null },
  TaskRecord: {
    ...CALL,
    tool: 'fetch_city',
    wave: 1,
    attempts: [],
    items: { total: 3, pending: 0, running: 0, succeeded: 2, failed: 1, skipped: 0 },
    cached_items: 0,
    inputs: null,
    output: [{ city: 'Rome' }, null, { city: 'Bern' }],
  },
  ItemRecord: { ...CALL, item: 1, value: 'Oslo', output: null },
  TaskEvent: {
    kind: 'finish',
    seq: 5,
    time: '2026-01-01T12:00:00.009Z',
    run_id: RUN_ID,
    task_id: 'greet',
    tool: 'mock',
    wave: 0,
    attempt: 1,
    duration_ms: 3.2,
  },
  Problem: {
    code: 'unknown_tool',
    message: 'there is no tool "mok"',
    path: '/pipeline/tasks/0/tool',
    severity: 'error',
    line: 8,
    column: 13,
    hint: 'did you mean "mock"?',
  },
  ValidationReport: {
    ...VALID,
    message: 'Pipeline is valid',
    stats: {
      id: 'hello',
      goal: 'greet {{params.name}}',
      tasks: 2,
      tools: ['mock', 'store'],
      inputs_count: 0,
      store_keys: ['greeting'],
      waves: 2,
      wave_sizes: [1, 1],
      fan_out_tasks: 0,
      total_retries: 0,
    },
  },
  PlanReport: {
    ...VALID,
    message: 'Plan is valid',
    stats: {
      id: 'letter',
      goal: 'write a letter',
      sub_pipelines: 2,
      inputs_count: 1,
      order: ['greet', 'sign'],
      waves: 2,
      wave_ids: [['greet'], ['sign']],
      plan_concurrency: 1,
      tasks: 2,
      keys: [
        { key: 'greeting', stored_by: 'greet', read_by: ['sign'] },
        { key: 'letter', stored_by: 'sign', read_by: [] },
      ],
    },
  },
  Graph: {
    id: 'hello',
    goal: 'greet {{params.name}}',
    waves: [[{ id: 'greet', tool: 'mock', fan_out: false }], [{ id: 'keep', tool: 'store', fan_out: false }]],
    edges: [{ from: 'greet', to: 'keep', kind: 'template' }],
  },
};
