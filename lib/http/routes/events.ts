import Type from 'typebox';
import type { RunStatus } from '../../../machines/types.js';
import { WavetrainError } from '../../common/errors.js';
import type { EventLog } from '../../runs/event-log.js';
import type { RunRegistry } from '../../runs/registry.js';
import { EventStreams } from '../sse/streams.js';
import { type Route, route } from '../routing/route.js';
import { type EventList, EventListSchema } from '../schemas/event.js';
import { RunIdParams } from '../schemas/request.js';
import type { HttpServices } from '../services.js';
import { visibleRun } from '../auth/caller.js';

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';

const USUAL_LIMIT = 1000;
const LARGEST_LIMIT = 10_000;

const EXAMPLE = [
  'retry: 1000',
  '',
  'id: 1',
  'data: {"seq":1,"time":"2026-01-01T00:00:00.000Z","run_id":"019b7600-0000-7000-8000-000000000000","kind":"run","status":"queued"}',
  '',
  '',
].join('\n');

const DESCRIPTION = [
  'A stream of Server-Sent Events, unless `Accept` asks for JSON: without that header, and with `*/*`, it is the stream.',
  'Each event has its number as `id` and JSON as `data`. After a broken connection ask again with `Last-Event-ID`, as',
  'browsers do by themselves, or with `after`. An event named `gap` (`{"after", "next"}`) tells that those between are',
  'kept no longer. The event named `end` (`{"run_id", "status"}`) is the last; who asks again afterwards is answered',
  '204. With `Accept: application/json` the answer is the list so far, at most `limit` events of it.',
  '',
  'A run of a plan has one list of events. Those of its sub-pipelines name theirs as `sub_pipeline`, and one of the kind',
  '`sub_pipeline` tells each status that a sub-pipeline comes to. When a task runs a pipeline of its own, the events of',
  'that one have the tasks that they happened in as `within`, the outermost first.',
].join('\n');

const QUERY = Type.Object(
  {
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: 0,
        description: 'Number of the last event that is known already.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LARGEST_LIMIT,
        description: `Events of one list, ${USUAL_LIMIT} unless given. A stream takes none.`,
      }),
    ),
  },
  { additionalProperties: false },
);

const RESUMED = Type.Object({
  'last-event-id': Type.Optional(
    Type.Integer({ minimum: 0, description: 'As `after`, and stronger: what browsers send.' }),
  ),
});

/** Reading what happens in a run, while it happens (D30). `mostStreams` may be open at once. */
export function eventRoutes({ registry, clock }: HttpServices, mostStreams?: number): Route[] {
  const streams = new EventStreams(clock, mostStreams);
  return [
    route({
      method: 'GET',
      path: '/pipelines/runs/{run_id}/events',
      id: 'readEvents',
      tag: 'Runs',
      summary: 'The events of a run, as they come',
      description: DESCRIPTION,
      access: 'read',
      params: RunIdParams,
      query: QUERY,
      headers: RESUMED,
      prefers: STREAM_TYPE,
      answers: {
        200: {
          description: 'The stream, or the list so far.',
          schema: EventListSchema,
          media: { [STREAM_TYPE]: EXAMPLE },
        },
        204: {
          description: 'The run has settled, and the caller knows every event: nothing more will come.',
        },
      },
      errors: ['run_not_found', 'too_many_streams'],
      handle: ({ params, query, headers, caller, accepts }) => {
        const runId = visibleRun(registry, caller, params.run_id);
        const log = registry.events(runId);
        const after = headers['last-event-id'] ?? query.after ?? 0;
        if (accepts === JSON_TYPE) return { body: listOf(runId, log, after, query.limit), runId };
        refuseLimit(query.limit);
        if (log.isClosed && after >= log.last) return { status: 204, runId };
        streams.check();
        const source = { runId, log, status: () => statusOf(registry, runId) };
        return {
          headers: STREAM_HEADERS,
          stream: (response) => streams.open(source, after, response),
          runId,
        };
      },
    }),
  ];
}

/** Whatever stands between must neither keep nor gather what it is to hand on at once. */
const STREAM_HEADERS = {
  'Content-Type': `${STREAM_TYPE}; charset=utf-8`,
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

function listOf(runId: string, log: EventLog, after: number, limit = USUAL_LIMIT): EventList {
  const { events, gap } = log.after(after, limit);
  return { run_id: runId, events, last_seq: log.last, gap, closed: log.isClosed };
}

function refuseLimit(limit: number | undefined): void {
  if (limit === undefined) return;
  throw new WavetrainError(
    'invalid_request',
    `limit is for lists: leave it out, or send Accept: ${JSON_TYPE}`,
  );
}

function statusOf(registry: RunRegistry, runId: string): RunStatus | undefined {
  try {
    return registry.record(runId).status;
  } catch (thrown) {
    if (thrown instanceof WavetrainError && thrown.code === 'run_not_found') return undefined;
    throw thrown;
  }
}
