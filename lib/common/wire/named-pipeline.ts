import Type, { type TProperties } from 'typebox';
import { ProblemSchema } from './problem.js';
import { GraphSchema, PlanGraphSchema } from './report.js';
import { RunStatusSchema } from './run.js';
import {
  anyJson,
  anyJsonObject,
  described,
  flag,
  list,
  mapOf,
  nullable,
  RunId,
  text,
  Time,
  titled,
} from './shape.js';

export const LastDueSchema = described(
  'LastDue',
  'The last time at which a schedule was due, and what became of it.',
  {
    due_at: Time,
    run_id: nullable(text('Null when it has started none.')),
    outcome: Type.Enum(['started', 'skipped', 'queued', 'missed', 'failed'], {
      description:
        '`queued` until it starts: its last run is at work, or the queue is full. `skipped`: its last run was at work. `missed`: the server was not. `failed`: no run could be submitted.',
    }),
    reason: Type.Optional(text('Why it has started none, or not in time.')),
    missed: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'How many times were missed, this one included; 100 stands for all above.',
      }),
    ),
  },
);

export const ScheduleSchema = titled('Schedule', {
  cron: list(Type.String(), 'The five fields of cron, or a name such as `@daily`.'),
  timezone: Type.String(),
  overlap: Type.Enum(['skip', 'queue', 'allow']),
  catch_up: Type.Boolean(),
  paused: flag('Its times start nothing, and are not missed.'),
  next_runs: list(Time, 'The next three times; none while it is paused.'),
  last: nullable(LastDueSchema, 'Null before the first time since the schedule is known.'),
});

export const LastRunSchema = titled('LastRun', {
  run_id: RunId,
  status: RunStatusSchema,
  created_at: Time,
  finished_at: nullable(Time),
});

const namedPipeline = {
  id: Type.String(),
  kind: Type.Enum(['pipeline', 'plan']),
  tenant_id: Type.String(),
  file: text('Its path in the folder.'),
  goal: text('As it is written; empty when no version without errors is known.'),
  description: nullable(Type.String()),
  params: mapOf(
    anyJsonObject('`type`, `description`, `default`, `enum` and so on, and `required`.'),
    'The declarations of the params, by name.',
  ),
  inputs: Type.Record(Type.String(), anyJson('The default value.')),
  ok: flag('The file as it is now has no errors.'),
  stale: flag('It has, and its last version without any stays in use.'),
  problems: list(ProblemSchema, 'Errors and warnings about the file as it is now: the first 100.'),
  updated_at: Time,
  schedule: nullable(ScheduleSchema),
  webhook: nullable(
    Type.Object({
      path: Type.String(),
      ready: flag('The server has the secret, with 16 characters or more.'),
    }),
  ),
  last_runs: list(LastRunSchema, 'The last five runs, the newest first.'),
} satisfies TProperties;

export const NamedPipelineSchema = described(
  'NamedPipeline',
  'A pipeline or a plan in the folder of the server.',
  namedPipeline,
);

export const SavedFileSchema = titled('SavedFile', {
  file: text('Its path in the folder.'),
  version: text('Of what was saved.'),
  ok: flag('It has no errors, and is in use.'),
  problems: Type.Array(ProblemSchema),
});

export const NamedPipelinePageSchema = titled('NamedPipelinePage', {
  enabled: flag('The server has such a folder.'),
  writable: flag('Keys with the scope `edit` can save its files.'),
  pausable: flag('They can, and the key has the scopes `edit` and `run`: it can pause and resume schedules.'),
  pipelines: Type.Array(NamedPipelineSchema),
  next_cursor: nullable(text('The `cursor` of the next page; null on the last.')),
});

export const NamedPipelineDetailsSchema = titled('NamedPipelineDetails', {
  ...namedPipeline,
  graph: nullable(
    Type.Union([GraphSchema, PlanGraphSchema], {
      description: 'Of the version in use: tasks, or the sub-pipelines of a plan. Null when there is none.',
    }),
  ),
});

export const DefinitionTextSchema = titled('DefinitionFile', {
  file: text('Its path in the folder.'),
  text: Type.String(),
  version: text('Names this content. Send it as `If-Match` to replace it.'),
});
