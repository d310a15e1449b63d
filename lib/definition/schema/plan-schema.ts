import Type, { type Static } from 'typebox';
import { MAX_GOAL_LENGTH, MAX_SUB_PIPELINES } from '../../common/limits.js';
import {
  busyFields,
  keepField,
  labelsField,
  optionalField,
  PIPELINE_ID,
  runTimeoutField,
  priorityField,
  startFields,
  TASK_ID,
} from './definition-fields.js';
import { whenField } from './conditions.js';
import { handlerFields } from './schema.js';

/** The single source of the plan definition: types, validators and JSON Schema derive from it (Plan, D44). */

const Keys = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });

export const SubPipelineDefinition = Type.Object(
  {
    id: Type.String({ pattern: TASK_ID, description: 'Unique in the plan.' }),
    goal: optionalField(
      Type.String({ maxLength: MAX_GOAL_LENGTH, description: 'Purpose of the sub-pipeline.' }),
    ),
    reads: optionalField(
      Keys('Blackboard keys that it reads. It runs after the sub-pipelines that store them.'),
    ),
    stores: optionalField(Keys('Blackboard keys that it stores. No other sub-pipeline stores them.')),
    when: whenField(
      'A condition over {{session.KEY}} and {{pipeline.inputs.KEY}} of the plan, or a list of which each must hold: otherwise the sub-pipeline is skipped.',
    ),
    inputs: optionalField(Keys('Inputs of the plan that are passed to it.')),
    file: optionalField(
      Type.String({
        minLength: 1,
        description: 'Its pipeline file, beside or below the plan file. Default: the sibling ID.yaml.',
      }),
    ),
    pipeline: optionalField(
      Type.Record(Type.String(), Type.Unknown(), { description: 'Its pipeline, instead of a file.' }),
    ),
  },
  { additionalProperties: false, description: 'A pipeline within a plan.' },
);

export const PlanDefinition = Type.Object(
  {
    id: Type.String({ pattern: PIPELINE_ID, description: 'Names the plan.' }),
    goal: optionalField(Type.String({ maxLength: MAX_GOAL_LENGTH, description: 'Purpose of the plan.' })),
    description: optionalField(Type.String({ description: 'Longer description for readers.' })),
    version: optionalField(Type.String({ description: 'Free text; quote it, or YAML reads a number.' })),
    inputs: optionalField(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'Default values, passed to the sub-pipelines that list them.',
      }),
    ),
    plan_concurrency: optionalField(
      Type.Integer({
        minimum: 1,
        default: 1,
        description: 'How many independent sub-pipelines may run together.',
      }),
    ),
    labels: labelsField('Labels of its runs, as in {team: billing}: lists of runs are filtered by them.'),
    ...startFields,
    priority: priorityField,
    ...busyFields,
    keep: keepField,
    timeout: runTimeoutField,
    ...handlerFields,
    sub_pipelines: Type.Array(SubPipelineDefinition, {
      minItems: 1,
      maxItems: MAX_SUB_PIPELINES,
      description: 'The pipelines. The keys they read and store determine the order.',
    }),
  },
  { additionalProperties: false, description: 'A plan: pipelines that pass values through the blackboard.' },
);

export type SubPipelineDefinition = Static<typeof SubPipelineDefinition>;
export type PlanDefinition = Static<typeof PlanDefinition>;
