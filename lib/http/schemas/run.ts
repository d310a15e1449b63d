import Type from 'typebox';
import type { RunStatus } from '../../../machines/vocabulary.js';
import type { TaskFailure } from '../../errors.js';
import type { RunOutcome, RunResult } from '../../execution/result.js';
import type { RunPage } from '../../runs/listing.js';
import type { RunRecord, RunSummary } from '../../runs/record.js';
import { TaskEventSchema } from './event.js';
import { json, nullable, RunId, Time, wire } from './wire.js';

export const RunStatusSchema = wire<RunStatus>()(
  Type.Enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'], {
    title: 'RunStatus',
    description: 'The last three are terminal: a run that has one keeps it.',
  }),
);

export const TaskFailureSchema = wire<TaskFailure>()(
  Type.Object(
    {
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

const outcome = {
  outputs: Type.Record(Type.String(), json('What the task returned.'), { description: 'Task id to output.' }),
  waves_executed: Type.Integer({ minimum: 0, description: 'Waves that settled.' }),
  tasks_executed: Type.Integer({
    minimum: 0,
    description: 'Tool invocations, each item of a fan-out counted.',
  }),
};

const events = nullable(Type.Array(TaskEventSchema, { description: 'Null unless collect_events was set.' }));

export const RunOutcomeSchema = wire<RunOutcome>()(
  Type.Object(outcome, { title: 'RunOutcome', description: 'What a run that succeeded produced.' }),
);

export const RunResultSchema = wire<RunResult>()(
  Type.Object({ ...outcome, events }, { title: 'RunResult', description: 'What a synchronous run answers.' }),
);

const summary = {
  run_id: RunId,
  kind: Type.Enum(['pipeline', 'plan']),
  status: RunStatusSchema,
  pipeline_id: Type.String(),
  tenant_id: Type.String(),
  goal: Type.String({ description: 'The goal with params applied.' }),
  settled: Type.Boolean({
    description:
      'Nothing of the run is at work any more. A cancelled run settles when its wave has finished.',
  }),
  created_at: Time,
  started_at: nullable(Time),
  finished_at: nullable(Time),
  progress: Type.Object({
    waves: counted('Waves that there are.'),
    waves_executed: counted('Waves that have settled.'),
    tasks: counted('Tasks that there are.'),
    tasks_settled: counted('Tasks that have succeeded or failed.'),
    invocations: counted('Tool invocations started, each item of a fan-out counted.'),
  }),
  error: nullable(
    Type.String({ description: 'The message of the first failure in time; set only when failed.' }),
  ),
  rerun_of: nullable(RunId),
};

export const RunSummarySchema = wire<RunSummary>()(
  Type.Object(summary, { title: 'RunSummary', description: 'A run without what may be large.' }),
);

export const RunRecordSchema = wire<RunRecord>()(
  Type.Object(
    {
      ...summary,
      result: nullable(RunOutcomeSchema),
      failures: Type.Array(TaskFailureSchema, { description: 'All failures, the first in time first.' }),
      events,
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
