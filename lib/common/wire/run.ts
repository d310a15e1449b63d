import Type from 'typebox';
import type { RunStatus, SubPipelineStatus } from '../../../machines/types.js';
import { TaskEventSchema } from './event.js';
import { FailedTaskSchema, TaskFailureSchema, SkippedTaskSchema } from './failure.js';
import { ModelUsageSchema } from './model.js';
import { ProblemSchema } from './problem.js';
import {
  anyJson,
  Cost,
  count,
  Count,
  described,
  flag,
  list,
  mapOf,
  nullable,
  onlyTrue,
  RunId,
  schemaFor,
  text,
  Time,
  titled,
} from './shape.js';
import { WaitingForSchema } from './task.js';
import { type RunTrigger, STARTED_BY_KINDS, type StartedBy } from './started-by.js';

const events = nullable(list(TaskEventSchema, 'Null unless `collect_events` was set.'));

const pipelineOutcome = {
  outputs: mapOf(anyJson('The return value of the tool.'), 'Outputs by task id.'),
  waves_executed: count('Number of settled waves.'),
  tasks_executed: count('Number of tool invocations; each item of a fan-out counts.'),
};

const handlerOutcome = {
  handlers: Type.Optional(
    mapOf(
      anyJson('The return value of the tool.'),
      'Outputs of the handlers by id; absent without handlers.',
    ),
  ),
  handler_failures: Type.Optional(
    list(TaskFailureSchema, 'Every failure of a handler, earliest first; absent without handlers.'),
  ),
};

export const RunOutcomeSchema = described(
  'RunOutcome',
  'The outcome of a pipeline run that succeeded.',
  pipelineOutcome,
);

export const RunResultSchema = described('RunResult', 'The result of a synchronous run of a pipeline.', {
  ...pipelineOutcome,
  ...handlerOutcome,
  events,
});

const planOutcome = {
  plan_id: Type.String(),
  sub_results: mapOf(RunResultSchema, 'Results by sub-pipeline id.'),
  blackboard: mapOf(anyJson('The stored value.'), 'Final values of the blackboard, by key.'),
  total_tasks_executed: count(
    'Number of tool invocations of all sub-pipelines; each item of a fan-out counts.',
  ),
  total_waves: count('Number of settled waves of all sub-pipelines.'),
};

export const PlanOutcomeSchema = described(
  'PlanOutcome',
  'The outcome of a plan run that succeeded.',
  planOutcome,
);

export const PlanResultSchema = described('PlanResult', 'The result of a synchronous run of a plan.', {
  ...planOutcome,
  ...handlerOutcome,
  events,
});

export const RunStatusSchema = schemaFor<RunStatus>()(
  Type.Enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'], {
    title: 'RunStatus',
    description:
      '`queued` until a slot is free; then `running` until every task has succeeded (`succeeded`), a task has failed (`failed`) or the run is cancelled (`cancelled`). The last three are terminal: a run never leaves them.',
  }),
);

const SubPipelineStatusSchema = schemaFor<SubPipelineStatus>()(
  Type.Enum(['queued', 'running', 'succeeded', 'failed', 'cancelled', 'skipped'], {
    title: 'SubPipelineStatus',
    description: 'As of a run; or `skipped`, when its condition did not hold.',
  }),
);

export const RunStatusFilterSchema = Type.Enum(
  ['queued', 'running', 'paused', 'succeeded', 'failed', 'cancelled'],
  { title: 'RunStatusFilter', description: 'A status, or `paused`: running runs that wait at a breakpoint.' },
);

export const RunTriggerSchema = schemaFor<RunTrigger>()(
  Type.Enum(['schedule', 'webhook'], {
    title: 'RunTrigger',
    description: 'What of the folder of pipelines of the server has started a run.',
  }),
);

const StartedBySchema = schemaFor<StartedBy>()(
  described('StartedBy', 'Who has started a run, or has asked for a rerun.', {
    kind: Type.Enum([...STARTED_BY_KINDS]),
    name: nullable(
      text('The name of the API key, or the id of the definition with the schedule or webhook.'),
    ),
  }),
);

