import type { EventLog } from '../../runs/event-log.js';
import { STREAM_HEADERS } from './frames.js';
import { EventStreams } from './streams.js';
import type { Route } from '../routing/route.js';
import { EventListSchema } from '../../common/wire/event.js';
import type { EventList } from '../../execution/events/event.js';
import type { HttpServices } from '../services.js';
import { assertNoLimit, DEFAULT_EVENT_LIMIT, JSON_MEDIA_TYPE, streamed, runSource } from './event-request.js';
import { inspectionRoutes } from './inspection-routes.js';
import { reportRoute } from '../routes/runs/report.js';
import { defineRunRoute } from '../routes/runs/run-route.js';

/** Event streams that may be open at once. */
const MAX_STREAMS = 5000;

const EXAMPLE =
  '{"seq":1,"time":"2026-01-01T00:00:00.000Z","run_id":"019b7600-0000-7000-8000-000000000000","kind":"run","status":"queued"}';

const DESCRIPTION = [
  'Returns a stream of Server-Sent Events, or with `Accept: application/json` a list of at most `limit` events so far.',
  'Without an `Accept` header, or with `*/*`, it returns the stream.',
  '',
  'Each event has its number as `id` and JSON as `data`. To resume after a broken connection, send `Last-Event-ID`, as',
  'browsers do, or `after`. If older events have been dropped, an event named `gap` (`{"after", "next"}`) says which. The',
  'last event is named `end` (`{"run_id", "status"}`); the response to a request after it is 204. When the API key is',
  'removed from the keys file, or changed there, the last event is named `revoked` (`{"code", "message"}`).',
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
    defineRunRoute(queries, {
      path: '/events',
      id: 'readEvents',
      summary: 'Stream or list the events of a run',
      description: DESCRIPTION,
      ...streamed(EventListSchema, 'event', EXAMPLE),
      errors: ['too_many_streams'],
      handle: ({ query, headers, mediaType, caller }, runId) => {
        const log = queries.events(runId);
        const after = headers['last-event-id'] ?? query.after ?? 0;
        if (mediaType === JSON_MEDIA_TYPE) return { body: listEvents(runId, log, after, query.limit) };
        assertNoLimit(query.limit);
        if (log.isClosed && after >= log.lastSeq) return { status: 204 };
        const tenantId = queries.tenantId(runId);
        streams.assertCapacity(tenantId);
        const source = runSource(queries, runId, log);
        return {
          headers: STREAM_HEADERS,
          stream: (response) => {
            if (response.destroyed) return;
            const release = queries.retain(runId);
            if (release) response.once('close', release);
            streams.open(source, after, response, caller.revocation);
          },
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
