import type { Steps } from '../../../common/steps.js';
import { toIsoTime } from '../../../common/clock.js';
import type { OpenInspection } from '../../../runs/inspection/inspection.js';
import { recordingFormat, runInTurns } from '../../../runs/registry.js';
import { authorizeRun } from '../../auth/authenticate.js';
import { defineRoute, type Route } from '../../routing/route.js';
import { InspectionListSchema } from '../../schemas/inspection.js';
import { RunIdParams } from '../../schemas/request.js';
import type { HttpServices } from '../../services.js';
import { STREAM_HEADERS, STREAM_TYPE } from '../../sse/frames.js';
import type { EventStreams } from '../../sse/streams.js';
import {
  assertNoLimit,
  DEFAULT_EVENT_LIMIT,
  EventsQuery,
  findStatus,
  JSON_MEDIA_TYPE,
  LastEventId,
} from './event-request.js';

const RECORDING_TYPE = 'application/x-ndjson';

const STREAM_EXAMPLE = [
  'retry: 1000',
  '',
  'id: 1',
  'data: {"seq":1,"time":"2026-01-01T00:00:00.000Z","actor":"run","src":"run","event":"@attached","data":{},"source":null,"from":null,"state":"running","transition":null,"status":"active","snapshot":{}}',
  '',
  '',
].join('\n');

const DESCRIPTION = [
  'For debugging: what each actor of the run receives, and its state before and after. Returns a stream of Server-Sent Events,',
  'or with `Accept: application/json` a list of at most `limit` entries so far.',
  '',
  'Recording begins with the first request for a run, and goes on until some seconds after the last one has ended. The first',
  'entries then say `@attached`: one for each actor that exists, and for the tasks, items and sub-runs that have settled. Of a',
  'run that settled before, `origin` is `events`: its entries are inferred from its events. Numbers, `Last-Event-ID`, `gap` and `end` are as those of its events.',
].join('\n');

/** Routes of the inspector. Their streams count with those of events. */
export function inspectionRoutes(services: HttpServices, streams: EventStreams): Route[] {
  return [inspection(services, streams), recording(services)];
}

function inspection({ registry }: HttpServices, streams: EventStreams): Route {
  return defineRoute({
    method: 'GET',
    path: '/pipelines/runs/{run_id}/inspection',
    id: 'inspectRun',
    tag: 'Runs',
    summary: 'Stream or list what the actors of a run do',
    description: DESCRIPTION,
    access: 'read',
    params: RunIdParams,
    query: EventsQuery,
    headers: LastEventId,
    defaultMediaType: STREAM_TYPE,
    responses: {
      200: {
        description: 'The stream, or the list so far.',
        schema: InspectionListSchema,
        media: { [STREAM_TYPE]: STREAM_EXAMPLE },
      },
      204: { description: 'The run has settled and the client has every entry: there will be no more.' },
    },
    errors: ['run_not_found', 'too_many_streams', 'memory_full'],
    handle: async (request) => {
      const { params, query, headers, caller, mediaType } = request;
      const runId = authorizeRun(registry, caller, params.run_id);
      const tenantId = registry.tenantId(runId);
      const after = headers['last-event-id'] ?? query.after ?? 0;
      if (mediaType !== JSON_MEDIA_TYPE) {
        assertNoLimit(query.limit);
        streams.assertCapacity(tenantId);
      }
      const view = await registry.inspection(runId);
      const { log } = view;
      if (mediaType === JSON_MEDIA_TYPE) {
        view.close();
        return { text: formatList(runId, view, after, query.limit), runId };
      }
      if (log.isClosed && after >= log.lastSeq) {
        view.close();
        return { status: 204, runId };
      }
      // Whatever comes of the response: a stream, only its head, or nothing because the client has left.
      const close = (): void => view.close();
      request.disconnected().addEventListener('abort', close);
      const source = { runId, tenantId, log, status: () => findStatus(registry, runId) };
      return {
        headers: STREAM_HEADERS,
        stream: (response) => {
          response.once('close', close);
          if (response.destroyed) return close();
          const release = registry.retain(runId);
          if (release) response.once('close', release);
          streams.open(source, after, response);
        },
        onSent: close,
        runId,
      };
    },
  });
}

/** The entries are text already. */
function formatList(
  runId: string,
  { log, origin }: OpenInspection,
  after: number,
  limit = DEFAULT_EVENT_LIMIT,
): string {
  const { events, gap } = log.readAfter(after, limit);
  const { last_seq, closed } = { last_seq: log.lastSeq, closed: log.isClosed };
  const [head, tail] = [{ run_id: runId }, { last_seq, gap, closed, origin }].map((part) =>
    JSON.stringify(part).slice(1, -1),
  );
  return `{${head},"entries":[${events.map(({ json }) => json).join(',')}],${tail}}`;
}

function recording({ registry, clock, version, statecharts }: HttpServices): Route {
  return defineRoute({
    method: 'GET',
    path: '/pipelines/runs/{run_id}/recording',
    id: 'getRecording',
    tag: 'Runs',
    summary: 'Download what the actors of a run have done so far',
    description:
      'JSON lines: a head with the record of the run and the statecharts, one line for each entry of its inspection, and the end. `wavetrain inspect FILE` opens it. Secrets are masked.',
    access: 'read',
    params: RunIdParams,
    responses: {
      200: {
        description: 'The recording.',
        media: { [RECORDING_TYPE]: '{"wavetrain_recording":1,"version":"0.1.0"}\n' },
        headers: { 'Content-Disposition': 'Names the file after the run.' },
      },
    },
    errors: ['run_not_found', 'memory_full'],
    handle: async ({ params, caller }) => {
      const runId = authorizeRun(registry, caller, params.run_id);
      const charts = (await statecharts?.()) ?? [];
      const view = await registry.inspection(runId);
      try {
        const head = recordingFormat.formatHead({
          version,
          recorded_at: toIsoTime(clock.now()),
          run: registry.record(runId),
          statecharts: charts,
          origin: view.origin,
        });
        const text = await runInTurns(writeRecording(head, view), registry.tenantId(runId));
        const headers = { 'Content-Disposition': `attachment; filename="${runId}.wtrec"` };
        return { text, type: RECORDING_TYPE, headers, runId };
      } finally {
        view.close();
      }
    },
  });
}

/** Entries that are written in one step. */
const ENTRIES_PER_STEP = 1000;

function* writeRecording(head: string, { log }: OpenInspection): Steps<string> {
  // What is added while this is written is left out.
  const last = log.lastSeq;
  const parts = [head];
  let entries = 0;
  for (let seq = 0; seq < last; ) {
    const { events } = log.readAfter(seq, ENTRIES_PER_STEP);
    const written = events.filter((event) => event.seq <= last);
    parts.push(...written.map(({ json }) => `${json}\n`));
    entries += written.length;
    seq = events.at(-1)?.seq ?? last;
    yield;
  }
  parts.push(recordingFormat.formatEnd({ entries, dropped: last - entries }));
  return parts.join('');
}
