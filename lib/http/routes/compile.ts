import type { ServerResponse } from 'node:http';
import type { Static } from 'typebox';
import { errorCode, WavetrainError } from '../../common/errors.js';
import { COMPILE_LIMITS } from '../../common/limits.js';
import { ConcurrencyLimiter } from '../../common/scheduling/concurrency-limiter.js';
import { compile } from '../../compile/compile.js';
import { CompileFailedError, type CompileProgress, type CompileResult } from '../../compile/result.js';
import type { ModelAccess } from '../../models/models.js';
import type { CompileOutcome } from '../../telemetry/compile-metrics.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { resolveTenant } from '../auth/authenticate.js';
import { loggedErrorResponse } from '../errors/error-response.js';
import { defineRoute, type Route, type RouteResult } from '../routing/route.js';
import { CompileRequestSchema, CompileResultSchema } from '../schemas/compile.js';
import type { HttpServices } from '../services.js';
import {
  formatNamedFrame,
  HEARTBEAT_FRAME,
  OPENING_FRAME,
  REVOKED_FRAME,
  STREAM_HEADERS,
  STREAM_TYPE,
} from '../sse/frames.js';
import { HEARTBEAT_MS } from '../sse/stream.js';

const STREAM_EXAMPLE = [
  OPENING_FRAME,
  formatNamedFrame('progress', { state: 'drafting', attempt: 1 }),
  formatNamedFrame('progress', { state: 'validating', attempt: 1 }),
  'event: result\n',
  'data: {"kind":"pipeline","pipeline":{},"yaml_text":"…","attempts":1,"repair_history":[],"usage":{"input_tokens":7000,"output_tokens":200},"model":"openai/gpt-4o-mini","warnings":[]}\n\n',
].join('');

/** One request to compile, once it may begin. */
interface CompileJob {
  readonly request: Static<typeof CompileRequestSchema>;
  readonly models: ModelAccess;
  readonly tenantId: string;
  /** Aborts when the client disconnects, or its key is revoked. */
  readonly signal: AbortSignal;
}

/** `POST /pipelines/compile` (D35). */
export function compileRoutes(services: HttpServices): Route[] {
  const limiter = new ConcurrencyLimiter(services.shareOf(COMPILE_LIMITS.atOnce));
  const run = (job: CompileJob, onProgress?: (progress: CompileProgress) => void) =>
    measure(job, services, () =>
      services.work.run(job.signal, (signal) => {
        // A compilation waits for its turn without a time limit, as long as its client does.
        const waiting = { tenant_id: job.tenantId, signal, pauseTimeout: () => () => {} };
        return limiter.run(waiting, () => compileRequest({ ...job, signal }, services, onProgress));
      }),
    );
  return [
    defineRoute({
      method: 'POST',
      path: '/pipelines/compile',
      id: 'compilePipeline',
      tag: 'Pipelines',
      summary: 'Have a language model write a pipeline or a plan',
      description:
        'The model is given the language and the tools of this server, and asked to repair what the validator rejects. Nothing is run. Takes as long as the model needs; ends when the client disconnects. With `Accept: text/event-stream` the response is a stream of Server-Sent Events: `progress` (`{"state", "attempt"}`), and at the end `result`, or `error` with the body of the error and its `status`.',
      access: 'run',
      body: {
        schema: CompileRequestSchema,
        examples: { contract: { prompt: 'Read a contract and list our duties in three sentences.' } },
      },
      responses: {
        200: {
          description: 'A valid definition.',
          schema: CompileResultSchema,
          media: { [STREAM_TYPE]: STREAM_EXAMPLE },
        },
      },
      errors: [
        'invalid_options',
        'provider_misconfigured',
        'compile_failed',
        'provider_failed',
        'shutting_down',
      ],
      handle: async (request): Promise<RouteResult> => {
        // A stream must be refused before it begins.
        services.work.assertOpen();
        const { body = { prompt: '' } } = request;
        const job: CompileJob = {
          request: body,
          models: openModels(services, body.model),
          tenantId: resolveTenant(request.caller, body.tenant_id),
          signal: request.disconnected(),
        };
        if (request.mediaType === STREAM_TYPE) {
          return {
            headers: STREAM_HEADERS,
            stream: (response) => void streamCompilation(job, run, response, services),
          };
        }
        request.endTurn();
        try {
          return { body: await run(job) };
        } catch (error) {
          // Nobody receives the error any more.
          if (job.signal.aborted) return {};
          throw error;
        }
      },
    }),
  ];
}

/** @throws WavetrainError `provider_misconfigured` when the server has no such model */
function openModels({ models }: HttpServices, named: string | undefined): ModelAccess {
  if (models === undefined)
    throw new WavetrainError('provider_misconfigured', 'this server has no language models');
  models.assertConfigured('compile', named);
  return models;
}

/** Counts a compilation in the metrics. Settles as its work does. */
async function measure<T>(
  { signal }: CompileJob,
  { clock, metrics }: HttpServices,
  work: () => Promise<T>,
): Promise<T> {
  const startMs = clock.monotonicNow();
  const record = (outcome: CompileOutcome): void =>
    metrics.recordCompilation(outcome, clock.monotonicNow() - startMs);
  try {
    const result = await work();
    record('succeeded');
    return result;
  } catch (error) {
    const outcome = error instanceof CompileFailedError ? 'gave_up' : 'failed';
    record(signal.aborted ? 'disconnected' : outcome);
    throw error;
  }
}

/** Counts the answers of models in the metrics, also those of a compilation that fails. */
function countAnswers(models: ModelAccess, metrics: Metrics): ModelAccess {
  return {
    assertConfigured: (purpose, named) => models.assertConfigured(purpose, named),
    generate: (request, caller) =>
      models.generate(request, {
        ...caller,
        onUsage: (model, usage) => {
          metrics.recordCompileAnswer(model, usage);
          caller.onUsage(model, usage);
        },
      }),
  };
}

function compileRequest(
  { request, models, tenantId, signal }: CompileJob,
  { checker, clock, metrics, registry }: HttpServices,
  onProgress: ((progress: CompileProgress) => void) | undefined,
): Promise<CompileResult> {
  return compile(request.prompt, {
    models: countAnswers(models, metrics),
    model: request.model,
    maxRepairs: request.max_repairs,
    catalog: checker.catalog,
    signal,
    onProgress,
    tenant_id: tenantId,
    clock,
    runCheck: (steps) => registry.stepRunner.check(steps, tenantId),
  });
}

/** Sends the progress, then the result or the error. Never rejects. */
async function streamCompilation(
  job: CompileJob,
  run: (job: CompileJob, onProgress: (progress: CompileProgress) => void) => Promise<CompileResult>,
  response: ServerResponse,
  services: HttpServices,
): Promise<void> {
  const { clock } = services;
  const send = (name: string, data: object): void => void response.write(formatNamedFrame(name, data));
  let timer: unknown;
  const beat = (): void => {
    response.write(HEARTBEAT_FRAME);
    timer = clock.setTimeout(beat, HEARTBEAT_MS);
  };
  timer = clock.setTimeout(beat, HEARTBEAT_MS);
  response.write(OPENING_FRAME);
  try {
    send('result', await run(job, (progress) => send('progress', progress)));
  } catch (error) {
    if (errorCode(job.signal.reason) === 'unauthorized') response.write(REVOKED_FRAME);
    if (job.signal.aborted) return;
    // The response that there would have been, had the stream not begun.
    const { status, body } = loggedErrorResponse(error, services, { path: '/pipelines/compile' });
    send('error', { status, ...body });
  } finally {
    clock.clearTimeout(timer);
    response.end();
  }
}
