import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { TaskFailedError, WavetrainError } from '../../errors.js';
import type { RunInputs } from '../../execution/run-inputs.js';
import { isObject } from '../../json.js';
import type { KnownPipelines } from '../../pipelines/known-pipelines.js';
import type { RunRecord } from '../../runs/record.js';
import { acceptedAnswer } from '../accepted.js';
import { tenantFor } from '../caller.js';
import { type GivenDefinition, pipelineOf } from '../definition.js';
import { errorAnswer } from '../error-answer.js';
import { type Answer, type Route, route } from '../route.js';
import { RunAsyncRequestSchema, RunRequestSchema } from '../schemas/request.js';
import { AcceptedSchema, RunResultSchema } from '../schemas/run.js';
import type { HttpServices } from '../services.js';
import { EXAMPLE_PIPELINE } from './example.js';

/** Refusals before there is a run. */
const REFUSALS = [
  'invalid_definition',
  'invalid_params',
  'invalid_options',
  'invalid_inputs',
  'queue_full',
  'shutting_down',
] as const;

const EXAMPLES = {
  hello: { pipeline: EXAMPLE_PIPELINE, params: { name: 'Ada' } },
};

const IDEMPOTENCY = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes a repeated submission safe: the same key with the same body (keys of JSON objects in any order) answers the run that there is, for as long as it is kept; with another body it is refused.',
    }),
  ),
});

/** The two ways to start a run. */
export function submissionRoutes(services: HttpServices): Route[] {
  return [synchronous(services), asynchronous(services)];
}

function synchronous({ registry, pipelines, isReady }: HttpServices): Route {
  return route({
    method: 'POST',
    path: '/pipelines/run',
    id: 'runPipeline',
    tag: 'Runs',
    summary: 'Run a pipeline and wait for its result',
    description:
      'The connection stays open until the run has settled. The run goes on when the client leaves; then it stands in `GET /pipelines/runs` with its result. A run whose result was delivered is forgotten; one that failed or was cancelled is kept, to be looked at and rerun.',
    access: 'run',
    body: { schema: RunRequestSchema, yaml: true, examples: EXAMPLES },
    answers: {
      200: {
        description: 'The run succeeded.',
        schema: RunResultSchema,
        headers: {
          'Wavetrain-Run-Id':
            'The id that the run had, as in logs and events. Errors of the run carry it too.',
        },
      },
    },
    errors: [...REFUSALS, 'task_failed', 'run_cancelled'],
    handle: async (request) => {
      const runId = await registry.submit(runOf(request, pipelines, tenantFor(request.caller)));
      const record = await registry.settled(runId);
      const answer = record.result === null ? errorAnswer(failureOf(record, isReady())) : resultOf(record);
      return {
        ...answer,
        headers: { ...answer?.headers, 'Wavetrain-Run-Id': runId },
        runId,
        ...(record.result !== null && { onSent: () => registry.forget(runId) }),
      };
    },
  });
}

type Submitted = GivenDefinition & { readonly body: Static<typeof RunAsyncRequestSchema> | undefined };

/** What a run starts from. Throws an InvalidDefinitionError with every problem. */
function runOf(request: Submitted, known: KnownPipelines, tenantId: string): RunInputs {
  const { pipeline: _, yaml: __, ...given } = request.body ?? {};
  return { ...given, pipeline: pipelineOf(request, known), tenant_id: tenantId };
}

function resultOf({ result, events }: RunRecord): Answer {
  return { body: { ...result, events } };
}

/** Why a run has no result, as an error. */
function failureOf({ run_id, status, failures, error }: RunRecord, isReady: boolean): WavetrainError {
  if (status === 'failed') return new TaskFailedError(run_id, failures, error ?? 'failed');
  return isReady
    ? new WavetrainError('run_cancelled', `run ${run_id} was cancelled`)
    : new WavetrainError('shutting_down', `run ${run_id} was cancelled, for the server is shutting down`);
}

function asynchronous({ registry, pipelines }: HttpServices): Route {
  return route({
    method: 'POST',
    path: '/pipelines/run_async',
    id: 'submitPipeline',
    tag: 'Runs',
    summary: 'Submit a pipeline and get its run id at once',
    access: 'run',
    headers: IDEMPOTENCY,
    body: { schema: RunAsyncRequestSchema, yaml: true, examples: EXAMPLES },
    answers: {
      202: {
        description: 'The run was accepted.',
        schema: AcceptedSchema,
        headers: {
          Location: 'Where the record of the run is.',
          'Idempotent-Replayed': '`true` when the run was submitted before with the same key.',
        },
      },
    },
    errors: [...REFUSALS, 'idempotency_conflict'],
    handle: async (request) => {
      const tenantId = tenantFor(request.caller, request.body?.tenant_id);
      const key = request.headers['idempotency-key'];
      const idempotency =
        key === undefined ? undefined : { key, fingerprint: fingerprintOf(request.yaml ?? request.body) };
      const earlier = idempotency && registry.submitted(tenantId, idempotency);
      if (earlier !== undefined) {
        const { run_id, status } = registry.record(earlier);
        return acceptedAnswer({ run_id, status }, REPLAYED);
      }
      const runId = await registry.submit(runOf(request, pipelines, tenantId), { idempotency });
      return acceptedAnswer(registry.acceptance(runId));
    },
  });
}

const REPLAYED = { 'Idempotent-Replayed': 'true' };

/** Of the text, when it was YAML; else of what it says: the order of keys means nothing in JSON (D36). */
function fingerprintOf(body: unknown): string {
  return createHash('sha256').update(JSON.stringify(body, withKeysInOrder)).digest('base64');
}

function withKeysInOrder(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
