import Type from 'typebox';
import { namedPipeline, NamedPipelineSchema } from '../../common/wire/named-pipeline.js';
import { GraphSchema, PlanGraphSchema } from '../../common/wire/report.js';
import { nullable } from '../../common/wire/shape.js';
import { optionalField } from '../../definition/schema/definition-fields.js';
import { NamedRunFields, TenantId } from './request.js';
import { bodySchema } from './fields.js';

export const NamedPageSchema = Type.Object(
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

export const NamedRunSchema = bodySchema('NamedRunRequest', {
  ...NamedRunFields,
  tenant_id: optionalField(TenantId),
});

export const FileSchema = Type.Object(
  {
    file: Type.String({ description: 'Its path in the folder.' }),
    text: Type.String(),
    version: Type.String({ description: 'Names this content. Send it as `If-Match` to replace it.' }),
  },
  { title: 'DefinitionFile' },
);

export const SaveRequestSchema = bodySchema('SaveRequest', {
  text: Type.String({ description: 'The definition, as YAML or JSON.' }),
  tenant_id: optionalField(TenantId),
});

export const PauseRequestSchema = bodySchema('PauseRequest', { tenant_id: optionalField(TenantId) });

export const TestRequestSchema = bodySchema('TestRequest', {
  text: optionalField(
    Type.String({ description: 'The definition. Default: the file as it is on the disk.' }),
  ),
  tests: optionalField(
    Type.String({ description: 'The file of tests. Default: the one beside the definition.' }),
  ),
  tenant_id: optionalField(TenantId),
});
