import Type from 'typebox';
import type { RunStatus } from '../../../machines/types.js';
import type { TaskFailure } from '../../common/errors.js';
import type { RunPage } from '../../runs/listing.js';
import type { RunRecord, RunSummary } from '../../runs/record.js';
import { eventsField, PlanOutcomeSchema, RunOutcomeSchema } from './outcome.js';
import { nullable, RunId, Time, wire } from './wire.js';

export const RunStatusSchema = wire<RunStatus>()(
  Type.Enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'], {
    title: 'RunStatus',
    description: 'The last three are terminal: a run that has one keeps it.',
  }),
);

export const TaskFailureSchema = wire<TaskFailure>()(
  Type.Object(
    {
      sub_pipeline: Type.Optional(Type.String({ description: 'Of a plan: the one that the task is of.' })),
      task_id: Type.String(),
      error: Type.String(),
      attempts: Type.Integer({ minimum: 0, description: '0 when the tool was never reached.' }),
      item: Type.Optional(Type.Integer({ minimum: 0, description: 'Position in the fan-out, from 0.' })),
    },
    { title: 'TaskFailure', description: 'One task, or one item of it, that failed.' },
  ),
);

function counted(description: string) {
  return Type.Integer({ minimum: 0, description });
}

const summary = {
  run_id: RunId,
  kind: Type.Enum(['pipeline', 'plan']),
  status: RunStatusSchema,
  pipeline_id: Type.String({ description: 'Of the pipeline, or of the plan.' }),
  tenant_id: Type.String(),
  goal: Type.String({ description: 'The goal with params applied; empty for a plan without one.' }),
  settled: Type.Boolean({
    description:
      'Nothing of the run is at work any more. A cancelled run settles when its wave has finished.',
  }),
  created_at: Time,
  started_at: nullable(Time),
  finished_at: nullable(Time),
  progress: Type.Object(
    {
      waves: counted('Waves that there are.'),
      waves_executed: counted('Waves that have settled.'),
      tasks: counted('Tasks that there are.'),
      tasks_settled: counted('Tasks that have succeeded or failed.'),
      invocations: counted('Tool invocations started, each item of a fan-out counted.'),
      sub_pipelines: Type.Optional(counted('Of a plan only: sub-pipelines that there are.')),
      sub_pipelines_settled: Type.Optional(counted('Of a plan only: sub-pipelines that have settled.')),
    },
    { description: 'Of a plan: sums over its sub-pipelines.' },
  ),
  error: nullable(
    Type.String({ description: 'The message of the first failure in time; set only when failed.' }),
  ),
  rerun_of: nullable(RunId),
};

const RunSummarySchema = wire<RunSummary>()(
  Type.Object(summary, { title: 'RunSummary', description: 'A run without what may be large.' }),
);

export const RunRecordSchema = wire<RunRecord>()(
  Type.Object(
    {
      ...summary,
      result: Type.Union([RunOutcomeSchema, PlanOutcomeSchema, Type.Null()], {
        description: 'Of the kind of the run; set only when it succeeded.',
      }),
      failures: Type.Array(TaskFailureSchema, { description: 'All failures, the first in time first.' }),
      sub_pipelines: nullable(
        Type.Record(Type.String(), nullable(RunStatusSchema), {
          description:
            'Of a plan: sub-pipeline id to its status, in declared order; null: it has not begun. Null for a pipeline.',
        }),
      ),
      events: eventsField,
    },
    { title: 'RunRecord', description: 'A run as it is now.' },
  ),
);

export const RunPageSchema = wire<RunPage>()(
  Type.Object(
    {
      runs: Type.Array(RunSummarySchema, { description: 'The newest first.' }),
      next_cursor: nullable(Type.String({ description: 'Give it as `cursor` for the next page.' })),
    },
    { title: 'RunPage' },
  ),
);

export const AcceptedSchema = Type.Object(
  { run_id: RunId, status: RunStatusSchema },
  { title: 'Accepted', description: 'A run was accepted; poll it, wait for it, or listen to its events.' },
);
