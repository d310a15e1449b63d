import { fairYield } from '../../../common/scheduling/run-in-slices.js';
import { RecordTexts } from '../../responses/record-texts.js';
import type { Route } from '../../routing/route.js';
import { CancelRequestSchema } from '../../schemas/request.js';
import { RunRecordSchema } from '../../../common/wire/run.js';
import { anyJsonObject } from '../../../common/wire/shape.js';
import type { HttpServices } from '../../services.js';
import { formatEtag, IfNoneMatch, matchesEtag, NOT_MODIFIED } from '../../responses/conditional-get.js';
import { LongPolls } from './long-poll.js';
import { deleteRunsRoute } from './delete-runs.js';
import { listRunsRoute } from './list-runs.js';
import { statisticsRoute } from './statistics.js';
import { rerunPreviewRoute, rerunRoute } from './rerun.js';
import { closedObject, optionalNumber } from '../../schemas/fields.js';
import { defineRunRoute } from './run-route.js';

/** Routes that read runs. */
export function runRoutes(services: HttpServices): Route[] {
  const { queries } = services;
  return [
    listRunsRoute(services),
    statisticsRoute(services),
    record(services),
    defineRunRoute(queries, {
      path: '/snapshot',
      id: 'getRunSnapshot',
      summary: 'Get the actor tree of a run',
      description:
        'For debugging: the persisted snapshot of the XState actor that is the run, including its child actors.',
      responses: {
        200: { description: 'The snapshot.', schema: anyJsonObject('The format is that of XState.') },
      },
      handle: async (request, runId) => {
        // The tree of a plan may have thousands of actors: its time counts in the turn of its tenant.
        await fairYield(queries.tenantId(runId));
        return { body: await queries.actors.snapshot(runId, request.disconnected()) };
      },
    }),
  ];
}

const WaitQuery = closedObject({
  wait: optionalNumber({
    minimum: 0,
    maximum: 60,
    description:
      'Seconds to wait for the run to settle or, with If-None-Match, for any change of the record. The response is sent then, or at the end of the time.',
  }),
});

function record(services: HttpServices): Route {
  const { queries } = services;
  const polls = new LongPolls(services);
  const texts = new RecordTexts();
  return defineRunRoute(queries, {
    id: 'getRun',
    summary: 'Get the current record of a run',
    description:
      'To wait for a run, repeat this with `wait=30` until `settled` is true. Then read `result` of a run that has succeeded, `error` and `failures` of one that has failed. Plain polling is cheap with the `ETag` of the last response as `If-None-Match`: the response to an unchanged record is 304 without a body.',
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
    errors: ['too_many_streams'],
    handle: async (request, runId) => {
      const { query, headers } = request;
      const ifNoneMatch = headers['if-none-match'];
      if (query.wait) {
        const isKnown = (version: string): boolean => matchesEtag(formatEtag(version), ifNoneMatch);
        const knows = ifNoneMatch === undefined ? undefined : isKnown;
        await polls.wait(runId, knows, query.wait * 1000, request.disconnected());
      }
      const version = queries.version(runId);
      const head = { headers: { ETag: formatEtag(version) } };
      if (matchesEtag(head.headers.ETag, ifNoneMatch)) return { ...head, status: 304 };
      const body = texts.toBody(runId, version, () => queries.record(runId));
      // A crash must not take back what somebody was answered (D68).
      await queries.committed(runId);
      return Object.assign(head, body);
    },
  });
}

/** Routes that change runs. */
export function runActionRoutes(services: HttpServices): Route[] {
  const { registry, queries } = services;
  return [
    defineRunRoute(queries, {
      method: 'POST',
      path: '/cancel',
      id: 'cancelRun',
      summary: 'Cancel a queued or running run',
      description:
        'The current wave finishes and no further wave starts; until then `settled` is false. `force` also aborts the tools in flight, and is accepted until a cancelled run has settled.',
      access: 'run',
      body: { schema: CancelRequestSchema, required: false, examples: { force: { force: true } } },
      responses: { 200: { description: 'The record of the cancelled run.', schema: RunRecordSchema } },
      errors: ['run_already_terminal'],
      handle: async ({ body = {} }, runId) => ({ body: await registry.cancel(runId, body), isRunData: true }),
    }),
    resume(services, 'continue'),
    resume(services, 'step'),
    rerunRoute(services),
    rerunPreviewRoute(services),
    deleteRunsRoute(services),
    defineRunRoute(queries, {
      method: 'DELETE',
      id: 'deleteRun',
      summary: 'Delete a settled run',
      access: 'run',
      responses: { 204: { description: 'The run was deleted.' } },
      errors: ['run_not_settled'],
      handle: (_request, runId) => {
        registry.remove(runId);
        return {};
      },
    }),
  ];
}

function resume({ registry, queries }: HttpServices, by: 'continue' | 'step'): Route {
  const isStep = by === 'step';
  return defineRunRoute(queries, {
    method: 'POST',
    path: `/${by}`,
    id: `${by}Run`,
    summary: isStep ? 'Let a paused run execute one wave' : 'Let a paused run go on',
    description: isStep
      ? 'It pauses again before the wave after it. Of a plan, each paused sub-pipeline executes one wave.'
      : 'It pauses again at its next breakpoint. Of a plan, all paused sub-pipelines go on.',
    access: 'run',
    responses: { 200: { description: 'The record of the run.', schema: RunRecordSchema } },
    errors: ['run_not_paused'],
    handle: async (_request, runId) => {
      const body = registry.resume(runId, by);
      await queries.committed(runId);
      return { body, isRunData: true };
    },
  });
}
