import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import { PathCollector } from '../../pipelines/shapes/readable-paths.js';
import { createPlanReport } from '../../plans/report.js';
import { resolveTenant } from '../auth/authenticate.js';
import { defineRoute, type Route } from '../routing/route.js';
import { PlanReportSchema } from '../../common/wire/report.js';
import {
  PATHS_QUERY,
  PlanRequestSchema,
  PlanRunAsyncRequestSchema,
  PlanRunRequestSchema,
} from '../schemas/request.js';
import { PlanResultSchema } from '../../common/wire/run.js';
import type { HttpServices } from '../services.js';
import { readPlanSource } from './definition-body.js';
import { EXAMPLE_PLAN, EXAMPLE_PLAN_PIPELINES, EXAMPLE_PLAN_YAML } from './examples.js';
import { createRunRoutes } from './start-run.js';

const EXAMPLE = { plan: EXAMPLE_PLAN, pipelines: EXAMPLE_PLAN_PIPELINES };

const MISPLACED_FIELDS = {
  pipeline:
    'send a pipeline to /pipelines/run, /pipelines/run_async or /pipelines/validate, and the pipelines of a plan in "pipelines"',
  params: 'a plan has no params: send values in "inputs", and give the params of its pipelines defaults',
};

/** Routes about plans. Their runs are found among all others, under `/pipelines/runs`. */
export function planRoutes(services: HttpServices): Route[] {
  const { checker } = services;
  return [
    defineRoute({
      method: 'POST',
      path: '/plans/validate',
      id: 'validatePlan',
      tag: 'Plans',
      summary: 'Validate a plan without running it',
      description:
        'Reports every problem of the plan and its pipelines with its position and a hint. The response to an invalid plan has status 200 and `ok: false`. A sub-pipeline whose pipeline is neither in the plan nor in `pipelines` is validated only by its declaration in the plan, with a warning.',
      access: 'any',
      query: PATHS_QUERY,
      body: {
        schema: PlanRequestSchema,
        yaml: EXAMPLE_PLAN_YAML,
        misplacedFields: MISPLACED_FIELDS,
        examples: { letter: EXAMPLE },
      },
      responses: { 200: { description: 'The report.', schema: PlanReportSchema } },
      errors: ['pipeline_not_found', 'shutting_down'],
      handle: async (request) => {
        const tenantId = resolveTenant(request.caller, request.body?.tenant_id);
        const source = await readPlanSource(request, services, tenantId);
        const collector = request.query.paths === true ? new PathCollector() : undefined;
        const options = { complete: false, onRead: collector?.onRead };
        const check = await checker.checkPlan(source, request.body ?? {}, tenantId, options);
        const report = createPlanReport(check);
        if (collector === undefined) return { body: report };
        return { body: { ...report, paths: await runInSlices(collector.list(), tenantId) } };
      },
    }),
    ...createRunRoutes(services, {
      kind: 'plan',
      tag: 'Plans',
      descriptions: {
        run: 'The sub-pipelines run in the order of the keys that they read and store.',
        runAsync: 'The run is found at `/pipelines/runs/{run_id}`, like the run of a pipeline.',
      },
      body: {
        yaml: EXAMPLE_PLAN_YAML,
        misplacedFields: MISPLACED_FIELDS,
        examples: { letter: { ...EXAMPLE, inputs: { name: 'Ada' } } },
      },
      runSchema: PlanRunRequestSchema,
      runAsyncSchema: PlanRunAsyncRequestSchema,
      resultSchema: PlanResultSchema,
      errors: ['pipeline_not_found'],
      read: async (request, tenantId) => {
        const { plan: _, yaml, pipelines: __, beside: ___, ...values } = request.body ?? {};
        const definition = await readPlanSource(request, services, tenantId);
        return { definition, values, tenantId, submittedText: request.yaml ?? yaml };
      },
    }),
  ];
}
