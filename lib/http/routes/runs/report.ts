import { estimateBytesInSteps } from '../../../common/json/json.js';
import { CHUNK_LENGTH } from '../../../common/json/json-writer.js';
import { drawInSteps } from '../../../plans/graph.js';
import { REPORT_POLICY, writeHtmlReport } from '../../../reports/html-report.js';
import { readReportData, type ReportSource } from '../../../reports/report-data.js';
import { runInSlices } from '../../../common/scheduling/run-in-slices.js';
import type { Caller } from '../../auth/authenticate.js';
import type { Route, TextChunks } from '../../routing/route.js';
import type { HttpServices } from '../../services.js';
import type { EventStreams } from '../../sse/streams.js';
import { showTo } from './tasks.js';
import { defineRunRoute } from './run-route.js';

const REPORT_TYPE = 'text/html';

const DESCRIPTION =
  'One HTML file that needs no network: why the run failed, its graph and its timeline, and its tasks with their values. It has at most 500 tasks, 100 items of fan-outs and the last 2,000 events, and says what is left out. Secrets are masked. The page runs no scripts: whatever tenants and tools have written in it is text.';

/** Sends a run as a page of its own (D59). It counts with the streams of events while it is sent. */
export function reportRoute(services: HttpServices, streams: EventStreams): Route {
  const { queries } = services;
  return defineRunRoute(queries, {
    path: '/report',
    id: 'getReport',
    summary: 'Download a report of a run',
    description: DESCRIPTION,
    responses: {
      200: {
        description: 'The report.',
        media: { [REPORT_TYPE]: '<!DOCTYPE html>' },
        headers: {
          'Content-Disposition': 'Names the file after the run.',
          'Content-Security-Policy': 'Lets a browser that shows the report run and load nothing.',
        },
      },
    },
    errors: ['too_many_streams', 'memory_full'],
    handle: ({ caller }, runId) => {
      return {
        headers: {
          'Content-Disposition': `attachment; filename="${runId}.html"`,
          'Content-Security-Policy': `${REPORT_POLICY}; frame-ancestors 'none'; sandbox`,
        },
        type: REPORT_TYPE,
        chunks: () => openReport(runId, caller, services, streams),
      };
    },
  });
}

/** Rejects with `too_many_streams`, `memory_full` or `run_not_found`. */
async function openReport(
  runId: string,
  caller: Caller,
  services: HttpServices,
  streams: EventStreams,
): Promise<TextChunks> {
  const { queries, clock, version, memory } = services;
  const tenantId = queries.tenantId(runId);
  const release = streams.acquire(tenantId);
  let held = 0;
  const hold = (bytes: number): void => {
    memory.reserve(tenantId, bytes, 'response');
    held += bytes;
  };
  const free = (): void => {
    memory.release(tenantId, held);
    held = 0;
  };
  try {
    const letGo = queries.retain(runId);
    try {
      const source = createSource(runId, caller, services, hold);
      const data = await readReportData(source);
      const parts = await runInSlices(writeHtmlReport(data, { version, now: clock.now() }), tenantId);
      // The values that were read are not needed any more.
      free();
      hold(parts.reduce((sum, { length }) => sum + 2 * length, 0));
      return new ReportChunks(parts, () => {
        free();
        release();
      });
    } finally {
      letGo?.();
    }
  } catch (error) {
    free();
    release();
    throw error;
  }
}

/** Reads the run from the registry, as the caller may see it. Values that are read take memory of the run's tenant. */
function createSource(
  runId: string,
  caller: Caller,
  { queries }: HttpServices,
  hold: (bytes: number) => void,
): ReportSource {
  const tenantId = queries.tenantId(runId);
  const held = async <T>(read: Promise<T>): Promise<T> => {
    const value = await read;
    hold(await runInSlices(estimateBytesInSteps(value), tenantId));
    return value;
  };
  return {
    // The record takes no memory besides that of the run.
    record: async () => queries.record(runId),
    tasks: async (query) => {
      const { tasks, next_cursor } = await held(queries.tasks(runId, query));
      return { tasks: tasks.map((task) => showTo(caller, task)), next_cursor };
    },
    items: async (taskId, query) => {
      const { items, next_cursor } = await held(queries.items(runId, taskId, query));
      return { items: items.map((item) => showTo(caller, item)), next_cursor };
    },
    task: async (taskId, options) => showTo(caller, await held(queries.task(runId, taskId, options))),
    item: async (taskId, item, options) =>
      showTo(caller, await held(queries.item(runId, taskId, item, options))),
    events: async (after, limit) => {
      const log = queries.events(runId);
      return { events: log.readAfter(after, limit).events, last_seq: log.lastSeq };
    },
    graph: () => held(queries.inspectDefinition(runId, drawInSteps)),
    blackboard: () => held(queries.blackboard(runId)),
  };
}

/** The parts of a report, about 64 KiB at once. */
class ReportChunks implements TextChunks {
  readonly close: () => void;
  readonly #parts: readonly string[];
  #position = 0;

  constructor(parts: readonly string[], close: () => void) {
    this.#parts = parts;
    this.close = close;
  }

  next(): string {
    let chunk = '';
    for (let part = this.#parts[this.#position]; part !== undefined; part = this.#parts[this.#position]) {
      if (chunk !== '' && chunk.length + part.length > CHUNK_LENGTH) break;
      chunk += part === '' ? '' : `${part}\n`;
      this.#position++;
    }
    return chunk;
  }
}
