import Type from 'typebox';
import { COMPILE_LIMITS } from '../../common/limits.js';
import { RepairStepSchema, TokenCountsSchema } from '../../common/wire/model.js';
import { count } from '../../common/wire/shape.js';
import { optionalField } from '../../definition/schema/definition-fields.js';
import { PipelineSchema, PlanSchema, TenantId } from './request.js';
import { bodySchema, nullableInteger, nullableText } from './fields.js';

export const CompileRequestSchema = bodySchema('CompileRequest', {
  prompt: Type.String({
    minLength: 1,
    maxLength: COMPILE_LIMITS.promptLength,
    description: 'What the pipeline shall do, in plain words.',
  }),
  max_repairs: nullableInteger({
    minimum: 0,
    maximum: COMPILE_LIMITS.mostRepairs,
    default: COMPILE_LIMITS.repairs,
    description: 'How often the model is asked to repair its answer.',
  }),
  model: nullableText({
    maxLength: 200,
    description: '`provider/model`. Default: the model that the server has for this.',
  }),
  tenant_id: optionalField(TenantId),
});

export const CompileResultSchema = Type.Object(
  {
    kind: Type.Enum(['pipeline', 'plan']),
    pipeline: Type.Optional(PipelineSchema),
    plan: Type.Optional(PlanSchema),
    yaml_text: Type.String({ description: 'The definition as the model wrote it.' }),
    attempts: count('Answers of the model: 1 when the first one was valid.'),
    repair_history: Type.Array(RepairStepSchema, { description: 'The answers that were rejected.' }),
    usage: TokenCountsSchema,
    model: Type.String({ description: '`provider/model`.' }),
    warnings: Type.Array(Type.String(), { description: 'What the validator warns of.' }),
  },
  {
    title: 'CompileResult',
    description: 'A valid pipeline or plan, under the key of its kind. Nothing of it has run.',
  },
);
