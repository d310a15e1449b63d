import { createHash } from 'node:crypto';
import Type, { type Static, type TSchema } from 'typebox';
import { createRunError, WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { AcceptedRun, RunRecord } from '../../runs/record.js';
import type { SubmissionOptions } from '../../runs/registry.js';
import { resolveTenant } from '../auth/authenticate.js';
import { errorResponse } from '../errors/error-response.js';
import { type BodyDocument, defineRoute, type Route, type RouteResult } from '../routing/route.js';
import { AcceptedSchema } from '../schemas/run.js';
import type { HttpServices } from '../services.js';

/** The differences between pipelines and plans, for the two routes that run either. */
interface Runnable<R extends TSchema, A extends TSchema> {
  readonly kind: DefinitionKind;
  readonly tag: string;
  /** First sentences of the descriptions of the two routes. */
  readonly descriptions?: { readonly run: string; readonly runAsync: string };
  readonly body: Omit<BodyDocument<TSchema>, 'schema'>;
  readonly runSchema: R;
  readonly runAsyncSchema: A;
  readonly resultSchema: TSchema;
  /** The tenant that the body of `run_async` names. */
  readonly getTenant: (body: Static<A> | undefined) => string | undefined;
  /** Validates the definition, submits the run and returns its id. */
  readonly submit: (
    request: { readonly yaml: string | undefined; readonly body: Static<R> | Static<A> | undefined },
    tenantId: string,
    options?: SubmissionOptions,
  ) => Promise<string>;
}

/** Errors that are found before a run exists. */
const SUBMISSION_ERRORS = [
  'invalid_definition',
  'invalid_params',
  'invalid_options',
  'invalid_inputs',
  'queue_full',
  'shutting_down',
] as const;

const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Makes it safe to repeat a submission. The same key with the same body returns the existing run, as long as the run is kept; the order of keys in JSON objects does not matter. The same key with another body is refused.',
    }),
  ),
});

/** Declares the two routes that run a definition: `run` waits for the result, `run_async` returns the run id. */
export function createRunRoutes<R extends TSchema, A extends TSchema>(
  services: HttpServices,
  runnable: Runnable<R, A>,
): Route[] {
  const { kind, tag, descriptions, body, submit } = runnable;
  const name = kind === 'pipeline' ? 'Pipeline' : 'Plan';
  return [
    defineRoute({
      method: 'POST',
      path: `/${kind}s/run`,
      id: `run${name}`,
      tag,
      summary: `Run a ${kind} and wait for its result`,
      description: `${descriptions ? `${descriptions.run} ` : ''}${WAITING}`,
      access: 'run',
      body: { ...body, schema: runnable.runSchema },
      responses: {
        200: {
          description: 'The run succeeded.',
          schema: runnable.resultSchema,
          headers: {
            'Wavetrain-Run-Id': 'The run id, as in logs and events. Errors of the run carry it too.',
          },
        },
      },
      errors: [...SUBMISSION_ERRORS, 'task_failed', 'run_cancelled'],
      handle: async (request) =>
        waitForResult(services, await submit(request, resolveTenant(request.caller))),
    }),
    defineRoute({
      method: 'POST',
      path: `/${kind}s/run_async`,
      id: `submit${name}`,
      tag,
      summary: `Submit a ${kind} and get its run id at once`,
      ...(descriptions && { description: descriptions.runAsync }),
      access: 'run',
      headers: IdempotencyHeaders,
      body: { ...body, schema: runnable.runAsyncSchema },
      responses: {
        202: {
          description: 'The run was accepted.',
          schema: AcceptedSchema,
          headers: {
            Location: 'The path of the run record.',
            'Idempotent-Replayed': '`true` when an earlier request with the same key has submitted the run.',
          },
        },
      },
      errors: [...SUBMISSION_ERRORS, 'idempotency_conflict'],
      handle: async (request) => {
        const { registry } = services;
        const tenantId = resolveTenant(request.caller, runnable.getTenant(request.body));
        const key = request.headers['idempotency-key'];
        if (key === undefined) return acceptedResult(registry.accepted(await submit(request, tenantId)));
        // A repeated submission is found before its definition is validated again (D36).
        const idempotency = { key, fingerprint: createFingerprint(kind, request.yaml ?? request.body) };
        const earlier = registry.findSubmitted(tenantId, idempotency);
        if (earlier !== undefined) {
          const { run_id, status } = registry.record(earlier);
          return acceptedResult({ run_id, status }, { 'Idempotent-Replayed': 'true' });
        }
        return acceptedResult(registry.accepted(await submit(request, tenantId, { idempotency })));
      },
    }),
  ];
}

const WAITING =
  'The connection stays open until the run has settled. If the client disconnects, the run continues and is listed with its result by `GET /pipelines/runs`. A run is deleted once its result was delivered; a failed or cancelled run is kept, to be inspected and rerun.';

/** Waits for the run to settle and returns its result or its error. Deletes the run once its result was sent (D26). */
async function waitForResult({ registry, isReady }: HttpServices, runId: string): Promise<RouteResult> {
  const record = await registry.settled(runId);
  const { result, events } = record;
  const response: RouteResult =
    result === null ? errorResponse(toRunError(record, isReady())) : { body: { ...result, events } };
  return {
    ...response,
    headers: { ...response.headers, 'Wavetrain-Run-Id': runId },
    runId,
    ...(result !== null && { onSent: () => registry.forget(runId) }),
  };
}

function toRunError(record: RunRecord, isReady: boolean): WavetrainError {
  const { run_id, status } = record;
  if (status === 'cancelled' && !isReady) {
    return new WavetrainError('shutting_down', `run ${run_id} was cancelled: the server is shutting down`);
  }
  return createRunError(run_id, record);
}

/** Identifies a body: YAML by its text, JSON by its value, in which the order of keys does not matter (D36). */
function createFingerprint(kind: DefinitionKind, body: unknown): string {
  const text = `${kind} ${JSON.stringify(body, sortKeys)}`;
  return createHash('sha256').update(text).digest('base64');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The response to an accepted run, with the path of its record (D31). */
export function acceptedResult(acceptance: AcceptedRun, headers: Record<string, string> = {}): RouteResult {
  const { run_id } = acceptance;
  return { body: acceptance, headers: { Location: `/pipelines/runs/${run_id}`, ...headers }, runId: run_id };
}
