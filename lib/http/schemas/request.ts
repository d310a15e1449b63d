import Type, { type TProperties } from 'typebox';
import { PlanDefinition, SubPipelineDefinition } from '../../definition/schema/plan-schema.js';
import type { ExecutionOptions } from '../../execution/run-inputs.js';
import { TENANT_ID_PATTERN } from '../auth/authenticate.js';
import { anyJsonObject } from './wire.js';

/**
 * Any object: definitions are validated by `lib/pipelines`, whose problems are more precise than a schema's. The
 * OpenAPI document shows the real schema instead (openapi/components.ts).
 */
const PipelineSchema = Type.Unsafe<Record<string, unknown>>({ type: 'object', title: 'Pipeline' });

/** Any object, for the same reason: the run validates its options. */
const ExecutionOptionsSchema = Type.Unsafe<ExecutionOptions>({
  type: 'object',
  title: 'ExecutionOptions',
});

/** The schema of ExecutionOptions in the OpenAPI document. */
export const ExecutionOptionsDocument = Type.Object(
  {
    per_task_timeout: Type.Optional(
      Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
        default: null,
        description: 'Time limit of one attempt, in seconds; null for no limit.',
      }),
    ),
    retry_base_delay: Type.Optional(
      Type.Number({
        minimum: 0,
        default: 0.5,
        description: 'Seconds before the first retry, doubled for each further retry.',
      }),
    ),
    max_retry_delay: Type.Optional(
      Type.Number({ minimum: 0, default: 4, description: 'Maximum delay before a retry, in seconds.' }),
    ),
    backoff_jitter: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0,
        description: 'Random variation of the delay, as a fraction of it.',
      }),
    ),
    fan_out_concurrency: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        default: null,
        description: 'Maximum number of items of one fan-out in flight; null for no limit.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Options of the run.' },
);

export const TenantId = Type.String({
  pattern: TENANT_ID_PATTERN,
  description: 'Namespace of the blackboard. Only keys of this tenant can see the run.',
});

const YAML_TEXT = Type.String({
  description:
    'The definition as YAML or JSON text of at most 256 KiB, instead of `pipeline`. Problems then have line numbers.',
});

/** Fields of every request that runs a pipeline or a plan. */
const runFields = {
  session: Type.Optional(anyJsonObject('Initial values of the session, read as `{{session.KEY}}`.')),
  options: Type.Optional(ExecutionOptionsSchema),
  collect_events: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Return the start, finish and fail events of every task with the result.',
    }),
  ),
} satisfies TProperties;

const pipelineRunFields = {
  pipeline: Type.Optional(PipelineSchema),
  yaml: Type.Optional(YAML_TEXT),
  params: Type.Optional(anyJsonObject('Values of the params; the others have their defaults.')),
  inputs: Type.Optional(anyJsonObject('Values that override the inputs of the pipeline.')),
  ...runFields,
} satisfies TProperties;

export const RunRequestSchema = Type.Object(pipelineRunFields, {
  title: 'RunRequest',
  additionalProperties: false,
});

export const RunAsyncRequestSchema = Type.Object(
  { ...pipelineRunFields, tenant_id: Type.Optional(TenantId) },
  { title: 'RunAsyncRequest', additionalProperties: false },
);

/** A pipeline as an object or as YAML text (D33). */
export const DefinitionRequestSchema = Type.Object(
  {
    pipeline: Type.Optional(PipelineSchema),
    yaml: Type.Optional(
      Type.String({ description: 'The definition as YAML or JSON text. Problems then have line numbers.' }),
    ),
    inputs: Type.Optional(anyJsonObject('Values that will override the inputs of the pipeline.')),
    session: Type.Optional(anyJsonObject('Initial values of the session.')),
  },
  {
    title: 'DefinitionRequest',
    description: 'Either `pipeline` or `yaml` is required.',
    additionalProperties: false,
  },
);

export const CancelRequestSchema = Type.Object(
  {
    force: Type.Optional(Type.Boolean({ default: false, description: 'Also abort the tools in flight.' })),
  },
  { title: 'CancelRequest', additionalProperties: false },
);

export const RerunRequestSchema = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        maxLength: 128,
        description:
          '`failed` reuses the outputs of every task that has succeeded. The id of a task or, for a plan, of a sub-pipeline runs it and everything that depends on it again. By default everything runs again.',
      }),
    ),
  },
  { title: 'RerunRequest', additionalProperties: false },
);

/** Any text: the response to a malformed id is `run_not_found`, not `invalid_request` (Errors). */
export const RunIdParams = Type.Object({
  run_id: Type.String({ description: 'The run id, a UUIDv7 in lower case.' }),
});

/** Any object: plans are validated by `lib/plans`. */
const PlanSchema = Type.Unsafe<Record<string, unknown>>({ type: 'object', title: 'Plan' });

/** The schema of Plan in the OpenAPI document, in which its pipelines refer to the schema of Pipeline. */
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
              description: 'The pipeline file. The server does not read it; send the pipeline instead.',
            }),
          ),
          pipeline: Type.Optional(PipelineSchema),
        },
        { additionalProperties: false, description: 'A pipeline within a plan.' },
      ),
      { minItems: 1, description: 'The pipelines. The keys that they read and store determine their order.' },
    ),
  },
  { additionalProperties: false, description: 'Pipelines that pass values through the blackboard.' },
);

/** The pipelines that are not part of the plan. */
const PipelinesSchema = Type.Unsafe<Record<string, string | Record<string, unknown>>>({
  type: 'object',
  additionalProperties: { type: ['object', 'string'] },
  description:
    'The pipelines that are not part of the plan, by sub-pipeline id: each a definition, or its YAML or JSON text. The server does not read the files that a plan names.',
});

const planFields = {
  plan: Type.Optional(PlanSchema),
  yaml: Type.Optional(
    Type.String({
      description:
        'The plan as YAML or JSON text, instead of `plan`. Problems then have line numbers. All texts of a request together are limited to 256 KiB.',
    }),
  ),
  pipelines: Type.Optional(PipelinesSchema),
  inputs: Type.Optional(
    anyJsonObject('Values that override the inputs of the plan, which passes them to its sub-pipelines.'),
  ),
} satisfies TProperties;

const planRunFields = {
  ...planFields,
  ...runFields,
  plan_concurrency: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Maximum number of sub-pipelines that run at once; overrides the plan.',
    }),
  ),
} satisfies TProperties;

export const PlanRunRequestSchema = Type.Object(planRunFields, {
  title: 'PlanRunRequest',
  additionalProperties: false,
});

export const PlanRunAsyncRequestSchema = Type.Object(
  { ...planRunFields, tenant_id: Type.Optional(TenantId) },
  { title: 'PlanRunAsyncRequest', additionalProperties: false },
);

/** A plan as an object or as YAML text (D33). */
export const PlanRequestSchema = Type.Object(
  {
    ...planFields,
    session: Type.Optional(anyJsonObject('Initial values of the session.')),
  },
  { title: 'PlanRequest', description: 'Either `plan` or `yaml` is required.', additionalProperties: false },
);
