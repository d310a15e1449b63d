import Type, { type TProperties } from 'typebox';
import type { TaskStatus } from '../../../machines/types.js';
import { anyJson, anyJsonObject, Count, count, nullable, RunId, schemaFor, Time } from './shape.js';

export const TaskStatusSchema = schemaFor<TaskStatus>()(
  Type.Enum(['pending', 'running', 'succeeded', 'failed', 'skipped'], {
    title: 'TaskStatus',
    description:
      '`pending`: may still start. `skipped`: the run, or the fan-out, ended before it could start.',
  }),
);

export const AttemptRecordSchema = Type.Object(
  {
    attempt: count('Number of the attempt, from 1.'),
    started_at: nullable(Time),
    finished_at: nullable(Time),
    error: nullable(Type.String({ description: 'Null when it succeeded or is under way.' })),
  },
  { title: 'AttemptRecord', description: 'One attempt to call a tool.' },
);

const cause = {
  type: Type.String({ description: 'As in `TypeError`.' }),
  message: Type.String(),
  code: Type.Optional(Type.String({ description: 'As in `ECONNREFUSED`.' })),
};

export const ErrorCauseSchema = Type.Object(cause, { title: 'ErrorCause' });

export const ErrorRecordSchema = Type.Object(
  {
    ...cause,
    causes: Type.Array(ErrorCauseSchema, {
      description: 'The cause of the error, then the cause of that one.',
    }),
    stack: Type.Optional(
      Type.String({
        description:
          'Where a tool of your own threw it, and where its causes arose. Only for keys with the scope `run`.',
      }),
    ),
  },
  { title: 'ErrorRecord', description: 'Why a task or an item failed.' },
);

const identity = {
  run_id: RunId,
  sub_pipeline: Type.Optional(Type.String({ description: 'The sub-pipeline of the plan.' })),
  task_id: Type.String(),
} satisfies TProperties;

const call = {
  status: TaskStatusSchema,
  reused: Type.Boolean({ description: 'The output was reused from an earlier run.' }),
  cached: Type.Boolean({ description: 'The output of an equal invocation was in the cache.' }),
  started_at: nullable(Time),
  finished_at: nullable(Time),
  attempts: Type.Array(AttemptRecordSchema, {
    description: 'The last 20, the oldest first; none of a fan-out, whose items have them.',
  }),
  inputs: nullable(
    anyJsonObject(
      'The inputs with which the tool was or would be called. Null for a fan-out, whose items have them.',
    ),
  ),
  inputs_error: nullable(Type.String({ description: 'Why the inputs cannot be shown.' })),
  output: anyJson(
    'Null when there is none. Of a fan-out that has not succeeded: the outputs of its items, and null for those without one.',
  ),
  error: nullable(ErrorRecordSchema),
  cut: Type.Array(Type.String(), {
    description: 'JSON pointers to what was cut; `whole=true` shows it.',
  }),
} satisfies TProperties;

export const ItemCountsSchema = Type.Object(
  {
    total: Count,
    pending: Count,
    running: Count,
    succeeded: Count,
    failed: Count,
    skipped: Count,
  },
  {
    description: 'Numbers of items by status; null for a task that calls its tool once, or has not begun.',
  },
);

export const TaskRecordSchema = Type.Object(
  {
    ...identity,
    tool: Type.String(),
    wave: count('Index of the wave, from 0.'),
    items: nullable(ItemCountsSchema),
    cached_items: nullable(count('Number of items whose outputs were in the cache.')),
    ...call,
  },
  { title: 'TaskRecord', description: 'One task of a run, with its values.' },
);

export const ItemRecordSchema = Type.Object(
  {
    ...identity,
    item: count('Index in the fan-out, from 0.'),
    value: anyJson('The item itself, which templates read as `{{item}}`.'),
    ...call,
  },
  { title: 'ItemRecord', description: 'One item of a fan-out, with its values.' },
);

const next_cursor = nullable(Type.String({ description: 'Send it as `cursor` to get the next page.' }));

export const TaskPageSchema = Type.Object(
  { tasks: Type.Array(TaskRecordSchema, { description: 'In the order of the waves.' }), next_cursor },
  { title: 'TaskPage' },
);

export const ItemPageSchema = Type.Object(
  { items: Type.Array(ItemRecordSchema, { description: 'In the order of the list.' }), next_cursor },
  { title: 'ItemPage' },
);
