import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INSPECTION_LIMITS } from '../../../lib/common/limits.js';
import type { InspectionEntry } from '../../../lib/runs/inspection/entry.js';
import { ANONYMOUS } from '../../../lib/http/auth/authenticate.js';
import { errorResponse } from '../../../lib/http/errors/error-response.js';
import { inspectionRoutes } from '../../../lib/http/sse/inspection-routes.js';
import { EventStreams } from '../../../lib/http/sse/streams.js';
import { settle } from '../../support/deferred.js';
import { ControlledRuns } from '../../runs/controlled-runs.js';
import { EventReader } from '../support/event-reader.js';

type Services = Parameters<typeof inspectionRoutes>[0];

const TWO_WAVES =
  '{id: held, goal: be held, tasks: [{id: a, tool: controlled}, {id: b, tool: controlled, await: [a]}]}';

describe('The number of streams of GET /pipelines/runs/{run_id}/inspection', () => {
  let server: Server;
  let url: string;
  let streams: EventStreams;
  let runs: ControlledRuns;
  let runId: string;

  beforeEach(async () => {
    runs = new ControlledRuns({}, TWO_WAVES);
    runId = await runs.submit();
    const { clock, registry } = runs;
    const log = { info: () => {} };
    const services = { clock, log, queries: registry.queries } as unknown as Services;
    streams = new EventStreams(services, { total: 1 });
    const [route] = inspectionRoutes(services, streams);
    server = createServer((_, response) => {
      const call = async (): Promise<void> => {
        const reply = (await route?.handle({
          params: { run_id: runId },
          query: {},
          headers: {},
          caller: ANONYMOUS,
          mediaType: 'text/event-stream',
          disconnected: () => new AbortController().signal,
        } as never)) as { readonly stream: (to: typeof response) => void };
        response.writeHead(200);
        reply.stream(response);
      };
      call().catch((thrown: unknown) => {
        const { status = 500, body } = errorResponse(thrown) ?? {};
        response.writeHead(status).end(JSON.stringify(body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('leaves nothing behind: neither a refused reader nor one that has left keeps the run recorded', async () => {
    const first = new EventReader(url);
    await first.waitUntil(() => first.events.length === 3);
    await (await fetch(url)).text();
    first.disconnect();
    while (streams.size > 0) await settle();
    runs.clock.advance(INSPECTION_LIMITS.lingerMs);
    runs.findCall(runId).resolve(1);
    await runs.waitUntilIdle();
    await runs.complete(runId);
    const { log } = await runs.registry.queries.inspection(runId);
    // The actors' states tell what happened unwatched, and no event does.
    const later = log.readAfter(3, 100).events.map(({ json }) => (JSON.parse(json) as InspectionEntry).event);
    expect(later).to.have.length(4);
    expect(new Set(later)).to.deep.equal(new Set(['@attached']));
    expect(runs.clock.pending).to.equal(0);
  });
});
