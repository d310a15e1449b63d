import Type, { type TProperties } from 'typebox';
import { ProblemSchema } from './problem.js';
import { RunStatusSchema } from './run.js';
import { anyJson, anyJsonObject, nullable, RunId, Time } from './shape.js';

export const LastDueSchema = Type.Object(
  {
    due_at: Time,
    run_id: nullable(Type.String({ description: 'Null when it has started none.' })),
    outcome: Type.Enum(['started', 'skipped', 'queued', 'missed', 'failed'], {
      description:
        '`queued` until it starts: its last run is at work, or the queue is full. `skipped`: its last run was at work. `missed`: the server was not. `failed`: no run could be submitted.',
    }),
    reason: Type.Optional(Type.String({ description: 'Why it has started none, or not in time.' })),
    missed: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'How many times were missed, this one included; 100 stands for all above.',
      }),
    ),
  },
  { title: 'LastDue', description: 'The last time at which a schedule was due, and what became of it.' },
);

export const ScheduleSchema = Type.Object(
  {
    cron: Type.Array(Type.String(), {
      description: 'The five fields of cron, or a name such as `@daily`.',
    }),
    timezone: Type.String(),
    overlap: Type.Enum(['skip', 'queue', 'allow']),
    catch_up: Type.Boolean(),
    paused: Type.Boolean({ description: 'Its times start nothing, and are not missed.' }),
    next_runs: Type.Array(Time, { description: 'The next three times; none while it is paused.' }),
    last: nullable(LastDueSchema, 'Null before the first time since the schedule is known.'),
  },
  { title: 'Schedule' },
);

export const LastRunSchema = Type.Object(
  { run_id: RunId, status: RunStatusSchema, created_at: Time, finished_at: nullable(Time) },
  { title: 'LastRun' },
);

export const namedPipeline = {
  id: Type.String(),
  kind: Type.Enum(['pipeline', 'plan']),
  tenant_id: Type.String(),
  file: Type.String({ description: 'Its path in the folder.' }),
  goal: Type.String({ description: 'As it is written; empty when no version without errors is known.' }),
  description: nullable(Type.String()),
  params: Type.Record(
    Type.String(),
    anyJsonObject('`type`, `description`, `default`, `enum` and so on, and `required`.'),
    { description: 'The declarations of the params, by name.' },
  ),
  inputs: Type.Record(Type.String(), anyJson('The default value.')),
  ok: Type.Boolean({ description: 'The file as it is now has no errors.' }),
  stale: Type.Boolean({ description: 'It has, and its last version without any stays in use.' }),
  problems: Type.Array(ProblemSchema, {
    description: 'Errors and warnings about the file as it is now: the first 100.',
  }),
  updated_at: Time,
  schedule: nullable(ScheduleSchema),
  webhook: nullable(
    Type.Object({
      path: Type.String(),
      ready: Type.Boolean({ description: 'The server has the secret, with 16 characters or more.' }),
    }),
  ),
  last_runs: Type.Array(LastRunSchema, { description: 'The last five runs, the newest first.' }),
} satisfies TProperties;

export const NamedPipelineSchema = Type.Object(namedPipeline, {
  title: 'NamedPipeline',
  description: 'A pipeline or a plan in the folder of the server.',
});

export const SavedFileSchema = Type.Object(
  {
    file: Type.String({ description: 'Its path in the folder.' }),
    version: Type.String({ description: 'Of what was saved.' }),
    ok: Type.Boolean({ description: 'It has no errors, and is in use.' }),
    problems: Type.Array(ProblemSchema),
  },
  { title: 'SavedFile' },
);
