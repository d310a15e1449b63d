import { toIsoTime } from '../../common/clock.js';
import type { OpenInspection } from '../../runs/inspection/inspection.js';
import { recordingFormat } from '../../runs/inspection/recording.js';
import { runInSlices } from '../../common/scheduling/run-in-slices.js';
import type { Route, TextChunks } from '../routing/route.js';
import { InspectionListSchema } from '../../common/wire/inspection.js';
import type { HttpServices } from '../services.js';
import { STREAM_HEADERS } from './frames.js';
import type { EventStreams } from './streams.js';
import { assertNoLimit, DEFAULT_EVENT_LIMIT, JSON_MEDIA_TYPE, streamed, runSource } from './event-request.js';
import { defineRunRoute } from '../routes/runs/run-route.js';

const RECORDING_TYPE = 'application/x-ndjson';

const EXAMPLE =
  '{"seq":1,"time":"2026-01-01T00:00:00.000Z","actor":"run","src":"run","event":"@attached","data":{},"source":null,"from":null,"state":"running","transition":null,"status":"active","snapshot":{}}';

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
  const { queries } = services;
  return [
    defineRunRoute(queries, {
      path: '/inspection',
      id: 'inspectRun',
      summary: 'Stream or list what the actors of a run do',
      description: DESCRIPTION,
      ...streamed(InspectionListSchema, 'entry', EXAMPLE),
      errors: ['too_many_streams', 'memory_full'],
      handle: async (request, runId) => {
        const { query, headers, mediaType } = request;
        const tenantId = queries.tenantId(runId);
        const after = headers['last-event-id'] ?? query.after ?? 0;
        if (mediaType !== JSON_MEDIA_TYPE) {
          assertNoLimit(query.limit);
          streams.assertCapacity(tenantId);
        }
        const view = await queries.inspection(runId);
        const { log } = view;
        // Closes the view after a list or a stream, after a head alone, and when the client has left before.
        const close = (): void => view.close();
        request.disconnected().addEventListener('abort', close);
        if (mediaType === JSON_MEDIA_TYPE) {
          return { text: formatList(runId, view, after, query.limit), onSent: close };
        }
        if (log.isClosed && after >= log.lastSeq) return { status: 204, onSent: close };
        // Other clients may have opened streams meanwhile.
        streams.assertCapacity(tenantId);
        const source = runSource(queries, runId, log);
        return {
          headers: STREAM_HEADERS,
          stream: (response) => {
            response.once('close', close);
            if (response.destroyed) return close();
            streams.open(source, after, response, request.caller.revocation);
          },
          onSent: close,
        };
      },
    }),
    defineRunRoute(queries, {
      path: '/recording',
      id: 'getRecording',
      summary: 'Download what the actors of a run have done so far',
      description:
        'JSON lines: a head with the record of the run and the statecharts, one line for each entry of its inspection, and the end. The head has the inputs and errors of the first tasks and items that have failed. `wavetrain inspect FILE` opens it. Secrets are masked.',
      responses: {
        200: {
          description: 'The recording.',
          media: { [RECORDING_TYPE]: '{"wavetrain_recording":1,"version":"0.1.0"}\n' },
          headers: { 'Content-Disposition': 'Names the file after the run.' },
        },
      },
      errors: ['too_many_streams', 'memory_full'],
      handle: (_request, runId) => {
        return {
          headers: { 'Content-Disposition': `attachment; filename="${runId}.wtrec"` },
          type: RECORDING_TYPE,
          chunks: () => openRecording(runId, services, streams),
        };
      },
    }),
  ];
}

/** The characters of a page; an entry has some 6,000 at most. */
const MAX_PAGE_LENGTH = 2 ** 20;

/** The entries are text already. A page has at least one, if there is one. */
function formatList(
  runId: string,
  { log, origin }: OpenInspection,
  after: number,
  limit = DEFAULT_EVENT_LIMIT,
): string {
  const { events, gap } = log.readAfter(after, limit);
  const entries: string[] = [];
  let length = 0;
  for (const { json } of events) {
    length += json.length + 1;
    if (length > MAX_PAGE_LENGTH && entries.length > 0) break;
    entries.push(json);
  }
  const end = { last_seq: log.lastSeq, gap, closed: log.isClosed, origin };
  return `{"run_id":${JSON.stringify(runId)},"entries":[${entries.join(',')}],${JSON.stringify(end).slice(1)}`;
}

/** Counts as a stream while it is sent: it is one that ends with the entries that there are. */
async function openRecording(
  runId: string,
  { queries, clock, version, statecharts }: HttpServices,
  streams: EventStreams,
): Promise<TextChunks> {
  const tenantId = queries.tenantId(runId);
  const release = streams.acquire(tenantId);
  let view: OpenInspection | undefined;
  const close = (): void => {
    view?.close();
    release();
  };
  try {
    const charts = (await statecharts?.()) ?? [];
    view = await queries.inspection(runId);
    const { origin, log } = view;
    const failed_calls = await queries.failedCalls(runId, recordingFormat.failedCalls);
    const run = queries.record(runId);
    const recorded_at = toIsoTime(clock.now());
    const parts = { version, recorded_at, run, failed_calls, statecharts: charts, origin };
    const head = await runInSlices(recordingFormat.createHead(parts), tenantId);
    const chunks = recordingFormat.writeChunks(head, log);
    return { next: () => chunks.next().value ?? '', close };
  } catch (error) {
    close();
    throw error;
  }
}
