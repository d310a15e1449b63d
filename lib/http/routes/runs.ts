import Type from 'typebox';
import { authorizeRun, canUseTenant } from '../auth/authenticate.js';
import { defineRoute, type Route } from '../routing/route.js';
import { CancelRequestSchema, RerunRequestSchema, RunIdParams, TenantId } from '../schemas/request.js';
import { AcceptedSchema, RunPageSchema, RunRecordSchema, RunStatusSchema } from '../schemas/run.js';
import { anyJsonObject } from '../schemas/wire.js';
import type { HttpServices } from '../services.js';
import { formatEtag, IfNoneMatch, matchesEtag, NOT_MODIFIED } from './conditional-get.js';
import { LongPolls } from './long-poll.js';
import { createFingerprint } from './fingerprint.js';
import { acceptedResult, IdempotencyHeaders, REPLAYED, REPLAYED_HEADERS } from './submit.js';

/** Routes that read runs. */
export function runRoutes(services: HttpServices): Route[] {
  return [list(services), record(services), snapshot(services)];
}

const ListQuery = Type.Object(
  {
    status: Type.Optional(RunStatusSchema),
    tenant_id: Type.Optional(TenantId),
    pipeline_id: Type.Optional(
      Type.String({ maxLength: 128, description: 'Only runs of this pipeline or plan.' }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 500,
        default: 50,
        description: 'Largest number of runs on the page, which has fewer when they would exceed 1 MiB.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({ maxLength: 32, description: 'The `next_cursor` of the previous page.' }),
    ),
  },
  { additionalProperties: false },
);

function list({ registry }: HttpServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/pipelines/runs',
    id: 'listRuns',
    tag: 'Runs',
    summary: 'List runs, newest first',
    access: 'read',
    query: ListQuery,
    responses: { 200: { description: 'One page of runs.', schema: RunPageSchema } },
    handle: ({ query: { tenant_id, limit = 50, ...query }, caller }) => {
      const tenants =
        tenant_id === undefined
          ? (caller.tenants ?? undefined)
          : [tenant_id].filter((id) => canUseTenant(caller, id));
      return { body: registry.list({ ...query, limit, tenants }) };
    },
  });
}

const WaitQuery = Type.Object(
  {
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 60,
        description:
          'Seconds to wait for the run to settle or, with If-None-Match, for any change of the record. The response is sent then, or at the end of the time.',
      }),
    ),
  },
  { additionalProperties: false },
);

function record(services: HttpServices): Route {
  const { registry } = services;
  const polls = new LongPolls(services);
  return defineRoute({
    method: 'GET',
    path: '/pipelines/runs/{run_id}',
    id: 'getRun',
    tag: 'Runs',
    summary: 'Get the current record of a run',
    access: 'read',
    params: RunIdParams,
    query: WaitQuery,
    headers: IfNoneMatch,
    responses: {
      200: {
        description: 'The record.',
        schema: RunRecordSchema,
        headers: { ETag: 'Changes with the record. Send it as If-None-Match.' },
      },
      304: NOT_MODIFIED,
    },
    errors: ['run_not_found', 'too_many_streams'],
    handle: async (request) => {
      const { params, query, headers, caller } = request;
      const runId = authorizeRun(registry, caller, params.run_id);
      const ifNoneMatch = headers['if-none-match'];
      const getEtag = (): string => formatEtag(registry.version(runId));
      if (query.wait) {
        const isKnown = (version: string): boolean => matchesEtag(formatEtag(version), ifNoneMatch);
        const knows = ifNoneMatch === undefined ? undefined : isKnown;
        await polls.wait(runId, knows, query.wait * 1000, request.disconnected());
      }
      const etag = getEtag();
      if (matchesEtag(etag, ifNoneMatch)) return { status: 304, headers: { ETag: etag }, runId };
      return { body: registry.record(runId), isRunData: true, headers: { ETag: etag }, runId };
    },
  });
}

