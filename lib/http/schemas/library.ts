import Type, { type TProperties } from 'typebox';
import type { SavedFile } from '../../library/save-file.js';
import type {
  LastDue,
  LastRun,
  NamedPage,
  NamedPipeline,
  ShownSchedule,
} from '../../library/named-pipeline.js';
import { optionalField } from '../../definition/schema/schema.js';
import { GraphSchema, PlanGraphSchema, ProblemSchema } from './report.js';
import { NamedRunFields, TenantId } from './request.js';
import { RunStatusSchema } from './run.js';
import { anyJson, anyJsonObject, nullable, RunId, schemaFor, Time } from './wire.js';

const LastDueSchema = schemaFor<LastDue>()(
  Type.Object(
    {
      due_at: Time,
      run_id: nullable(Type.String({ description: 'Null when it has started none.' })),
      outcome: Type.Enum(['started', 'skipped', 'queued', 'missed', 'failed'], {
        description:
          '`queued` until it starts: its last run is at work, or the queue is full. `skipped`: its last run was at work. `missed`: the server was not. `failed`: no run could be submitted.',
      }),
      reason: Type.Optional(Type.String({ description: 'Why it has started none, or not in time.' })),
      missed: Type.Optional(
        Type.Integer({ minimum: 1, description: 'How many times were missed; 100 stands for all above.' }),
      ),
    },
    { title: 'LastDue', description: 'The last time at which a schedule was due, and what became of it.' },
  ),
);

const ScheduleSchema = schemaFor<ShownSchedule>()(
  Type.Object(
    {
      cron: Type.Array(Type.String(), {
        description: 'The five fields of cron, or a name such as `@daily`.',
      }),
      timezone: Type.String(),
      overlap: Type.Enum(['skip', 'queue', 'allow']),
      catch_up: Type.Boolean(),
      paused: Type.Boolean({ description: 'Its times start nothing, and are not missed.' }),
      next_runs: Type.Array(Time, { description: 'The next three times; none while it is paused.' }),
      last: nullable(LastDueSchema),
    },
    { title: 'Schedule' },
  ),
);

const LastRunSchema = schemaFor<LastRun>()(
  Type.Object(
    { run_id: RunId, status: RunStatusSchema, created_at: Time, finished_at: nullable(Time) },
    { title: 'LastRun' },
  ),
);

const namedPipeline = {
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

const NamedPipelineSchema = schemaFor<NamedPipeline>()(
  Type.Object(namedPipeline, {
    title: 'NamedPipeline',
    description: 'A pipeline or a plan in the folder of the server.',
  }),
);

export const NamedPageSchema = schemaFor<
  NamedPage & { readonly enabled: boolean; readonly writable: boolean; readonly pausable: boolean }
>()(
  Type.Object(
    {
      enabled: Type.Boolean({ description: 'The server has such a folder.' }),
      writable: Type.Boolean({ description: 'Keys with the scope `edit` can save its files.' }),
      pausable: Type.Boolean({
        description:
          'They can, and the key has the scopes `edit` and `run`: it can pause and resume schedules.',
      }),
      pipelines: Type.Array(NamedPipelineSchema),
      next_cursor: nullable(Type.String({ description: 'The `cursor` of the next page; null on the last.' })),
    },
    { title: 'NamedPipelinePage' },
  ),
);

export const NamedDetailsSchema = Type.Object(
  {
    ...namedPipeline,
    graph: nullable(
      Type.Union([GraphSchema, PlanGraphSchema], {
        description: 'Of the version in use: tasks, or the sub-pipelines of a plan. Null when there is none.',
      }),
    ),
  },
  { title: 'NamedPipelineDetails' },
);

export const NamedRunSchema = Type.Object(
  { ...NamedRunFields, tenant_id: optionalField(TenantId) },
  { title: 'NamedRunRequest', additionalProperties: false },
);

export const FileSchema = Type.Object(
  {
    file: Type.String({ description: 'Its path in the folder.' }),
    text: Type.String(),
    version: Type.String({ description: 'Names this content. Send it as `If-Match` to replace it.' }),
  },
  { title: 'DefinitionFile' },
);

export const SavedFileSchema = schemaFor<SavedFile>()(
  Type.Object(
    {
      file: Type.String({ description: 'Its path in the folder.' }),
      version: Type.String({ description: 'Of what was saved.' }),
      ok: Type.Boolean({ description: 'It has no errors, and is in use.' }),
      problems: Type.Array(ProblemSchema),
    },
    { title: 'SavedFile' },
  ),
);

export const SaveRequestSchema = Type.Object(
  {
    text: Type.String({ description: 'The definition, as YAML or JSON.' }),
    tenant_id: optionalField(TenantId),
  },
  { title: 'SaveRequest', additionalProperties: false },
);

export const PauseRequestSchema = Type.Object(
  { tenant_id: optionalField(TenantId) },
  { title: 'PauseRequest', additionalProperties: false },
);
