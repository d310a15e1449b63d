import Type, { type TProperties } from 'typebox';
import { DURATION_TEXT, type Duration } from '../../common/duration.js';
import { PlanDefinition, SubPipelineDefinition } from '../../definition/schema/plan-schema.js';
import { labelsField, optionalField } from '../../definition/schema/definition-fields.js';
import type { ExecutionOptions } from '../../execution/prepare/run-inputs.js';
import { TENANT_ID_PATTERN } from '../auth/authenticate.js';
import { anyJsonObject } from '../../common/wire/shape.js';
import {
  bodySchema,
  closedObject,
  nullableBoolean,
  nullableInteger,
  nullableText,
  optionalBoolean,
  optionalInteger,
  optionalNumber,
  optionalText,
} from './fields.js';

/**
 * Any value: definitions are validated by `lib/pipelines`, whose problems are more precise than a schema's (D56). The
 * OpenAPI document shows the real schema instead (openapi/components.ts).
 */
export const PipelineSchema = Type.Unsafe<unknown>({ title: 'Pipeline' });

/** Any object, because the run validates its options. */
const ExecutionOptionsSchema = Type.Unsafe<ExecutionOptions>({ type: 'object', title: 'ExecutionOptions' });

function optionalDelay(seconds: number, description: string) {
  const bounds = { minimum: 0, ...DURATION_TEXT };
  return Type.Optional(
    Type.Unsafe<Duration>({ type: ['number', 'string'], ...bounds, default: seconds, description }),
  );
}

/** The schema of ExecutionOptions in the OpenAPI document. */
export const ExecutionOptionsDocument = closedObject(
  {
    per_task_timeout: Type.Optional(
      Type.Unsafe<Duration | null>({
        type: ['number', 'string', 'null'],
        exclusiveMinimum: 0,
        ...DURATION_TEXT,
        default: null,
        description: 'Time limit of one attempt, in seconds or as in 1m30s; null for no limit.',
      }),
    ),
    retry_base_delay: optionalDelay(
      0.5,
      'Delay before the first retry, in seconds or as in 1m30s; doubled for each further retry.',
    ),
    max_retry_delay: optionalDelay(4, 'Maximum delay before a retry, in seconds or as in 1m30s.'),
    backoff_jitter: optionalNumber({
      minimum: 0,
      maximum: 1,
      default: 0,
      description: 'Random variation of the delay, as a fraction of it.',
    }),
    fan_out_concurrency: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        default: null,
        description: 'Maximum number of items of one fan-out in flight; null for no limit.',
      }),
    ),
    cache: optionalBoolean({
      default: true,
      description: 'False calls every tool, also of tasks with `cache`.',
    }),
  },
  {
    description:
      'Options of the run. Those of a task come first: `timeout`, `retry_delay`, `max_retry_delay`, `fan_out_concurrency`.',
  },
);

export const TenantId = Type.String({
  pattern: TENANT_ID_PATTERN,
  description: 'Namespace of the blackboard. Only keys of this tenant can see the run.',
});

const YAML_TEXT = Type.String({
  description:
    'The definition as YAML or JSON text of at most 256 KiB, instead of `pipeline`. Problems then have line numbers.',
});

const BreakpointsSchema = closedObject(
  {
    before: optionalField(
      Type.Array(Type.String({ maxLength: 257 }), {
        maxItems: 100,
        description: 'Ids of tasks before whose wave the run pauses; of a plan, `sub_pipeline/task`.',
      }),
    ),
    on_failure: nullableBoolean({
      default: false,
      description: 'Pause when a task has failed and its wave has settled, before the run fails.',
    }),
  },
  {
    title: 'Breakpoints',
    description:
      'Where the run pauses, to be looked at, until `continue` or `step`. A paused run holds its place among the running ones.',
  },
);

/** Fields of every request that runs a pipeline or a plan. */
const runFields = {
  session: optionalField(anyJsonObject('Initial values of the session, read as `{{session.KEY}}`.')),
  options: optionalField(ExecutionOptionsSchema),
  breakpoints: optionalField(BreakpointsSchema),
  labels: labelsField(
    'Labels of the run, as in `{"team": "billing"}`: they win over those of the definition, name by name. Lists of runs are filtered by them.',
  ),
  collect_events: nullableBoolean({
    default: false,
    description: 'Return the start, finish and fail events of every task with the result.',
  }),
} satisfies TProperties;

const pipelineRunFields = {
  pipeline: Type.Optional(PipelineSchema),
  yaml: optionalField(YAML_TEXT),
  params: optionalField(anyJsonObject('Values of the params; the others have their defaults.')),
  inputs: optionalField(anyJsonObject('Values that override the inputs of the pipeline.')),
  ...runFields,
} satisfies TProperties;

export const RunRequestSchema = bodySchema('RunRequest', pipelineRunFields);

export const RunAsyncRequestSchema = bodySchema('RunAsyncRequest', {
  ...pipelineRunFields,
  tenant_id: optionalField(TenantId),
});

/** A pipeline as an object or as YAML text (D33), with the other fields of a run: the same body fits both (D56). */
export const DefinitionRequestSchema = closedObject(
  { ...pipelineRunFields, tenant_id: optionalField(TenantId) },
  {
    title: 'DefinitionRequest',
    description:
      'Either `pipeline` or `yaml` is required. `inputs` and `session` are considered; the fields that only a run uses are accepted.',
  },
);

