import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { INSPECTION_LIMITS } from '../../../lib/common/limits.js';
import type { InspectionEntry, InspectionList } from '../../../lib/runs/inspection/entry.js';
import { FLUSH_DELAY_MS } from '../../../lib/http/sse/streams.js';
import { ControlledServer } from '../support/controlled-server.js';
import { EventReader } from '../support/event-reader.js';

const JSON_ONLY = { accept: 'application/json' };

describe('GET /pipelines/runs/{run_id}/inspection (D35)', () => {
  const controlled = new ControlledServer();

  before(() => controlled.open());
  afterEach(() => controlled.clear());
  after(() => controlled.server.close(0));

  const path = (runId: string) => `/pipelines/runs/${runId}/inspection`;
  const list = async (runId: string, query = ''): Promise<InspectionList> => {
    const url = path(runId) + query;
    const { status, body } = await controlled.server.request<InspectionList>(
      'GET',
      url,
      undefined,
      JSON_ONLY,
    );
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };

  it('lists the actors of a run at work, and what they do from then on', async () => {
    const runId = await controlled.submit();
    const first = await list(runId);
    expect(first).to.include({ run_id: runId, last_seq: 3, gap: false, closed: false, origin: 'live' });
    expect(first.entries.map(({ actor, event }) => `${actor} ${event}`)).to.deep.equal([
      'run @attached',
      'run/wave @attached',
      'run/wave/a @attached',
    ]);
    await controlled.complete(runId);
    const next = await list(runId, '?after=3&limit=1');
    expect(next.entries).to.have.length(1);
    expect(next.entries[0]).to.deep.include({
      seq: 4,
      actor: 'run/wave/a',
      event: 'task.settled',
      from: 'invoking',
      state: 'succeeded',
      status: 'done',
      data: { result: { ok: true } },
    });
  });

  it('streams entries with their numbers as ids, resumes after one, and ends with the run', async () => {
    const runId = await controlled.submit();
    const reader = new EventReader(controlled.server.url + path(runId));
    await reader.waitUntil(() => reader.events.length === 3);
    await controlled.complete(runId);
    await controlled.complete(runId);
    controlled.clock.advance(FLUSH_DELAY_MS);
    expect(await reader.closed).to.equal(true);
    expect(reader.ids).to.deep.equal(reader.events.map(({ seq }) => String(seq)));
    expect(reader.named).to.deep.equal([
      { event: 'end', data: { run_id: runId, status: 'succeeded' }, id: undefined },
    ]);
    const rest = new EventReader(controlled.server.url + path(runId), { headers: { 'Last-Event-ID': '5' } });
    await rest.closed;
    expect(rest.seqs[0]).to.equal(6);
    const { status } = await controlled.server.request('GET', `${path(runId)}?after=${reader.events.length}`);
    expect(status).to.equal(204);
  });

  it('shows a run that settled unwatched by its events', async () => {
    const runId = await controlled.submit();
    await controlled.complete(runId);
    await controlled.fail(runId);
    const { origin, entries, closed } = await list(runId);
    expect({ origin, closed }).to.deep.equal({ origin: 'events', closed: true });
    expect(entries.at(-1)).to.include({ actor: 'run', state: 'failed', status: 'done' });
    const reader = new EventReader(controlled.server.url + path(runId));
    expect(await reader.closed).to.equal(true);
    expect(reader.events).to.have.length(entries.length);
  });

  it('records no longer when the last reader has left, however it left', async () => {
    const runId = await controlled.submit();
    const view = await controlled.server.registry.queries.inspection(runId);
    view.close();
    const reader = new EventReader(controlled.server.url + path(runId));
    await reader.waitUntil(() => reader.events.length === 3);
    reader.disconnect();
    await reader.closed;
    const { status } = await controlled.server.request('HEAD', path(runId));
    expect(status).to.equal(200);
    await controlled.waitUntilIdle();
    controlled.clock.advance(INSPECTION_LIMITS.lingerMs);
    await controlled.complete(runId);
    expect(view.log.lastSeq).to.equal(3);
  });

  it('gives back the memory of a rebuilt inspection', async () => {
    const runId = await controlled.submit();
    await controlled.complete(runId);
    await controlled.complete(runId);
    const { registry } = controlled.server;
    const retained = await registry.queries.inspection(runId);
    expect(retained.origin).to.equal('events');
    retained.close();
    retained.close();
  });

  it('refuses a limit for a stream, an unknown run, and more streams than there may be', async () => {
    const runId = await controlled.submit();
    const { server } = controlled;
    expect(await server.request('GET', `${path(runId)}?limit=5`)).to.have.nested.property(
      'body.detail.code',
      'invalid_request',
    );
    const unknown = runId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await server.request('GET', path(unknown))).to.include({ status: 404 });
    expect(await server.request('GET', `/pipelines/runs/${unknown}/recording`)).to.include({ status: 404 });
  });

  describe('GET /pipelines/runs/{run_id}/recording', () => {
    it('is JSON lines: a head with the record, the entries, and the end', async () => {
      const runId = await controlled.submit();
      await list(runId);
      await controlled.complete(runId);
      await controlled.complete(runId);
      const response = await fetch(`${controlled.server.url}/pipelines/runs/${runId}/recording`);
      expect(response.headers.get('content-type')).to.equal('application/x-ndjson');
      expect(response.headers.get('content-disposition')).to.equal(`attachment; filename="${runId}.wtrec"`);
      const lines = (await response.text()).trimEnd().split('\n');
      const [head, ...entries] = lines.map((line) => JSON.parse(line));
      const end = entries.pop();
      expect(head).to.include({ wavetrain_recording: 1, version: '0.0.0-spec', origin: 'live' });
      expect(head.run).to.include({ run_id: runId, status: 'succeeded' });
      expect(end).to.deep.equal({ end: true, entries: entries.length, dropped: 0 });
      expect(entries.map(({ seq }: InspectionEntry) => seq)).to.deep.equal(
        entries.map((_, index) => index + 1),
      );
    });
  });
});

describe('The inspection of runs of other tenants (D37)', () => {
  const key = 'wt_secret-key-of-tenant-a';
  const sha256 = createHash('sha256').update(key).digest('hex');
  const controlled = new ControlledServer();

  before(() =>
    controlled.open({ keys: [{ name: 'a', sha256, tenants: ['a'], scopes: ['read', 'run'] }] as never }),
  );
  after(async () => {
    await controlled.clear();
    await controlled.server.close(0);
  });

  it('is refused like a run that does not exist, and without a key', async () => {
    const { server } = controlled;
    const { registry } = server;
    const runId = '019b7600-0000-7000-8000-000000000000';
    expect(registry).to.be.an('object');
    for (const what of ['inspection', 'recording']) {
      const url = `/pipelines/runs/${runId}/${what}`;
      expect(await server.request('GET', url)).to.include({ status: 401 });
      const headers = { authorization: `Bearer ${key}` };
      expect(await server.request('GET', url, undefined, headers)).to.include({ status: 404 });
    }
  });
});
