import Type, { type Static } from 'typebox';
import { PIPELINE_ID, TASK_ID } from './schema.js';

/** The definition of a plan, once: types, validation and JSON Schema derive from here (Plan, D44). */

const Keys = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });

export const SubPipelineDefinition = Type.Object(
  {
    id: Type.String({ pattern: TASK_ID, description: 'Unique in the plan.' }),
    goal: Type.Optional(Type.String({ description: 'What it is for.' })),
    reads: Type.Optional(Keys('Blackboard keys that it consumes: it runs after those who store them.')),
    stores: Type.Optional(Keys('Blackboard keys that it writes; no other sub-pipeline writes them.')),
    inputs: Type.Optional(Keys('Inputs of the plan that are handed on to it.')),
    file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Its pipeline file, beside or below the plan file. Default: the sibling ID.yaml.',
      }),
    ),
    pipeline: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Its pipeline, instead of a file.' }),
    ),
  },
  { additionalProperties: false, description: 'A pipeline within a plan.' },
);

export const PlanDefinition = Type.Object(
  {
    id: Type.String({ pattern: PIPELINE_ID, description: 'Names the plan.' }),
    goal: Type.Optional(Type.String({ description: 'What it is for.' })),
    description: Type.Optional(Type.String({ description: 'More words for readers.' })),
    version: Type.Optional(Type.String({ description: 'Free text; quote it, or YAML reads a number.' })),
    inputs: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Default values, handed on to the sub-pipelines that ask for them.',
      }),
    ),
    plan_concurrency: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: 1,
        description: 'How many independent sub-pipelines may run together.',
      }),
    ),
    sub_pipelines: Type.Array(SubPipelineDefinition, {
      minItems: 1,
      description: 'The pipelines; who reads and stores what gives the order.',
    }),
  },
  { additionalProperties: false, description: 'A plan: pipelines that pass values through the blackboard.' },
);

export type SubPipelineDefinition = Static<typeof SubPipelineDefinition>;
export type PlanDefinition = Static<typeof PlanDefinition>;
