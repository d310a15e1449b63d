import Type, { type Static, type TSchema } from 'typebox';
import type { RunStatus } from '../../../machines/types.js';
import { createRunError, WavetrainError } from '../../common/errors.js';
import { isObject } from '../../common/json/json.js';
import type { DefinitionKind } from '../../definition/schema/root.js';
import type { AcceptedRun, RunRecord } from '../../runs/record.js';
import type { AcceptedRerun } from '../../runs/rerun/rerun-report.js';
import type { OnceAcceptedRun } from '../../runs/idempotency.js';
import type { Submission, SubmissionContent } from '../../submission/submitter.js';
import type { CallRecord } from '../../runs/tasks/task-record.js';
import { type Caller, resolveTenant, toStartedBy } from '../auth/authenticate.js';
import { errorResponse } from '../errors/error-response.js';
import type { HttpErrorCode } from '../errors/error-statuses.js';
import { type BodyDocument, defineRoute, type Route, type RouteResult } from '../routing/route.js';
import type { ErrorBody } from '../schemas/error.js';
import { AcceptedSchema } from '../../common/wire/run.js';
import type { HttpServices } from '../services.js';
import { createFingerprint } from './fingerprint.js';
import { optionalText } from '../schemas/fields.js';

/** The differences between pipelines and plans, for the two routes that run either. */
interface Runnable<R extends TSchema, A extends TSchema> {
  /** Of the definition in the request; `named` when it is one of the folder of the server (D69). */
  readonly kind: DefinitionKind | 'named';
  /** Default: `/pipelines` or `/plans`. */
  readonly path?: Pick<Route, 'path' | 'reserved' | 'params'>;
  /** Distinguishes requests besides their bodies. Default: by the kind. */
  readonly describe?: (request: StartRequest<unknown>) => string;
  readonly errors?: readonly HttpErrorCode[];
  readonly tag: string;
  /** First sentences of the descriptions of the two routes. */
  readonly descriptions?: { readonly run: string; readonly runAsync: string };
  readonly body: Omit<BodyDocument<TSchema>, 'schema'>;
  readonly runSchema: R;
  readonly runAsyncSchema: A;
  readonly resultSchema: TSchema;
  /** Reads what a request submits. */
  readonly read: (
    request: StartRequest<Static<R> | Static<A>>,
    tenantId: string,
  ) => SubmissionContent | Promise<SubmissionContent>;
}

/** A request with the definition of a run and its values. */
export interface StartRequest<B> {
  /** Of the path. */
  readonly params: object;
  readonly yaml: string | undefined;
  readonly body: B | undefined;
  readonly caller: Caller;
  readonly address: string;
}

/** Errors that are found before a run exists. */
export const SUBMISSION_ERRORS = [
  'invalid_definition',
  'invalid_params',
  'invalid_options',
  'invalid_inputs',
  'queue_full',
  'shutting_down',
] as const;

/** Headers of a route that starts a run (D36). */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': optionalText({
    minLength: 1,
    maxLength: 255,
    description:
      'Makes it safe to repeat a submission: the same key with the same body never starts a second run, for a day after the run is no longer kept (unless configured). All routes that start runs share their keys. The order of keys in JSON objects does not matter. The same key with another body is refused.',
  }),
});

