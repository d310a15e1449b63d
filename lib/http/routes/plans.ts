import type { Static } from 'typebox';
import type { PlanInputs } from '../../execution/run-inputs.js';
import { planReportOf } from '../../plans/load.js';
import type { Catalog } from '../../tools/catalog.js';
import { tenantFor } from '../auth/caller.js';
import { PIPELINES_GO_ELSEWHERE } from '../routing/misplaced-fields.js';
import { checkPlanIn, planIn, type PlanRequest } from './definition-body.js';
import { type Route, route } from '../routing/route.js';
import { PlanResultSchema } from '../schemas/outcome.js';
import { PlanReportSchema } from '../schemas/plan.js';
import {
  PlanRequestSchema,
  PlanRunAsyncRequestSchema,
  PlanRunRequestSchema,
} from '../schemas/plan-request.js';
import type { HttpServices } from '../services.js';
import { ACCEPTED, acceptedOnce, IDEMPOTENCY, REFUSALS, resultOf, RUN_ID_HEADER, WAITING } from './submit.js';
import { EXAMPLE_PLAN, EXAMPLE_PLAN_PIPELINES, EXAMPLE_PLAN_YAML } from './examples.js';

const DEFINITION = { plan: EXAMPLE_PLAN, pipelines: EXAMPLE_PLAN_PIPELINES };
const EXAMPLES = { letter: { ...DEFINITION, inputs: { name: 'Ada' } } };

const OF_PLANS = { yaml: EXAMPLE_PLAN_YAML, misplaced: PIPELINES_GO_ELSEWHERE };

/** What can be done with a plan; its runs are runs like any other. */
export function planRoutes(services: HttpServices): Route[] {
  return [validate(services), synchronous(services), asynchronous(services)];
}

function validate({ catalog }: HttpServices): Route {
  return route({
    method: 'POST',
    path: '/plans/validate',
    id: 'validatePlan',
    tag: 'Plans',
    summary: 'Check a plan without running it',
    description:
      'Reports every problem with its place and a hint, those of its pipelines among them. A plan with errors is answered with status 200 and `ok: false`. A sub-pipeline whose pipeline is neither in the plan nor in `pipelines` is checked by what the plan says of it, with a warning.',
    access: 'any',
    body: { schema: PlanRequestSchema, ...OF_PLANS, examples: { letter: DEFINITION } },
    answers: { 200: { description: 'The report.', schema: PlanReportSchema } },
    handle: (request) => ({ body: planReportOf(checkPlanIn(request, catalog, false)) }),
  });
}

function synchronous(services: HttpServices): Route {
  const { registry, catalog } = services;
  return route({
    method: 'POST',
    path: '/plans/run',
    id: 'runPlan',
    tag: 'Plans',
    summary: 'Run a plan and wait for its result',
    description: `Its sub-pipelines run in the order of the keys that they read and store. ${WAITING}`,
    access: 'run',
    body: { schema: PlanRunRequestSchema, ...OF_PLANS, examples: EXAMPLES },
    answers: {
      200: { description: 'The run succeeded.', schema: PlanResultSchema, headers: RUN_ID_HEADER },
    },
    errors: [...REFUSALS, 'task_failed', 'run_cancelled'],
    handle: async (request) => {
      const run = runOf(request, catalog, tenantFor(request.caller));
      return resultOf(services, await registry.submitPlan(run));
    },
  });
}

function asynchronous(services: HttpServices): Route {
  const { registry, catalog } = services;
  return route({
    method: 'POST',
    path: '/plans/run_async',
    id: 'submitPlan',
    tag: 'Plans',
    summary: 'Submit a plan and get its run id at once',
    description: 'The run stands with those of pipelines at `/pipelines/runs/{run_id}`.',
    access: 'run',
    headers: IDEMPOTENCY,
    body: { schema: PlanRunAsyncRequestSchema, ...OF_PLANS, examples: EXAMPLES },
    answers: { 202: ACCEPTED },
    errors: [...REFUSALS, 'idempotency_conflict'],
    handle: (request) => {
      const tenantId = tenantFor(request.caller, request.body?.tenant_id);
      return acceptedOnce(services, 'plan', tenantId, request, (idempotency) =>
        registry.submitPlan(runOf(request, catalog, tenantId), { idempotency }),
      );
    },
  });
}

type Submitted = PlanRequest & { readonly body: Static<typeof PlanRunAsyncRequestSchema> | undefined };

/** What a run starts from. Throws an InvalidDefinitionError with every problem. */
function runOf(request: Submitted, catalog: Catalog, tenantId: string): PlanInputs {
  const { plan: _, yaml: __, pipelines: ___, ...given } = request.body ?? {};
  return { ...given, plan: planIn(request, catalog), tenant_id: tenantId };
}