function snapshot({ registry }: HttpServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/pipelines/runs/{run_id}/snapshot',
    id: 'getRunSnapshot',
    tag: 'Runs',
    summary: 'Get the actor tree of a run',
    description:
      'For debugging: the persisted snapshot of the XState actor that is the run, including its child actors.',
    access: 'read',
    params: RunIdParams,
    responses: {
      200: { description: 'The snapshot.', schema: anyJsonObject('The format is that of XState.') },
    },
    errors: ['run_not_found'],
    handle: ({ params, caller }) => {
      const runId = authorizeRun(registry, caller, params.run_id);
      return { body: registry.snapshot(runId), runId };
    },
  });
}

/** Routes that change runs. */
export function runActionRoutes(services: HttpServices): Route[] {
  return [cancel(services), rerun(services), remove(services)];
}

function cancel({ registry }: HttpServices): Route {
  return defineRoute({
    method: 'POST',
    path: '/pipelines/runs/{run_id}/cancel',
    id: 'cancelRun',
    tag: 'Runs',
    summary: 'Cancel a queued or running run',
    description:
      'The current wave finishes and no further wave starts; until then `settled` is false. `force` also aborts the tools in flight, and is accepted until a cancelled run has settled.',
    access: 'run',
    params: RunIdParams,
    body: { schema: CancelRequestSchema, required: false, examples: { force: { force: true } } },
    responses: { 200: { description: 'The record of the cancelled run.', schema: RunRecordSchema } },
    errors: ['run_not_found', 'run_already_terminal'],
    handle: async ({ params, body = {}, caller }) => {
      const runId = authorizeRun(registry, caller, params.run_id);
      return { body: await registry.cancel(runId, body), isRunData: true, runId };
    },
  });
}

function rerun({ registry }: HttpServices): Route {
  return defineRoute({
    method: 'POST',
    path: '/pipelines/runs/{run_id}/rerun',
    id: 'rerunRun',
    tag: 'Runs',
    summary: 'Run a settled run again, completely or from where it failed',
    description:
      'Submits a new run with the definition and the values of the earlier one. Tasks whose outputs are reused are not called again.',
    access: 'run',
    params: RunIdParams,
    headers: IdempotencyHeaders,
    body: { schema: RerunRequestSchema, required: false, examples: { failed: { from: 'failed' } } },
    responses: {
      202: {
        description: 'The new run was accepted.',
        schema: AcceptedSchema,
        headers: {
          Location: 'The path of the record of the new run.',
          'Idempotent-Replayed': REPLAYED,
        },
      },
    },
    errors: [
      'run_not_found',
      'run_not_settled',
      'nothing_to_rerun',
      'queue_full',
      'shutting_down',
      'idempotency_conflict',
    ],
    handle: async ({ params, headers, body = {}, caller }) => {
      const earlier = authorizeRun(registry, caller, params.run_id);
      const key = headers['idempotency-key'];
      if (key === undefined)
        return acceptedResult(registry.accepted(await registry.rerun(earlier, body.from)));
      const fingerprint = createFingerprint('rerun', { ...body, run_id: earlier });
      const { run_id, status, isReplayed } = await registry.submitOnce(
        registry.tenantId(earlier),
        { key, fingerprint },
        (submission) => registry.rerun(earlier, body.from, submission),
      );
      return acceptedResult({ run_id, status }, isReplayed ? REPLAYED_HEADERS : {});
    },
  });
}

function remove({ registry }: HttpServices): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/pipelines/runs/{run_id}',
    id: 'deleteRun',
    tag: 'Runs',
    summary: 'Delete a settled run',
    access: 'run',
    params: RunIdParams,
    responses: { 204: { description: 'The run was deleted.' } },
    errors: ['run_not_found', 'run_not_settled'],
    handle: ({ params, caller }) => {
      const runId = authorizeRun(registry, caller, params.run_id);
      registry.remove(runId);
      return { runId };
    },
  });
}