export const RunProgressSchema = Type.Object(
  {
    waves: count('Number of waves.'),
    waves_executed: count('Number of settled waves, but those of which every task was skipped.'),
    tasks: count('Number of tasks.'),
    tasks_settled: count('Number of tasks that have succeeded or failed, or were skipped.'),
    invocations: count('Number of tool invocations started; each item of a fan-out counts.'),
    sub_pipelines: Type.Optional(count('Only of a plan: number of sub-pipelines.')),
    sub_pipelines_settled: Type.Optional(
      count('Only of a plan: number of settled sub-pipelines; those that were skipped count.'),
    ),
  },
  { description: 'Of a plan: sums over its sub-pipelines.' },
);

const summary = {
  run_id: RunId,
  kind: Type.Enum(['pipeline', 'plan']),
  status: RunStatusSchema,
  paused: flag('True while the run waits at a breakpoint; its status is `running`.'),
  pipeline_id: text('The id of the pipeline or plan.'),
  tenant_id: Type.String(),
  goal: text('The goal, with params filled in; empty for a plan without a goal.'),
  settled: flag(
    'True when nothing of the run is running any more. A cancelled run settles when its wave has finished; a run with handlers, when they have.',
  ),
  created_at: Time,
  started_at: nullable(Time),
  finished_at: nullable(Time),
  progress: RunProgressSchema,
  error: nullable(text('Message of the earliest failure; null unless the run has failed.')),
  error_code: nullable(
    text(
      '`run_timeout` when the time of the run was over; else the code of the failure, such as `ECONNREFUSED`. Null when it has none, and unless the run has failed.',
    ),
  ),
  failed_task: nullable(FailedTaskSchema, 'Null unless a task has failed the run.'),
  rerun_of: nullable(RunId, 'The run that this one repeats; null when it is not a rerun.'),
  trigger: nullable(RunTriggerSchema, 'Null for a request, a person or any rerun.'),
  started_by: StartedBySchema,
  labels: mapOf(
    Type.String(),
    'The labels of its definition and of its submission, by name; empty when there are none.',
  ),
  priority: Type.Integer({
    description: 'Of its definition: queued runs of a tenant with a higher one begin first.',
  }),
  waiting_for: nullable(WaitingForSchema, 'Null when it waits for nothing, or is about to start.'),
};

export const RunSummarySchema = described('RunSummary', 'A run without its large fields.', summary);

export const RemovedRunsSchema = described('RemovedRuns', 'The settled runs that a request has deleted.', {
  deleted: count('Number of deleted runs.'),
  next_cursor: nullable(text('For the next request; null when no more runs match.')),
});

export const RunArtifactSchema = described(
  'RunArtifact',
  'A file that a tool has written, or bytes that it has returned.',
  {
    name: text('Unique in the run.'),
    sub_pipeline: Type.Optional(text('Only in a run of a plan.')),
    task_id: text('The task that made the file, or ran the pipeline that did.'),
    item: Type.Optional(count('Index of the item of a fan-out, from 0.')),
    media_type: text('As in `text/csv`.'),
    size: count('In bytes.'),
  },
);

export const RunRecordSchema = described('RunRecord', 'The current state of a run.', {
  ...summary,
  result: Type.Union([RunOutcomeSchema, PlanOutcomeSchema, Type.Null()], {
    description: 'The outcome of the pipeline or plan; null unless the run has succeeded.',
  }),
  failures: list(
    TaskFailureSchema,
    'Every failure, earliest first; of a run that has succeeded, the collected and the tolerated ones.',
  ),
  ...handlerOutcome,
  skipped: Type.Optional(
    list(
      SkippedTaskSchema,
      'The first 1,000 sub-pipelines and tasks that called nothing; absent when there are none.',
    ),
  ),
  sub_pipelines: nullable(
    mapOf(
      nullable(SubPipelineStatusSchema),
      'Of a plan: statuses by sub-pipeline id, in declaration order; a status is null before the sub-pipeline has started. Null for a pipeline.',
    ),
  ),
  events,
  artifacts: list(RunArtifactSchema, 'The first 1,000 files of the run, in the order of their names.'),
  artifact_count: count('Number of files of the run.'),
  usage: list(ModelUsageSchema, 'What the run has used of language models, by model.'),
  cost: Type.Optional(Cost),
});

export const ArtifactPageSchema = titled('ArtifactPage', {
  artifacts: list(RunArtifactSchema, 'In the order of their names.'),
  total: count('Number of files of the run.'),
  next_cursor: nullable(text('Send it as `cursor` to get the next page.')),
});