/** Declares the two routes that run a definition: `run` waits for the result, `run_async` returns the run id. */
export function createRunRoutes<R extends TSchema, A extends TSchema>(
  services: HttpServices,
  runnable: Runnable<R, A>,
): Route[] {
  const { kind, tag, descriptions, body, read, describe = () => kind, errors = [] } = runnable;
  const { queries, submitter } = services;
  type Request = StartRequest<Static<R> | Static<A>>;
  const readSubmission = async (request: Request, run?: AwaitedRun): Promise<Submission> => ({
    ...(await read(request, tenantOf(request))),
    startedBy: toStartedBy(request.caller),
    address: request.address,
    onAccepted: run?.onAccepted,
  });
  // The same body sent to `run` and to `run_async` with one key is one run (D36).
  const submitOnce = (request: Request, key: string, run?: AwaitedRun): Promise<OnceAcceptedRun> => {
    const fingerprint = createFingerprint(describe(request), request.yaml ?? request.body);
    return submitter.submitOnce(tenantOf(request), { key, fingerprint }, () => readSubmission(request, run));
  };
  const name = NAMES[kind];
  const what = kind === 'named' ? 'pipeline or plan of the server' : kind;
  const { path, ...parameters } = runnable.path ?? { path: `/${kind}s` };
  const common = { ...parameters, method: 'POST', tag, access: 'run', headers: IdempotencyHeaders } as const;
  return [
    defineRoute({
      ...common,
      path: `${path}/run`,
      id: `run${name}`,
      summary: `Run a ${what} and wait for its result`,
      description: `${descriptions ? `${descriptions.run} ` : ''}${WAITING}`,
      body: { ...body, schema: runnable.runSchema },
      responses: {
        200: {
          description: 'The run succeeded.',
          schema: runnable.resultSchema,
          headers: {
            'Wavetrain-Run-Id': 'The run id, as in logs and events. Errors of the run carry it too.',
            'Idempotent-Replayed': REPLAYED,
          },
        },
      },
      errors: [
        ...errors,
        ...SUBMISSION_ERRORS,
        'task_failed',
        'run_timeout',
        'run_cancelled',
        'idempotency_conflict',
        'result_gone',
      ],
      handle: async (request) => {
        const key = request.headers['idempotency-key'];
        const run = new AwaitedRun();
        if (key === undefined) {
          const runId = await submitter.submit(await readSubmission(request, run));
          request.releaseBody();
          return waitForResult(services, runId, run, request.caller);
        }
        const accepted = await submitOnce(request, key, run);
        request.releaseBody();
        return waitForKeyedResult(services, accepted, run, request.caller);
      },
    }),
    defineRoute({
      ...common,
      path: `${path}/run_async`,
      id: `submit${name}`,
      summary: `Submit a ${what} and get its run id at once`,
      ...(descriptions && { description: descriptions.runAsync }),
      body: { ...body, schema: runnable.runAsyncSchema },
      responses: acceptedResponse('run', AcceptedSchema),
      errors: [...errors, ...SUBMISSION_ERRORS, 'idempotency_conflict'],
      handle: async (request) => {
        const key = request.headers['idempotency-key'];
        if (key === undefined) {
          const runId = await submitter.submit(await readSubmission(request));
          return acceptedResult(queries.accepted(runId));
        }
        const { run_id, status, isReplayed } = await submitOnce(request, key);
        return acceptedResult({ run_id, status }, isReplayed);
      },
    }),
  ];
}

/** The tenant that a body names, where its schema has one, or that of the caller. */
function tenantOf({ caller, body }: StartRequest<unknown>): string {
  const tenantId = isObject(body) ? body['tenant_id'] : undefined;
  return resolveTenant(caller, typeof tenantId === 'string' ? tenantId : undefined);
}

const NAMES = { pipeline: 'Pipeline', plan: 'Plan', named: 'NamedPipeline' } as const;

const WAITING =
  'The connection stays open until the run has settled. If the client disconnects, the run continues: `GET /pipelines/runs` lists it, and its record has the result. A run is deleted once its result was delivered; a failed or cancelled run is kept, to be inspected and rerun, and so is a run with an `Idempotency-Key`, with files in its result, or with collected errors.';

const REPLAYED = '`true` when an earlier request with the same key has submitted the run.';
const REPLAYED_HEADERS = { 'Idempotent-Replayed': 'true' };

/** Holds what a synchronous request waits for: a run that ends quickly may be evicted before its id is known. */
class AwaitedRun {
  settled: Promise<RunRecord> | undefined;
  readonly onAccepted = (settled: Promise<RunRecord>): void => {
    this.settled = settled;
    // Nobody waits for it when the submission is refused after all: the run cannot be kept.
    settled.catch(() => undefined);
  };
}

/**
 * Waits for the run to settle and returns its result or its error. Forgets a run without failures once its result was sent
 * (D26); one whose tasks have collected errors can be rerun (D67).
 */
async function waitForResult(
  services: HttpServices,
  runId: string,
  run: AwaitedRun,
  caller: Caller,
): Promise<RouteResult> {
  const { registry } = services;
  const record = await untilSettled(services, runId, run, caller);
  const response = await toResult(services, record);
  if (record.result === null || record.failures.length > 0) return response;
  return Object.assign(response, { onSent: () => registry.forgetDelivered(runId) });
}

