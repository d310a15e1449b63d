import Type from 'typebox';
import { COMPILE_LIMITS } from '../../common/limits.js';
import type { RepairStep } from '../../compile/result.js';
import { optionalField } from '../../definition/schema/schema.js';
import type { TokenCounts } from '../../models/model.js';
import { PipelineSchema, PlanSchema, TenantId } from './request.js';
import { Cost, Count, count, schemaFor } from './wire.js';

export const CompileRequestSchema = Type.Object(
  {
    prompt: Type.String({
      minLength: 1,
      maxLength: COMPILE_LIMITS.promptLength,
      description: 'What the pipeline shall do, in plain words.',
    }),
    max_repairs: optionalField(
      Type.Integer({
        minimum: 0,
        maximum: COMPILE_LIMITS.mostRepairs,
        default: COMPILE_LIMITS.repairs,
        description: 'How often the model is asked to repair its answer.',
      }),
    ),
    model: optionalField(
      Type.String({
        maxLength: 200,
        description: '`provider/model`. Default: the model that the server has for this.',
      }),
    ),
    tenant_id: optionalField(TenantId),
  },
  { title: 'CompileRequest', additionalProperties: false },
);

export const TokenCountsSchema = schemaFor<TokenCounts>()(
  Type.Object(
    { input_tokens: Count, output_tokens: Count, cost: Type.Optional(Cost) },
    { title: 'TokenCounts', description: 'Tokens of all answers; 0 where the provider does not say.' },
  ),
);

export const RepairStepSchema = schemaFor<RepairStep>()(
  Type.Object(
    {
      yaml: Type.String({ description: 'The definition in the answer, to whose lines the error refers.' }),
      error: Type.String({ description: 'Every error, a sentence in each line.' }),
    },
    { title: 'RepairStep', description: 'An answer that the validator rejected, and why.' },
  ),
);

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