export const RunCountsSchema = described(
  'RunCounts',
  'Number of runs on all pages together, by status. All filters count but `status`.',
  {
    queued: Count,
    running: Count,
    paused: count('Runs that wait at a breakpoint; they are counted in `running` too.'),
    succeeded: Count,
    failed: Count,
    cancelled: Count,
  },
);

export const RunQueueSchema = described('RunQueue', 'What queued runs wait for.', {
  queued: count('Queued runs of the tenants whose runs are listed, whatever the other filters are.'),
  waits_for: nullable(
    Type.Enum(['server', 'tenant', 'breakpoints', 'max_running', 'restart'], {
      title: 'QueueReason',
      description:
        '`server`: all slots of the server are taken. `tenant`: the tenant has its share of them, and others have the rest. `breakpoints`: those that wait have breakpoints, and others with some have their half of the slots. `max_running`: as many runs of their definition are at work as it allows. `restart`: the runs of the process before come first, and are still being read. Null when nothing waits, or what waits is about to start.',
    }),
  ),
});

const RunRetentionSchema = described(
  'RunRetention',
  'Since when settled runs are kept, and for how long. A run whose definition says `keep` may be deleted earlier or later.',
  {
    oldest: nullable(
      Time,
      'When the oldest settled run that is kept was submitted, of the tenants whose runs are listed, whatever the other filters are. Null when none is kept.',
    ),
    max_age_seconds: nullable(
      Type.Number({ description: 'How long a settled run is kept. Null without a limit.' }),
    ),
    max_runs: nullable(count('Settled runs that are kept, of all tenants together. Null without a limit.')),
    max_bytes: nullable(
      count('Bytes of the file that keeps them. Null without a limit, and without a store.'),
    ),
  },
);

export const RunPageSchema = titled('RunPage', {
  runs: list(RunSummarySchema, 'Newest first.'),
  next_cursor: nullable(text('Send it as `cursor` to get the next page.')),
  counts: Type.Optional(RunCountsSchema),
  queue: Type.Optional(RunQueueSchema),
  retention: Type.Optional(RunRetentionSchema),
  migrating: Type.Optional(
    count(
      'Settled runs of these tenants that an earlier version has kept, and that are not in lists yet: they are being brought over. Absent when there are none.',
    ),
  ),
});

export const AcceptedSchema = described(
  'Accepted',
  'A run was accepted. Poll its record, wait for it, or read its events.',
  { run_id: RunId, status: RunStatusSchema },
);

const rerunTask = { sub_pipeline: Type.Optional(text('Only in a run of a plan.')), task_id: Type.String() };

export const RerunReportSchema = described('RerunReport', 'What a rerun reuses and what it runs.', {
  reused: list(Type.Object(rerunTask), 'The tasks whose earlier output is used; their tools are not called.'),
  runs: Type.Array(
    Type.Object({
      ...rerunTask,
      reason: text('Why, as the end of a sentence that begins with the task, such as `has failed`.'),
      reusable_items: count('The largest number of items of a fan-out that are reused.'),
      items: Type.Optional(
        count('The items that the fan-out had; absent for other tasks, and when it is not known.'),
      ),
      repeats: count(
        'Calls that had succeeded and are made again, at most. Tools that only compute do not count.',
      ),
      decided_anew: onlyTrue(
        'Its conditions, or those of its items, decide when it begins whether it is skipped.',
      ),
    }),
    {
      description:
        'The tasks that run. One that only depends on another is reused after all if that gives what it gave before.',
    },
  ),
  skips: Type.Optional(
    list(
      Type.Object({ ...rerunTask, reason: text('Why, as in `skip_reason` of the task.') }),
      'The tasks that are skipped, as far as it can be foreseen; absent when there are none.',
    ),
  ),
  warnings: list(ProblemSchema, 'Warnings about a changed definition.'),
});

export const AcceptedRerunSchema = described(
  'AcceptedRerun',
  'A rerun was accepted. Poll its record, wait for it, or read its events. `rerun` is null for a repeated request whose run is no longer kept.',
  { run_id: RunId, status: RunStatusSchema, rerun: nullable(RerunReportSchema) },
);
