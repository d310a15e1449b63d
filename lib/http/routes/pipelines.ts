import Type, { type Static } from 'typebox';
import type { RunInputs } from '../../execution/run-inputs.js';
import { dot, graphOf, mermaid } from '../../pipelines/graph.js';
import type { KnownPipelines } from '../../pipelines/validation-cache.js';
import { reportOf } from '../../pipelines/report.js';
import { tenantFor } from '../auth/caller.js';
import { PLANS_GO_ELSEWHERE } from '../routing/misplaced-fields.js';
import { type Route, route } from '../routing/route.js';
import { GraphSchema, ValidationReportSchema } from '../schemas/definition.js';
import { RunResultSchema } from '../schemas/outcome.js';
import { DefinitionRequestSchema, RunAsyncRequestSchema, RunRequestSchema } from '../schemas/request.js';
import { ToolListSchema } from '../schemas/tool.js';
import type { HttpServices } from '../services.js';
import { checkPipelineIn, pipelineIn, type PipelineRequest } from './definition-body.js';
import { EXAMPLE_PIPELINE, EXAMPLE_YAML } from './examples.js';
import { ACCEPTED, acceptedOnce, IDEMPOTENCY, REFUSALS, resultOf, RUN_ID_HEADER, WAITING } from './submit.js';

/** What can be asked about a definition without running it. */
export function pipelineRoutes({ catalog, pipelines }: HttpServices): Route[] {
  return [
    route({
      method: 'POST',
      path: '/pipelines/validate',
      id: 'validatePipeline',
      tag: 'Pipelines',
      summary: 'Check a definition without running it',
      description:
        'Reports every problem with its place and a hint. A definition with errors is answered with status 200 and `ok: false`.',
      access: 'any',
      body: {
        schema: DefinitionRequestSchema,
        yaml: EXAMPLE_YAML,
        misplaced: PLANS_GO_ELSEWHERE,
        examples: { pipeline: { pipeline: EXAMPLE_PIPELINE } },
      },
      answers: { 200: { description: 'The report.', schema: ValidationReportSchema } },
      handle: (request) => ({ body: reportOf(checkPipelineIn(request, pipelines)) }),
    }),
    route({
      method: 'GET',
      path: '/pipelines/tools',
      id: 'listTools',
      tag: 'Pipelines',
      summary: 'The tools that tasks may call',
      access: 'any',
      answers: { 200: { description: 'Names and metadata.', schema: ToolListSchema } },
      handle: () => ({ body: { tools: catalog.names(), metadata: catalog.metadata() } }),
    }),
    route({
      method: 'POST',
      path: '/pipelines/graph',
      id: 'drawPipeline',
      tag: 'Pipelines',
      summary: 'The waves of a definition, as data or drawn',
      access: 'any',
      query: Type.Object(
        {
          format: Type.Optional(
            Type.Enum(['json', 'mermaid', 'dot'], { default: 'json', description: 'How it is drawn.' }),
          ),
        },
        { additionalProperties: false },
      ),
      body: {
        schema: DefinitionRequestSchema,
        yaml: EXAMPLE_YAML,
        misplaced: PLANS_GO_ELSEWHERE,
        examples: { pipeline: { pipeline: EXAMPLE_PIPELINE } },
      },
      answers: {
        200: {
          description: 'The graph.',
          schema: GraphSchema,
          media: { 'text/plain': 'flowchart LR', 'text/vnd.graphviz': 'digraph "example" {}' },
        },
      },
      errors: ['invalid_definition'],
      handle: (request) => {
        const graph = graphOf(pipelineIn(request, pipelines));
        if (request.query.format === 'mermaid') return { text: mermaid(graph), type: 'text/plain' };
        if (request.query.format === 'dot') return { text: dot(graph), type: 'text/vnd.graphviz' };
        return { body: graph };
      },
    }),
  ];
}

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
