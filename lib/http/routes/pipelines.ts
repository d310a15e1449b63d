import Type from 'typebox';
import { renderSvgInSteps } from '../../pipelines/drawing/graph-svg.js';
import { createGraph, renderDot, renderMermaid } from '../../pipelines/drawing/graph.js';
import { createReport } from '../../pipelines/report.js';
import { PathCollector } from '../../pipelines/shapes/readable-paths.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import { resolveTenant } from '../auth/authenticate.js';
import { defineRoute, type Route } from '../routing/route.js';
import { GraphSchema, ToolListSchema, ValidationReportSchema } from '../../common/wire/report.js';
import {
  DefinitionRequestSchema,
  PATHS_QUERY,
  RunAsyncRequestSchema,
  RunRequestSchema,
} from '../schemas/request.js';
import { RunResultSchema } from '../../common/wire/run.js';
import type { HttpServices } from '../services.js';
import { readPipelineSource } from './definition-body.js';
import { EXAMPLE_PIPELINE, EXAMPLE_YAML } from './examples.js';
import { createRunRoutes } from './start-run.js';
import { closedObject } from '../schemas/fields.js';

const SEND_TO_PLANS = 'send plans to /plans/run, /plans/run_async or /plans/validate';

const MISPLACED_FIELDS = {
  plan: SEND_TO_PLANS,
  pipelines: SEND_TO_PLANS,
  beside: SEND_TO_PLANS,
  plan_concurrency: SEND_TO_PLANS,
};

const DEFINITION_BODY = {
  schema: DefinitionRequestSchema,
  yaml: EXAMPLE_YAML,
  misplacedFields: MISPLACED_FIELDS,
  examples: { pipeline: { pipeline: EXAMPLE_PIPELINE } },
};

const SVG_TYPE = 'image/svg+xml';

/** An SVG has a style sheet, and no scripts. */
const SVG_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
};

/** Routes about definitions and tools; they run nothing. */
export function pipelineRoutes(services: HttpServices): Route[] {
  const { checker } = services;
  return [
    defineRoute({
      method: 'POST',
      path: '/pipelines/validate',
      id: 'validatePipeline',
      tag: 'Pipelines',
      summary: 'Validate a pipeline without running it',
      description:
        'Reports every problem with its position and a hint. The response to an invalid definition, whatever it is, has status 200 and `ok: false`. The body may be that of a run.',
      access: 'any',
      query: PATHS_QUERY,
      body: DEFINITION_BODY,
      responses: { 200: { description: 'The report.', schema: ValidationReportSchema } },
      errors: ['shutting_down'],
      handle: async (request) => {
        const { body = {}, caller } = request;
        const source = readPipelineSource(request);
        const tenantId = resolveTenant(caller, body.tenant_id);
        const collector = request.query.paths === true ? new PathCollector() : undefined;
        const check = await checker.checkPipeline(source, body, tenantId, collector?.onRead);
        const report = createReport(check);
        if (collector === undefined) return { body: report };
        return { body: { ...report, paths: await runInSlices(collector.list(), tenantId) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/pipelines/tools',
      id: 'listTools',
      tag: 'Pipelines',
      summary: 'List the tools that tasks may call',
      access: 'any',
      responses: { 200: { description: 'Names and metadata.', schema: ToolListSchema } },
      handle: () => {
        const { catalog } = checker;
        return { body: { tools: catalog.names(), metadata: catalog.metadata() } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/pipelines/graph',
      id: 'drawPipeline',
      tag: 'Pipelines',
      summary: 'Get the waves of a pipeline as data or as a diagram',
      access: 'any',
      query: closedObject({
        format: Type.Optional(
          Type.Enum(['json', 'mermaid', 'dot', 'svg'], {
            default: 'json',
            description: 'Format of the graph: data, Mermaid, Graphviz or SVG.',
          }),
        ),
      }),
      body: DEFINITION_BODY,
      responses: {
        200: {
          description: 'The graph.',
          schema: GraphSchema,
          media: {
            'text/plain': 'flowchart LR',
            'text/vnd.graphviz': 'digraph "example" {}',
            [SVG_TYPE]: '<svg xmlns="http://www.w3.org/2000/svg"/>',
          },
        },
      },
      errors: ['invalid_definition', 'shutting_down'],
      handle: async (request) => {
        const tenantId = resolveTenant(request.caller);
        const source = readPipelineSource(request);
        const { pipeline } = await checker.loadPipeline(source, request.body ?? {}, tenantId);
        const graph = createGraph(pipeline);
        if (request.query.format === 'mermaid') return { text: renderMermaid(graph), type: 'text/plain' };
        if (request.query.format === 'dot') return { text: renderDot(graph), type: 'text/vnd.graphviz' };
        if (request.query.format === 'svg') {
          const text = await runInSlices(renderSvgInSteps(graph), tenantId);
          return { text, type: SVG_TYPE, headers: SVG_HEADERS };
        }
        return { body: graph };
      },
    }),
  ];
}

/** `POST /pipelines/run` and `POST /pipelines/run_async`. */
export function pipelineRunRoutes(services: HttpServices): Route[] {
  return createRunRoutes(services, {
    kind: 'pipeline',
    tag: 'Runs',
    body: {
      yaml: EXAMPLE_YAML,
      misplacedFields: MISPLACED_FIELDS,
      examples: { hello: { pipeline: EXAMPLE_PIPELINE, params: { name: 'Ada' } } },
    },
    runSchema: RunRequestSchema,
    runAsyncSchema: RunAsyncRequestSchema,
    resultSchema: RunResultSchema,
    read: (request, tenantId) => {
      const { pipeline: _, yaml, ...values } = request.body ?? {};
      const definition = readPipelineSource(request);
      return { definition, values, tenantId, submittedText: request.yaml ?? yaml };
    },
  });
}
