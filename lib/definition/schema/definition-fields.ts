import Type, { type Static, type TSchema } from 'typebox';
import { DURATION_TEXT, type Duration, UNIT_MS } from '../../common/duration.js';
import {
  CONCURRENCY_LIMITS,
  KEEP_LIMITS,
  LABEL_LIMITS,
  MAX_RUN_TIMEOUT_DAYS,
  PRIORITY_LIMITS,
} from '../../common/limits.js';
import type { Labels } from '../../common/wire/labels.js';
import { LABEL_NAME, LABEL_VALUE } from '../run-fields/labels.js';

/** The fields that pipelines and plans share, and how a field is declared. */

/**
 * A field that may be left out. Null means the same (D53): people comment out the lines below a key, and generated
 * clients send nulls. Such fields are removed before a definition or a request is used, so the type has no null.
 */
export function optionalField<S extends TSchema>(schema: S) {
  const { type } = schema as { readonly type?: string };
  return Type.Optional(Type.Unsafe<Static<S>>({ ...schema, type: [type, 'null'] }));
}

/** A number of seconds, or a text such as `5m` (D82). What a definition says is kept as it was written. */
export function durationSchema(description: string, least: 'zero' | 'above zero') {
  const bounds = least === 'zero' ? { minimum: 0 } : { exclusiveMinimum: 0 };
  return Type.Unsafe<Duration>({
    type: ['number', 'string', 'null'],
    ...bounds,
    ...DURATION_TEXT,
    description,
  });
}

/** Task ids contain no dots, because templates reference them (D1). */
export const TASK_ID = '^[A-Za-z_][A-Za-z0-9_-]{0,127}$';

/** Ids of pipelines and plans may begin with a digit and contain dots: recorded and dated files are named so (D1). */
export const PIPELINE_ID = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$';

/** How many times of start one definition may have: each is checked, and computed, on its own. */
const MAX_SCHEDULES = 10;

const pointers = (description: string) =>
  optionalField(Type.Record(Type.String(), Type.String(), { description }));

export const WebhookDefinition = Type.Object(
  {
    secret: Type.String({ description: 'Name of the secret that a request must prove to know.' }),
    params: pointers(
      'Params, each with the JSON Pointer of its value in the body. Default: fields of the body that are params. Not in a plan.',
    ),
    inputs: pointers('Inputs, each with the JSON Pointer of its value in the body; "" is the whole body.'),
    replay: Type.Optional(
      Type.Unsafe<'allow' | 'refuse'>({
        enum: ['allow', 'refuse', null],
        default: 'allow',
        description:
          'Whether a signature of the body alone may come again, with another id of the delivery: "refuse" responds with the first run.',
      }),
    ),
  },
  { additionalProperties: false, description: 'Lets a request from elsewhere start it.' },
);

/** The fields that make a server start a definition of its folder by itself (D70, D71); anything else ignores them. */
export const startFields = {
  schedule: Type.Optional(
    Type.Unsafe<string | readonly string[]>({
      type: ['string', 'array', 'null'],
      items: { type: 'string', maxLength: 200 },
      minItems: 1,
      maxItems: MAX_SCHEDULES,
      maxLength: 200,
      description:
        'When a server that has the file in its folder starts it: the five fields of cron, as in "0 6 * * 1-5", or @daily and the like; or a list of them.',
    }),
  ),
  timezone: optionalField(
    Type.String({
      maxLength: 100,
      default: 'UTC',
      description: 'Time zone of the schedule, as in Europe/Berlin.',
    }),
  ),
  overlap: Type.Optional(
    Type.Unsafe<'skip' | 'queue' | 'allow'>({
      enum: ['skip', 'queue', 'allow', null],
      default: 'skip',
      description: 'What happens when a time of the schedule comes while its last run is at work.',
    }),
  ),
  catch_up: optionalField(
    Type.Boolean({
      default: false,
      description: 'Whether one run makes up for missed times of the schedule.',
    }),
  ),
  paused: optionalField(
    Type.Boolean({
      default: false,
      description: 'Whether the schedule rests: its times start nothing, and none of them is missed.',
    }),
  ),
  webhook: Type.Optional(
    Type.Unsafe<Static<typeof WebhookDefinition>>({ ...WebhookDefinition, type: ['object', 'null'] }),
  ),
};

/** Labels of runs, in a definition or a request (D76). */
export function labelsField(description: string) {
  const { most, valueLength } = LABEL_LIMITS;
  const value = { type: 'string', maxLength: valueLength, pattern: LABEL_VALUE };
  return optionalField(
    Type.Unsafe<Labels>({
      type: 'object',
      patternProperties: { [LABEL_NAME]: value },
      additionalProperties: false,
      maxProperties: most,
      description,
    }),
  );
}

export type KeepDefinition = Duration | { readonly days?: number; readonly runs?: number };

/** How long a server with a store keeps settled runs of a definition (D74); anything else ignores it. */
export const keepField = Type.Optional(
  Type.Unsafe<KeepDefinition>({
    type: ['number', 'string', 'object', 'null'],
    exclusiveMinimum: 0,
    maximum: (KEEP_LIMITS.days * UNIT_MS.d) / 1000,
    ...DURATION_TEXT,
    properties: {
      days: {
        type: 'number',
        exclusiveMinimum: 0,
        maximum: KEEP_LIMITS.days,
        description: 'Days for which a settled run is kept.',
      },
      runs: {
        type: 'integer',
        minimum: 0,
        maximum: KEEP_LIMITS.runs,
        description: 'How many settled runs are kept, the newest.',
      },
    },
    additionalProperties: false,
    description:
      'How long a server with a store keeps settled runs, in seconds or as in 7d, instead of SERVICE_RUN_TTL; or {days, runs}.',
  }),
);

/** How long a run may take as a whole (D81). */
export const runTimeoutField = Type.Optional(
  Type.Unsafe<Duration>({
    type: ['number', 'string', 'null'],
    exclusiveMinimum: 0,
    maximum: (MAX_RUN_TIMEOUT_DAYS * UNIT_MS.d) / 1000,
    ...DURATION_TEXT,
    description:
      'Limit for the whole run from its start, in seconds or as in 1h30m; time at breakpoints does not count. The run then fails as run_timeout.',
  }),
);

/** The place of the runs of a definition among those of their tenant that wait for a slot of a server (D81). */
export const priorityField = optionalField(
  Type.Integer({
    minimum: PRIORITY_LIMITS.lowest,
    maximum: PRIORITY_LIMITS.highest,
    default: 0,
    description:
      'Which queued runs of a tenant begin first on a server: those with the higher number; of equal ones, those that came first.',
  }),
);

/** How many runs of a definition of the folder of a server are at work at once (D81); anything else ignores them. */
export const busyFields = {
  max_running: optionalField(
    Type.Integer({
      minimum: 1,
      maximum: CONCURRENCY_LIMITS.running,
      description:
        'How many of its runs are at work at once on a server that has the file in its folder; more wait.',
    }),
  ),
  on_busy: Type.Optional(
    Type.Unsafe<'queue' | 'skip' | 'cancel_running'>({
      enum: ['queue', 'skip', 'cancel_running', null],
      default: 'queue',
      description:
        'What happens to a run beyond max_running. queue: it waits. skip: it is refused. cancel_running: those at work are cancelled.',
    }),
  ),
};
