import { writeYamlInSteps } from '../../../definition/text/write-yaml.js';
import { drawInSteps } from '../../../plans/graph.js';
import type { Route } from '../../routing/route.js';
import { DefinitionGraphSchema } from '../../../common/wire/report.js';
import { WholeQuery } from '../../schemas/request.js';
import { BlackboardSchema, EditableDefinitionSchema } from '../../../common/wire/submission.js';
import type { HttpServices } from '../../services.js';
import { closedObject } from '../../schemas/fields.js';
import { defineRunRoute } from './run-route.js';

const ERRORS = ['memory_full'] as const;

/** Routes that show what a run was submitted with, and what it has made of its session (D59, D60). */
export function submissionRoutes({ queries }: HttpServices): Route[] {
  return [
    defineRunRoute(queries, {
      path: '/graph',
      id: 'getRunGraph',
      summary: 'Get the waves and dependencies of a run',
      description:
        'The same data as of `POST /pipelines/graph`; of a plan, its sub-pipelines and the graph of each. It is there before anything has run.',
      responses: { 200: { description: 'The graph.', schema: DefinitionGraphSchema } },
      errors: ERRORS,
      handle: async (_request, runId) => ({ body: await queries.inspectDefinition(runId, drawInSteps) }),
    }),
    defineRunRoute(queries, {
      path: '/definition',
      id: 'getRunDefinition',
      summary: 'Get what a run was submitted with, to change it and run it again',
      description:
        'Send `definition` to the rerun of the run in `pipeline` or `plan`, or the text in `yaml`; longer YAML than 256 KiB has to be sent as JSON, and `yaml` is null when it would be longer than 1 MiB. `yaml` is the text that was sent, with its comments, if it was one. References to secrets stay; values of secrets are masked.',
      responses: { 200: { description: 'The definition and the values.', schema: EditableDefinitionSchema } },
      errors: ERRORS,
      handle: async (_request, runId) => ({ body: await queries.definition(runId, writeYamlInSteps) }),
    }),
    defineRunRoute(queries, {
      path: '/blackboard',
      id: 'getRunBlackboard',
      summary: 'Get the session values with which a run began, and those that it has now',
      description:
        'Of a plan, those of all its sub-pipelines. More than about 64 KiB of values are cut; `cut` has JSON pointers to what was cut, and `whole=true` shows it.',
      query: closedObject(WholeQuery),
      responses: { 200: { description: 'The values.', schema: BlackboardSchema } },
      errors: ERRORS,
      handle: async ({ query }, runId) => ({ body: await queries.blackboard(runId, query) }),
    }),
  ];
}
