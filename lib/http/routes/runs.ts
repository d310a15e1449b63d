import Type from 'typebox';
import { mayUse, visibleRun } from '../auth/caller.js';
import { type Route, route } from '../routing/route.js';
import { CancelRequestSchema, RerunRequestSchema, RunIdParams, TenantId } from '../schemas/request.js';
import { AcceptedSchema, RunPageSchema, RunRecordSchema, RunStatusSchema } from '../schemas/run.js';
import { jsonObject } from '../schemas/wire.js';
import type { HttpServices } from '../services.js';
import { etagOf, isKnown } from './etag.js';
import { awaitChange } from './long-poll.js';
import { acceptedAnswer } from './submit.js';

/** Looking at runs. */
export function runRoutes(services: HttpServices): Route[] {
  return [list(services), record(services), snapshot(services)];
}

const LISTED = Type.Object(
  {
    status: Type.Optional(RunStatusSchema),
    tenant_id: Type.Optional(TenantId),
    pipeline_id: Type.Optional(Type.String({ description: 'Runs of one pipeline.' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'Runs on one page.' }),
    ),
    cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the page before.' })),
  },
  { additionalProperties: false },
);

function list({ registry }: HttpServices): Route {
  return route({
    method: 'GET',
    path: '/pipelines/runs',
    id: 'listRuns',
    tag: 'Runs',
    summary: 'Runs that are kept, the newest first',
    access: 'read',
    query: LISTED,
    answers: { 200: { description: 'One page.', schema: RunPageSchema } },
    handle: ({ query: { tenant_id, limit = 50, ...query }, caller }) => {
      const tenants =
        tenant_id === undefined
          ? (caller.tenants ?? undefined)
          : [tenant_id].filter((id) => mayUse(caller, id));
      return { body: registry.list({ ...query, limit, tenants }) };
    },
  });
}

const WAITED = Type.Object(
  {
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 60,
        description:
          'Seconds to wait for the run to settle, or, with If-None-Match, for any change. The answer comes then, or when the time is over.',
      }),
    ),
  },
  { additionalProperties: false },
);

const CONDITIONAL = Type.Object({
  'if-none-match': Type.Optional(
    Type.String({ description: 'The ETag of the record that is known already.' }),
  ),
});

function record(services: HttpServices): Route {
  const { registry } = services;
  return route({
    method: 'GET',
    path: '/pipelines/runs/{run_id}',
    id: 'getRun',
    tag: 'Runs',
    summary: 'A run as it is now',
    access: 'read',
    params: RunIdParams,
    query: WAITED,
    headers: CONDITIONAL,
    answers: {
      200: {
        description: 'The record.',
        schema: RunRecordSchema,
        headers: { ETag: 'Changes whenever the record does; give it back as If-None-Match.' },
      },
      304: { description: 'The record is the one that is known already.' },
    },
    errors: ['run_not_found'],
    handle: async ({ params, query, headers, caller, gone }) => {
      const runId = visibleRun(registry, caller, params.run_id);
      const known = headers['if-none-match'];
      const etag = (): string => etagOf(registry.version(runId));
      const isOld = known === undefined ? undefined : () => !isKnown(etag(), known);
      if (query.wait) await awaitChange(services, runId, isOld, query.wait * 1000, gone());
      const told = { headers: { ETag: etag() }, runId };
      if (isKnown(etag(), known)) return { status: 304, ...told };
      return { body: registry.record(runId), ...told };
    },
  });
}

function snapshot({ registry }: HttpServices): Route {
  return route({
    method: 'GET',
    path: '/pipelines/runs/{run_id}/snapshot',
    id: 'getRunSnapshot',
    tag: 'Runs',
    summary: 'The tree of actors behind a run',
    description:
      'For debugging: the persisted snapshot of the XState actor that is the run, its children within.',
    access: 'read',
    params: RunIdParams,
    answers: { 200: { description: 'The snapshot.', schema: jsonObject('As XState makes it.') } },
    errors: ['run_not_found'],
    handle: ({ params, caller }) => {
      const runId = visibleRun(registry, caller, params.run_id);
      return { body: registry.snapshot(runId), runId };
    },
  });
}

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
