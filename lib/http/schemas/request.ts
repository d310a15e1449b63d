import Type, { type TProperties } from 'typebox';
import type { ExecutionOptions } from '../../execution/run-inputs.js';
import { TENANT_ID } from '../auth/caller.js';
import { jsonObject } from './wire.js';

/**
 * A definition as it came. It is judged by the one validator, whose problems say more than a schema can; the
 * documents show what is asked for in its place (openapi.ts).
 */
export const PipelineSchema = Type.Unsafe<Record<string, unknown>>({ type: 'object', title: 'Pipeline' });

/** Judged by the run itself, for the same reason. */
const ExecutionOptionsSchema = Type.Unsafe<ExecutionOptions>({
  type: 'object',
  title: 'ExecutionOptions',
});

/** What the documents show for ExecutionOptions. */
export const ExecutionOptionsDocument = Type.Object(
  {
    per_task_timeout: Type.Optional(
      Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
        default: null,
        description: 'Seconds that one attempt of a tool may take; null is no limit.',
      }),
    ),
    retry_base_delay: Type.Optional(
      Type.Number({
        minimum: 0,
        default: 0.5,
        description: 'Seconds before the first retry; doubled for each further one.',
      }),
    ),
    max_retry_delay: Type.Optional(
      Type.Number({ minimum: 0, default: 4, description: 'Seconds that no retry delay exceeds.' }),
    ),
    backoff_jitter: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0,
        description: 'Random fraction by which a delay varies.',
      }),
    ),
    fan_out_concurrency: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        default: null,
        description: 'Items of one fan-out in flight at once; null is unlimited.',
      }),
    ),
  },
  { additionalProperties: false, description: 'How the run behaves.' },
);

export const TenantId = Type.String({
  pattern: TENANT_ID,
  description: 'Namespace on the blackboard, and who may see the run.',
});

const YAML_TEXT = Type.String({
  description:
    'The definition as YAML or JSON text, of up to 256 KiB, in the place of `pipeline`: problems then have lines.',
});

/** What every run may be given, whatever is run. */
export const givenToRuns = {
  session: Type.Optional(jsonObject('Values readable as {{session.KEY}} from the start.')),
  options: Type.Optional(ExecutionOptionsSchema),
  collect_events: Type.Optional(
    Type.Boolean({ default: false, description: 'Keep the start, finish and fail events of every task.' }),
  ),
} satisfies TProperties;

const runProperties = {
  pipeline: Type.Optional(PipelineSchema),
  yaml: Type.Optional(YAML_TEXT),
  params: Type.Optional(jsonObject('Values of the typed params; defaults apply to the rest.')),
  inputs: Type.Optional(jsonObject('Values for pipeline.inputs, over its defaults.')),
  ...givenToRuns,
} satisfies TProperties;

export const RunRequestSchema = Type.Object(runProperties, {
  title: 'RunRequest',
  additionalProperties: false,
});

export const RunAsyncRequestSchema = Type.Object(
  { ...runProperties, tenant_id: Type.Optional(TenantId) },
  { title: 'RunAsyncRequest', additionalProperties: false },
);

/** One of the two: a definition as an object, or as YAML text (D33). */
export const DefinitionRequestSchema = Type.Object(
  {
    pipeline: Type.Optional(PipelineSchema),
    yaml: Type.Optional(
      Type.String({ description: 'The definition as YAML or JSON text: problems then have lines.' }),
    ),
    inputs: Type.Optional(jsonObject('Values that the run will be given for pipeline.inputs.')),
    session: Type.Optional(jsonObject('Values that the run will be given as session.')),
  },
  { title: 'DefinitionRequest', description: 'Either pipeline or yaml.', additionalProperties: false },
);

export const CancelRequestSchema = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({ default: false, description: 'Also tell the tools in flight to stop.' }),
    ),
  },
  { title: 'CancelRequest', additionalProperties: false },
);

export const RerunRequestSchema = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        description:
          '`failed` reuses the outputs of every task that succeeded; the id of a task, or of a sub-pipeline when the run is of a plan, runs that again and what depends on it. Without it everything runs again.',
      }),
    ),
  },
  { title: 'RerunRequest', additionalProperties: false },
);

/** Any text: an id that no run can have is of no run, and not a bad request (Errors). */
export const RunIdParams = Type.Object({
  run_id: Type.String({ description: 'Of the run: a UUIDv7 in lower case.' }),
});
