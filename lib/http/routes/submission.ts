import type { Static } from 'typebox';
import type { RunInputs } from '../../execution/run-inputs.js';
import type { KnownPipelines } from '../../pipelines/known-pipelines.js';
import { tenantFor } from '../caller.js';
import { PLANS_GO_ELSEWHERE } from '../misplaced.js';
import { pipelineIn, type PipelineRequest } from '../pipeline-definition.js';
import { type Route, route } from '../route.js';
import { RunResultSchema } from '../schemas/outcome.js';
import { RunAsyncRequestSchema, RunRequestSchema } from '../schemas/request.js';
import type { HttpServices } from '../services.js';
import {
  ACCEPTED,
  acceptedOnce,
  IDEMPOTENCY,
  REFUSALS,
  resultOf,
  RUN_ID_HEADER,
  WAITING,
} from '../submitting.js';
import { EXAMPLE_PIPELINE, EXAMPLE_YAML } from './example.js';

const EXAMPLES = {
  hello: { pipeline: EXAMPLE_PIPELINE, params: { name: 'Ada' } },
};

/** The two ways to start a run of a pipeline. */
export function submissionRoutes(services: HttpServices): Route[] {
  return [synchronous(services), asynchronous(services)];
}

function synchronous(services: HttpServices): Route {
  const { registry, pipelines } = services;
  return route({
    method: 'POST',
    path: '/pipelines/run',
    id: 'runPipeline',
    tag: 'Runs',
    summary: 'Run a pipeline and wait for its result',
    description: WAITING,
    access: 'run',
    body: { schema: RunRequestSchema, yaml: EXAMPLE_YAML, misplaced: PLANS_GO_ELSEWHERE, examples: EXAMPLES },
    answers: {
      200: { description: 'The run succeeded.', schema: RunResultSchema, headers: RUN_ID_HEADER },
    },
    errors: [...REFUSALS, 'task_failed', 'run_cancelled'],
    handle: async (request) => {
      const run = runOf(request, pipelines, tenantFor(request.caller));
      return resultOf(services, await registry.submit(run));
    },
  });
}

function asynchronous(services: HttpServices): Route {
  const { registry, pipelines } = services;
  return route({
    method: 'POST',
    path: '/pipelines/run_async',
    id: 'submitPipeline',
    tag: 'Runs',
    summary: 'Submit a pipeline and get its run id at once',
    access: 'run',
    headers: IDEMPOTENCY,
    body: {
      schema: RunAsyncRequestSchema,
      yaml: EXAMPLE_YAML,
      misplaced: PLANS_GO_ELSEWHERE,
      examples: EXAMPLES,
    },
    answers: { 202: ACCEPTED },
    errors: [...REFUSALS, 'idempotency_conflict'],
    handle: (request) => {
      const tenantId = tenantFor(request.caller, request.body?.tenant_id);
      return acceptedOnce(services, 'pipeline', tenantId, request, (idempotency) =>
        registry.submit(runOf(request, pipelines, tenantId), { idempotency }),
      );
    },
  });
}

type Submitted = PipelineRequest & { readonly body: Static<typeof RunAsyncRequestSchema> | undefined };

/** What a run starts from. Throws an InvalidDefinitionError with every problem. */
function runOf(request: Submitted, known: KnownPipelines, tenantId: string): RunInputs {
  const { pipeline: _, yaml: __, ...given } = request.body ?? {};
  return { ...given, pipeline: pipelineIn(request, known), tenant_id: tenantId };
}