/** Waits like `waitForResult`, and keeps the run, because the request may be repeated (D36). */
async function waitForKeyedResult(
  services: HttpServices,
  { run_id, status, isReplayed, isKept }: OnceAcceptedRun,
  run: AwaitedRun,
  caller: Caller,
): Promise<RouteResult> {
  const getResult = async (): Promise<RouteResult> =>
    toResult(services, await untilSettled(services, run_id, run, caller));
  if (!isReplayed) return getResult();
  const response = isKept ? await getResult() : resultGone(run_id, status);
  return { ...response, headers: { ...response.headers, ...REPLAYED_HEADERS } };
}

/** Waits for the run. Rejects with `unauthorized` when the key of the caller is revoked meanwhile; the run goes on. */
function untilSettled(
  { queries }: HttpServices,
  runId: string,
  run: AwaitedRun,
  { revocation }: Caller,
): Promise<RunRecord> {
  const settled = run.settled ?? queries.settled(runId);
  return revocation === undefined ? settled : revocation.during(settled);
}

/** The response with the result or the error of a settled run. */
async function toResult({ queries, readiness }: HttpServices, record: RunRecord): Promise<RouteResult> {
  const { run_id: runId, result, events } = record;
  if (result !== null) {
    const headers = { 'Wavetrain-Run-Id': runId };
    return { body: { ...result, events }, isRunData: true, headers, runId };
  }
  const error = toRunError(record, readiness.isShuttingDown);
  const failed = record.failed_task === null ? undefined : await findFailedCall(queries, runId);
  return toErrorResult(runId, error, failed && describeFailedCall(failed));
}

/** Returns the fields that the response to a failed run has besides its failures (D59). */
function describeFailedCall({ run_id, inputs, cut }: CallRecord): Partial<ErrorBody['detail']> {
  const cutInputs = cut.filter((pointer) => pointer.startsWith('/inputs'));
  return {
    ...(inputs !== null && { inputs }),
    ...(cutInputs.length > 0 && { cut: cutInputs }),
    hint: `GET /pipelines/runs/${run_id}/tasks?status=failed shows what failed, and POST /pipelines/runs/${run_id}/rerun with {"from": "failed"} or a changed definition runs only what is needed`,
  };
}

/** Undefined when the run was evicted meanwhile, or there is no memory to render its values. */
async function findFailedCall(
  queries: HttpServices['queries'],
  runId: string,
): Promise<CallRecord | undefined> {
  try {
    return (await queries.failedCalls(runId, { most: 1 }))[0];
  } catch (thrown) {
    if (thrown instanceof WavetrainError) return undefined;
    throw thrown;
  }
}

function resultGone(runId: string, status: RunStatus): RouteResult {
  const message = `run ${runId} of this Idempotency-Key is no longer kept; its last status was "${status}". To run again, use another key`;
  return toErrorResult(runId, new WavetrainError('result_gone', message));
}

function toErrorResult(
  runId: string,
  error: WavetrainError,
  more: Partial<ErrorBody['detail']> = {},
): RouteResult {
  const response = errorResponse(error);
  const headers = { ...response.headers, 'Wavetrain-Run-Id': runId };
  const body = { detail: { ...response.body.detail, ...more } };
  return { ...response, body, headers, runId, code: error.code };
}

function toRunError(record: RunRecord, isShuttingDown: boolean): WavetrainError {
  const { run_id, status } = record;
  if (status === 'cancelled' && isShuttingDown) {
    return new WavetrainError('shutting_down', `run ${run_id} was cancelled: the server is shutting down`);
  }
  return createRunError(run_id, { ...record, failedTask: record.failed_task, errorCode: record.error_code });
}

/** The response to an accepted run, with the path of its record (D31). */
export function acceptedResult(
  acceptance: AcceptedRun & Partial<AcceptedRerun>,
  isReplayed = false,
): RouteResult {
  const { run_id: runId } = acceptance;
  const headers = { Location: `/pipelines/runs/${runId}`, ...(isReplayed && REPLAYED_HEADERS) };
  return { body: acceptance, headers, runId };
}

/** Documents the response to an accepted run. */
export function acceptedResponse(noun: 'run' | 'new run', schema: TSchema): Route['responses'] {
  const path = noun === 'run' ? 'The path of the run record.' : `The path of the record of the ${noun}.`;
  return {
    202: {
      description: `The ${noun} was accepted.`,
      schema,
      headers: { Location: path, 'Idempotent-Replayed': REPLAYED },
    },
  };
}