export const CancelRequestSchema = bodySchema('CancelRequest', {
  force: nullableBoolean({ default: false, description: 'Also abort the tools in flight.' }),
});

/** The query parameters of every list that comes in pages. @param limitDescription what `limit` counts */
export function pageFields(limitDescription: string) {
  return {
    limit: optionalInteger({ minimum: 1, maximum: 500, default: 50, description: limitDescription }),
    cursor: optionalText({ maxLength: 32, description: 'The `next_cursor` of the previous page.' }),
  };
}

/** The query of routes that check a definition. */
export const PATHS_QUERY = closedObject({
  paths: optionalBoolean({
    default: false,
    description: 'Add `paths`: what templates of the definition can read, for editors.',
  }),
});

/** The query parameter of routes that cut large values. */
export const WholeQuery = {
  whole: optionalBoolean({
    default: false,
    description: 'Show values whole, however large they are. Otherwise `cut` lists what was cut.',
  }),
};

/** Any text: the response to a malformed id is `run_not_found`, not `invalid_request` (Errors). */
export const RunIdParams = Type.Object({
  run_id: Type.String({ description: 'The run id, a UUIDv7 in lower case.' }),
});

/** Any value: plans are validated by `lib/plans`. */
export const PlanSchema = Type.Unsafe<unknown>({ title: 'Plan' });

/** The schema of Plan in the OpenAPI document, in which its pipelines refer to the schema of Pipeline. */
export const PlanDocument = closedObject(
  {
    ...PlanDefinition.properties,
    sub_pipelines: Type.Array(
      closedObject(
        {
          ...SubPipelineDefinition.properties,
          file: optionalText({
            minLength: 1,
            description: 'The pipeline file. The server does not read it; send the pipeline instead.',
          }),
          pipeline: Type.Optional(PipelineSchema),
        },
        { description: 'A pipeline within a plan.' },
      ),
      { minItems: 1, description: 'The pipelines. The keys that they read and store determine their order.' },
    ),
  },
  { description: 'Pipelines that pass values through the blackboard.' },
);

/** The pipelines that are not part of the plan. */
const PipelinesSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description:
    'The pipelines that are not part of the plan, by sub-pipeline id: each a definition, or its YAML or JSON text. The server does not read the files that a plan names.',
});

const planRunFields = {
  plan: Type.Optional(PlanSchema),
  yaml: nullableText({
    description:
      'The plan as YAML or JSON text, instead of `plan`. Problems then have line numbers. All texts of a request together are limited to 256 KiB.',
  }),
  pipelines: optionalField(PipelinesSchema),
  beside: nullableText({
    maxLength: 128,
    description:
      'The id of a plan of the folder of the server: the pipelines that neither the plan nor `pipelines` has are those that its file would name, as the server has them in use.',
  }),
  inputs: optionalField(
    anyJsonObject('Values that override the inputs of the plan, which passes them to its sub-pipelines.'),
  ),
  ...runFields,
  plan_concurrency: nullableInteger({
    minimum: 1,
    description: 'Maximum number of sub-pipelines that run at once; overrides the plan.',
  }),
} satisfies TProperties;

export const PlanRunRequestSchema = bodySchema('PlanRunRequest', planRunFields);

export const PlanRunAsyncRequestSchema = bodySchema('PlanRunAsyncRequest', {
  ...planRunFields,
  tenant_id: optionalField(TenantId),
});

/** A run of a pipeline or a plan that the server has in its folder (D69). */
export const NamedRunFields = {
  params: optionalField(anyJsonObject('Values of the params of a pipeline; the others have their defaults.')),
  inputs: optionalField(anyJsonObject('Values that override its inputs.')),
  ...runFields,
  plan_concurrency: planRunFields.plan_concurrency,
} satisfies TProperties;

/** A plan as an object or as YAML text (D33), with the other fields of a run (D56). */
export const PlanRequestSchema = closedObject(
  { ...planRunFields, tenant_id: optionalField(TenantId) },
  {
    title: 'PlanRequest',
    description:
      'Either `plan` or `yaml` is required. `pipelines`, `inputs` and `session` are considered; the fields that only a run uses are accepted.',
  },
);

/** A rerun, with whatever is to be different (D60). */
export const RerunRequestSchema = bodySchema('RerunRequest', {
  from: nullableText({
    maxLength: 1000,
    description:
      '`failed` reuses every task that has succeeded, and every item of a fan-out. The id of a task or, for a plan, of a sub-pipeline, or `SUB_PIPELINE/TASK`, runs it and everything that depends on it again; `TASK[22]` or `TASK[3,7-9]` only these items of a fan-out, and what depends on the task. By default everything runs again; with other fields `failed` is the default. What has changed runs in any case.',
  }),
  pipeline: Type.Optional(PipelineSchema),
  yaml: nullableText({
    description: 'The changed pipeline or plan as YAML or JSON text of at most 256 KiB.',
  }),
  plan: Type.Optional(PlanSchema),
  pipelines: optionalField(PipelinesSchema),
  params: optionalField(anyJsonObject('Params that change. The others keep the values that were sent.')),
  inputs: optionalField(anyJsonObject('Inputs that change. The others keep the values that were sent.')),
  session: optionalField(anyJsonObject('Session values that change.')),
  options: optionalField(ExecutionOptionsSchema),
  labels: labelsField('Labels that change. The others keep the values that were sent.'),
  plan_concurrency: planRunFields.plan_concurrency,
});
