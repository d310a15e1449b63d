import { expect } from 'chai';
import { catchRejection } from '../../support/rejection.js';
import { ANONYMOUS } from '../../../lib/http/auth/authenticate.js';
import { request } from 'node:http';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { errorResponse } from '../../../lib/http/errors/error-response.js';
import { FLUSH_DELAY_MS } from '../../../lib/http/sse/streams.js';
import { eventRoutes } from '../../../lib/http/sse/event-routes.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ControlledTool } from '../../support/controlled-tool.js';
import { startTestServer, type TestServer, type TestServerOptions } from '../../support/http/test-server.js';
import { EventReader, type EventReaderOptions } from '../support/event-reader.js';
import { createApiKey } from '../../support/http/api-key.js';

const PIPELINE = { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] };

interface EventList {
  readonly run_id: string;
  readonly events: readonly LiveEvent[];
  readonly last_seq: number;
  readonly gap: boolean;
  readonly closed: boolean;
}

describe('GET /pipelines/runs/{run_id}/events (D30)', () => {
  let controlled: ControlledTool;
  let server: TestServer;
  let clock: ManualClock;

  async function open(options: TestServerOptions = {}): Promise<TestServer> {
    controlled = new ControlledTool();
    server = await startTestServer({ tools: [controlled.tool], ...options });
    return server;
  }

  /** Starts a run whose only task the spec controls. */
  async function start(headers: Record<string, string> = {}): Promise<string> {
    const body = { pipeline: PIPELINE };
    const response = await server.request<{ run_id: string }>('POST', '/pipelines/run_async', body, headers);
    expect(response.status).to.equal(202);
    await settle();
    return response.body.run_id;
  }

  function emit(count: number): void {
    for (let one = 0; one < count; one++) controlled.last.context.log(`${one}`);
  }

  async function finish(runId: string): Promise<void> {
    controlled.last.resolve(1);
    await server.registry.settled(runId);
  }

  function read(runId: string, options: EventReaderOptions & { query?: string } = {}): EventReader {
    return new EventReader(`${server.url}/pipelines/runs/${runId}/events${options.query ?? ''}`, options);
  }

  const list = (runId: string, query = '', headers: Record<string, string> = {}) =>
    server.request<EventList>('GET', `/pipelines/runs/${runId}/events${query}`, undefined, {
      accept: 'application/json',
      ...headers,
    });

  async function close(): Promise<void> {
    let isClosed = false;
    const closing = server.close(0).then(() => {
      isClosed = true;
    });
    while (!isClosed) {
      clock.advance(FLUSH_DELAY_MS);
      await settle();
    }
    await closing;
  }

  beforeEach(() => {
    clock = new ManualClock();
  });

  afterEach(close);

  it('streams all events from the first until the run has settled', async () => {
    await open();
    const runId = await start();
    const reader = read(runId);
    const { statusCode, headers } = await reader.head;
    expect(statusCode).to.equal(200);
    expect(headers['content-type']).to.equal('text/event-stream; charset=utf-8');
    expect(headers['cache-control']).to.equal('no-cache, no-transform');
    expect(headers['x-accel-buffering']).to.equal('no');
    await reader.waitUntil(() => reader.events.length === 4);
    emit(2);
    await reader.waitUntil(() => reader.events.length === 6);
    await finish(runId);
    expect(await reader.closed).to.equal(true);
    expect(reader.retryMs).to.equal(1000);
    expect(reader.events.map(({ kind }) => kind)).to.deep.equal(
      'run run wave start log log finish wave run'.split(' '),
    );
    expect(reader.ids).to.deep.equal(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(reader.seqs.map(String)).to.deep.equal(reader.ids);
    const end = { event: 'end', data: { run_id: runId, status: 'succeeded' }, id: undefined };
    expect(reader.named).to.deep.equal([end]);
    const line = server.log.find(({ facts }) => String(facts['path']).endsWith('/events'));
    expect(line?.facts)
      .to.include({ method: 'GET', status: 200, run_id: runId })
      .and.not.have.property('left');
  });

  it('continues after ?after= or Last-Event-ID, which takes precedence', async () => {
    await open();
    const runId = await start();
    await finish(runId);
    const listSeqs = async (options: Parameters<typeof read>[1]): Promise<number[]> => {
      const reader = read(runId, options);
      await reader.closed;
      return reader.seqs;
    };
    expect(await listSeqs({ query: '?after=4' })).to.deep.equal([5, 6, 7]);
    expect(await listSeqs({ headers: { 'last-event-id': '5' } })).to.deep.equal([6, 7]);
    expect(await listSeqs({ query: '?after=2', headers: { 'last-event-id': '6' } })).to.deep.equal([7]);
    expect(await listSeqs({ query: '?after=7', headers: { 'last-event-id': '0' } })).to.have.length(7);
  });

  it('responds with 204 when the run has settled and the caller has every event', async () => {
    await open();
    const runId = await start();
    const path = `/pipelines/runs/${runId}/events`;
    await finish(runId);
    for (const [query, headers] of [
      ['', { 'last-event-id': '7' }],
      ['?after=7', {}],
      ['?after=8', {}],
    ] as const) {
      const response = await server.request('GET', path + query, undefined, headers);
      expect([response.status, response.body, response.headers.get('content-type')]).to.deep.equal([
        204,
        undefined,
        null,
      ]);
    }
  });

  it('rejects invalid numbers, unknown parameters, and a limit on a stream', async () => {
    await open();
    const path = `/pipelines/runs/${await start()}/events`;
    for (const [query, headers] of [
      ['', { 'last-event-id': 'abc' }],
      ['', { 'last-event-id': '-1' }],
      ['', { 'last-event-id': '1.5' }],
      ['?after=abc', {}],
      ['?after=-1', {}],
      ['?after=1&after=2', {}],
      ['?since=1', {}],
      ['?limit=5', {}],
      ['?limit=0', { accept: 'application/json' }],
      ['?limit=10001', { accept: 'application/json' }],
    ] as const) {
      const response = await server.request<{ detail: { code: string } }>(
        'GET',
        path + query,
        undefined,
        headers,
      );
      expect(
        [response.status, response.body.detail.code],
        `${query} ${JSON.stringify(headers)}`,
      ).to.deep.equal([400, 'invalid_request']);
    }
    const html = await server.request('GET', path, undefined, { accept: 'text/html' });
    expect(html.status).to.equal(406);
  });

  it('returns a list to callers that accept JSON', async () => {
    await open({ env: { SERVICE_EVENT_BUFFER: '100' } });
    const runId = await start();
    const first = await list(runId);
    expect(first.headers.get('content-type')).to.match(/^application\/json/);
    const { events, ...about } = first.body;
    expect(about).to.deep.equal({ run_id: runId, last_seq: 4, gap: false, closed: false });
    expect(events.map(({ seq }) => seq)).to.deep.equal([1, 2, 3, 4]);
    expect((await list(runId, '?after=1&limit=2')).body.events).to.deep.equal(events.slice(1, 3));
    expect((await list(runId, '', { 'last-event-id': '3' })).body.events).to.deep.equal(events.slice(3));
    emit(297);
    await finish(runId);
    const { gap, closed, last_seq, events: late } = (await list(runId, '?after=4')).body;
    expect({ gap, closed, last_seq }).to.deep.equal({ gap: true, closed: true, last_seq: 304 });
    expect(late[0]?.seq).to.be.above(5);
    expect(late.at(-1)?.seq).to.equal(304);
    const emptyList = (await list(runId, '?after=304')).body;
    expect(emptyList).to.deep.equal({ run_id: runId, events: [], last_seq: 304, gap: false, closed: true });
  });

  it('lists 1000 events by default', async () => {
    await open();
    const runId = await start();
    emit(2000);
    expect((await list(runId)).body.events).to.have.length(1000);
    expect((await list(runId, '?limit=10000')).body.events).to.have.length(2004);
  });

  it('reports runs of other tenants as not found (D37)', async () => {
    await open({
      keys: [
        createApiKey('ours', ['ours']),
        createApiKey('theirs', ['theirs'], ['read']),
        createApiKey('blind', ['blind'], ['run']),
      ],
    });
    const runId = await start({ 'x-api-key': 'ours' });
    const path = `/pipelines/runs/${runId}/events`;
    const statusFor = async (name: string, at = path): Promise<number> =>
      (await server.request('GET', at, undefined, { 'x-api-key': name, accept: 'application/json' })).status;
    expect(await statusFor('ours')).to.equal(200);
    expect(await statusFor('theirs')).to.equal(404);
    expect(await statusFor('blind')).to.equal(403);
    expect(await statusFor('nobody')).to.equal(401);
    expect(await statusFor('ours', path.replace(/.{12}(?=\/events)/, '000000000000'))).to.equal(404);
    const stream = read(runId, { headers: { 'x-api-key': 'theirs' } });
    expect((await stream.head).statusCode).to.equal(404);
  });

  it('responds to HEAD with headers only', async () => {
    await open({ clock });
    const runId = await start();
    const before = clock.pending;
    const head = await fetch(`${server.url}/pipelines/runs/${runId}/events`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).to.deep.equal([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(await head.text()).to.equal('');
    expect(clock.pending).to.equal(before);
  });

  it('rejects more streams than the limit', async () => {
    await open();
    const runId = await start();
    const services = {
      queries: server.registry.queries,
      clock: new ManualClock(),
      shareOf: (total: number) => ({ total }),
    };
    const [route] = eventRoutes(services as unknown as Parameters<typeof eventRoutes>[0], 0);
    const call = async (mediaType: string): Promise<unknown> =>
      route?.handle({
        params: { run_id: runId },
        query: {},
        headers: {},
        caller: ANONYMOUS,
        mediaType,
      } as never);
    const error = await catchRejection(call('text/event-stream'));
    const { status, headers, body } = errorResponse(error) ?? {};
    expect([status, body?.detail.code, headers?.['Retry-After']]).to.deep.equal([
      429,
      'too_many_streams',
      '5',
    ]);
    expect(await call('application/json')).to.have.property('body');
  });

  it('frees a stream whose client disconnects', async () => {
    await open({ clock });
    const runId = await start();
    const before = clock.pending;
    const reader = read(runId);
    await reader.waitUntil(() => reader.events.length === 4);
    expect(clock.pending).to.equal(before + 1);
    emit(1);
    expect(clock.pending).to.equal(before + 2);
    reader.disconnect();
    while (!server.log.some(({ facts }) => facts['left'])) await settle();
    expect(clock.pending).to.equal(before);
    emit(1);
    expect(clock.pending).to.equal(before);
    expect(server.log.at(-1)?.facts).to.include({ status: 200, run_id: runId, left: true });
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('ends when the server shuts down, and frees everything', async () => {
    await open({ clock });
    const readers = [read(await start()), read(await start())];
    for (const reader of readers) await reader.waitUntil(() => reader.events.length === 4);
    await close();
    expect(await Promise.all(readers.map(({ closed }) => closed))).to.deep.equal([true, true]);
    for (const { named } of readers) {
      expect(named.map(({ data }) => data)).to.have.nested.property('[0].status', 'cancelled');
    }
    expect(clock.pending).to.equal(0);
    expect(server.log.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('keeps the connection for the next request', async () => {
    await open();
    const runId = await start();
    await finish(runId);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const clientRequest = request(`${server.url}/pipelines/runs/${runId}/events`, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
      clientRequest.once('error', reject).end();
    });
    expect(status).to.equal(200);
  });
});
