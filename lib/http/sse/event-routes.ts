import type { EventLog } from '../../runs/event-log.js';
import { STREAM_HEADERS, STREAM_TYPE } from './frames.js';
import { EventStreams } from './streams.js';
import { type Route, defineRoute } from '../routing/route.js';
import { EventListSchema } from '../../common/wire/event.js';
import type { EventList } from '../../execution/events/event.js';
import { RunIdParams } from '../schemas/request.js';
import type { HttpServices } from '../services.js';
import {
  assertNoLimit,
  DEFAULT_EVENT_LIMIT,
  EventsQuery,
  findStatus,
  JSON_MEDIA_TYPE,
  LastEventId,
} from './event-request.js';
import { inspectionRoutes } from './inspection-routes.js';
import { reportRoute } from '../routes/runs/report.js';
import { authorizeRun } from '../auth/authenticate.js';

/** Event streams that may be open at once. */
const MAX_STREAMS = 5000;

const STREAM_EXAMPLE = [
  'retry: 1000',
  '',
  'id: 1',
  'data: {"seq":1,"time":"2026-01-01T00:00:00.000Z","run_id":"019b7600-0000-7000-8000-000000000000","kind":"run","status":"queued"}',
  '',
  '',
].join('\n');

const DESCRIPTION = [
  'Returns a stream of Server-Sent Events, or with `Accept: application/json` a list of at most `limit` events so far.',
  'Without an `Accept` header, or with `*/*`, it returns the stream.',
  '',
  'Each event has its number as `id` and JSON as `data`. To resume after a broken connection, send `Last-Event-ID`, as',
  'browsers do, or `after`. If older events have been dropped, an event named `gap` (`{"after", "next"}`) says which. The',
  'last event is named `end` (`{"run_id", "status"}`); the response to a request after it is 204.',
  '',
  'A run of a plan has one list of events. Those of a sub-pipeline name it as `sub_pipeline`, and an event of kind',
  '`sub_pipeline` reports each change of its status. When a task runs another pipeline, the events of that nested run',
  'list the tasks that contain it as `within`, outermost first.',
].join('\n');

/** Routes that report what a run does while it runs (D30, D35). At most `maxStreams` may be open. */
export function eventRoutes(services: HttpServices, maxStreams = MAX_STREAMS): Route[] {
  const { queries, shareOf } = services;
  const streams = new EventStreams(services, shareOf(maxStreams));
  return [
    defineRoute({
      method: 'GET',
      path: '/pipelines/runs/{run_id}/events',
      id: 'readEvents',
      tag: 'Runs',
      summary: 'Stream or list the events of a run',
      description: DESCRIPTION,
      access: 'read',
      params: RunIdParams,
      query: EventsQuery,
      headers: LastEventId,
      defaultMediaType: STREAM_TYPE,
      responses: {
        200: {
          description: 'The stream, or the list so far.',
          schema: EventListSchema,
          media: { [STREAM_TYPE]: STREAM_EXAMPLE },
        },
        204: { description: 'The run has settled and the client has every event: there will be no more.' },
      },
      errors: ['run_not_found', 'too_many_streams'],
      handle: ({ params, query, headers, caller, mediaType }) => {
        const runId = authorizeRun(queries, caller, params.run_id);
        const log = queries.events(runId);
        const after = headers['last-event-id'] ?? query.after ?? 0;
        if (mediaType === JSON_MEDIA_TYPE) return { body: listEvents(runId, log, after, query.limit), runId };
        assertNoLimit(query.limit);
        if (log.isClosed && after >= log.lastSeq) return { status: 204, runId };
        const tenantId = queries.tenantId(runId);
        streams.assertCapacity(tenantId);
        const source = { runId, tenantId, log, status: () => findStatus(queries, runId) };
        return {
          headers: STREAM_HEADERS,
          stream: (response) => {
            if (response.destroyed) return;
            const release = queries.retain(runId);
            if (release) response.once('close', release);
            streams.open(source, after, response);
          },
          runId,
        };
      },
    }),
    ...inspectionRoutes(services, streams),
    reportRoute(services, streams),
  ];
}

function listEvents(runId: string, log: EventLog, after: number, limit = DEFAULT_EVENT_LIMIT): EventList {
  const { events, gap } = log.readAfter(after, limit);
  return { run_id: runId, events, last_seq: log.lastSeq, gap, closed: log.isClosed };
}
