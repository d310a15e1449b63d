import Type from 'typebox';
import { dot, graphOf, mermaid } from '../../pipelines/graph.js';
import { reportOf } from '../../pipelines/report.js';
import { PLANS_GO_ELSEWHERE } from '../misplaced.js';
import { checkPipelineIn, pipelineIn } from '../pipeline-definition.js';
import { type Route, route } from '../route.js';
import { GraphSchema, ValidationReportSchema } from '../schemas/definition.js';
import { DefinitionRequestSchema } from '../schemas/request.js';
import { ToolListSchema } from '../schemas/tool.js';
import type { HttpServices } from '../services.js';
import { EXAMPLE_PIPELINE, EXAMPLE_YAML } from './example.js';

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
