import Type, { type TProperties } from 'typebox';
import { PlanDefinition, SubPipelineDefinition } from '../../definition/schema/plan-schema.js';
import { givenToRuns, PipelineSchema, TenantId } from './request.js';
import { jsonObject } from './wire.js';

/** A plan as it came: judged by the one validator, as pipelines are. */
const PlanSchema = Type.Unsafe<Record<string, unknown>>({ type: 'object', title: 'Plan' });

/** What the documents show for Plan: a pipeline in it is what a pipeline is everywhere. */
export const PlanDocument = Type.Object(
  {
    ...PlanDefinition.properties,
    sub_pipelines: Type.Array(
      Type.Object(
        {
          ...SubPipelineDefinition.properties,
          file: Type.Optional(
            Type.String({
              minLength: 1,
              description: 'Names its pipeline file where there are files. Here none is read.',
            }),
          ),
          pipeline: Type.Optional(PipelineSchema),
        },
        { additionalProperties: false, description: 'A pipeline within a plan.' },
      ),
      { minItems: 1, description: 'The pipelines; who reads and stores what gives the order.' },
    ),
  },
  { additionalProperties: false, description: 'Pipelines that pass values through the blackboard.' },
);

/** The pipelines that do not stand in the plan. */
const Pipelines = Type.Unsafe<Record<string, string | Record<string, unknown>>>({
  type: 'object',
  additionalProperties: { type: ['object', 'string'] },
  description:
    'Sub-pipeline id to its pipeline, for those that do not stand in the plan: a definition, or its YAML or JSON text. The server reads none of the files that a plan names.',
});

const planProperties = {
  plan: Type.Optional(PlanSchema),
  yaml: Type.Optional(
    Type.String({
      description:
        'The plan as YAML or JSON text, in the place of `plan`: problems then have lines. All texts of a request may have 256 KiB together.',
    }),
  ),
  pipelines: Type.Optional(Pipelines),
  inputs: Type.Optional(
    jsonObject('Values over the inputs of the plan, which hands them on to its sub-pipelines.'),
  ),
} satisfies TProperties;

const runProperties = {
  ...planProperties,
  ...givenToRuns,
  plan_concurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'How many independent sub-pipelines may run together, whatever the plan says.',
    }),
  ),
} satisfies TProperties;

export const PlanRunRequestSchema = Type.Object(runProperties, {
  title: 'PlanRunRequest',
  additionalProperties: false,
});

export const PlanRunAsyncRequestSchema = Type.Object(
  { ...runProperties, tenant_id: Type.Optional(TenantId) },
  { title: 'PlanRunAsyncRequest', additionalProperties: false },
);

/** One of the two: a plan as an object, or as YAML text (D33). */
export const PlanRequestSchema = Type.Object(
  {
    ...planProperties,
    session: Type.Optional(jsonObject('Values that the run will be given as session.')),
  },
  { title: 'PlanRequest', description: 'Either plan or yaml.', additionalProperties: false },
);
