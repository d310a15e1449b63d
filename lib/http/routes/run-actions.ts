import { acceptedAnswer } from '../accepted.js';
import { type Route, route } from '../route.js';
import { CancelRequestSchema, RerunRequestSchema, RunIdParams } from '../schemas/request.js';
import { AcceptedSchema, RunRecordSchema } from '../schemas/run.js';
import type { HttpServices } from '../services.js';
import { visibleRun } from '../visible-run.js';

/** What can be done with a run. */
export function runActionRoutes(services: HttpServices): Route[] {
  return [cancel(services), rerun(services), remove(services)];
}

function cancel({ registry }: HttpServices): Route {
  return route({
    method: 'POST',
    path: '/pipelines/runs/{run_id}/cancel',
    id: 'cancelRun',
    tag: 'Runs',
    summary: 'Cancel a queued or running run',
    description:
      'The wave at work finishes and no further one starts: until then `settled` is false. With `force` the tools in flight are told to stop; that is also possible while a cancelled run has not settled yet.',
    access: 'run',
    params: RunIdParams,
    body: { schema: CancelRequestSchema, required: false, examples: { force: { force: true } } },
    answers: { 200: { description: 'The record of the cancelled run.', schema: RunRecordSchema } },
    errors: ['run_not_found', 'run_already_terminal'],
    handle: async ({ params, body = {}, caller }) => {
      const runId = visibleRun(registry, caller, params.run_id);
      return { body: await registry.cancel(runId, body), runId };
    },
  });
}

function rerun({ registry }: HttpServices): Route {
  return route({
    method: 'POST',
    path: '/pipelines/runs/{run_id}/rerun',
    id: 'rerunRun',
    tag: 'Runs',
    summary: 'Run a settled run once more, from where it failed if you like',
    description: 'A new run with what the first was given. Tasks that are reused are not called again.',
    access: 'run',
    params: RunIdParams,
    body: { schema: RerunRequestSchema, required: false, examples: { failed: { from: 'failed' } } },
    answers: {
      202: {
        description: 'The new run was accepted.',
        schema: AcceptedSchema,
        headers: { Location: 'Where the record of the new run is.' },
      },
    },
    errors: ['run_not_found', 'run_not_settled', 'nothing_to_rerun', 'queue_full', 'shutting_down'],
    handle: async ({ params, body = {}, caller }) => {
      const earlier = visibleRun(registry, caller, params.run_id);
      const runId = await registry.rerun(earlier, body.from);
      return acceptedAnswer(registry.acceptance(runId));
    },
  });
}

function remove({ registry }: HttpServices): Route {
  return route({
    method: 'DELETE',
    path: '/pipelines/runs/{run_id}',
    id: 'deleteRun',
    tag: 'Runs',
    summary: 'Forget a settled run',
    access: 'run',
    params: RunIdParams,
    answers: { 204: { description: 'It is forgotten.' } },
    errors: ['run_not_found', 'run_not_settled'],
    handle: ({ params, caller }) => {
      const runId = visibleRun(registry, caller, params.run_id);
      registry.remove(runId);
      return { runId };
    },
  });
}
