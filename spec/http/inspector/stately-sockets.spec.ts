import { expect } from 'chai';
import { WebSocket } from 'ws';
import { INSPECTOR_LIMITS } from '../../../lib/http/inspector/socket-limits.js';
import { settle } from '../../support/deferred.js';
import { RawSocket } from '../../support/http/raw-socket.js';
import { ControlledServer } from '../support/controlled-server.js';
import { createApiKey } from '../../support/http/api-key.js';

interface Message {
  readonly type: string;
  readonly name?: string;
}

/** A WebSocket to a server, and what has come of it. */
class Viewer {
  readonly messages: Message[] = [];
  readonly socket: WebSocket;
  /** The code and the reason, once it is closed. */
  readonly closed: Promise<string>;
  /** The status and the code of the error of a server that refuses. */
  readonly refused: Promise<string>;
  readonly opened: Promise<void>;
  #onMessage = (): void => {};

  constructor(url: string, path: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url.replace('http:', 'ws:') + path, { headers });
    this.opened = new Promise((resolve) => this.socket.once('open', () => resolve()));
    this.closed = new Promise((resolve) => {
      this.socket.once('close', (code, reason) => resolve(`${code} ${String(reason)}`));
    });
    this.refused = new Promise((resolve) => {
      this.socket.once('unexpected-response', (_request, response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += String(chunk)));
        response.once('end', () => {
          const { detail } = JSON.parse(text) as { detail: { code: string } };
          resolve(`${response.statusCode} ${detail.code}`);
        });
      });
    });
    this.socket.on('error', () => {});
    this.socket.on('message', (data: Buffer) => {
      this.messages.push(JSON.parse(String(data)) as Message);
      this.#onMessage();
    });
  }

  /** Sends the first message. */
  async send(text: string): Promise<this> {
    await this.opened;
    this.socket.send(text);
    return this;
  }

  /** Waits until the server has reported an actor of this name. */
  async reports(name: string): Promise<void> {
    while (!this.messages.some((message) => message.name === name)) {
      await new Promise<void>((resolve) => (this.#onMessage = resolve));
    }
  }
}

const KEYS = [
  createApiKey('of-acme', ['acme'], ['read', 'run']),
  createApiKey('of-others', ['others'], ['read', 'run']),
  createApiKey('of-meter', ['acme'], ['metrics']),
];

describe('The WebSocket that informs the Stately inspector about a run', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open());
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  const open = (path: string, headers?: Record<string, string>): Viewer =>
    new Viewer(fixture.server.url, path, headers);

  it('reports the actors of a live run and its events, and closes when it has settled', async () => {
    const runId = await fixture.submit();
    const viewer = await open(`/inspect/ws?run=${runId}`).send('{}');
    await viewer.reports('a');
    expect(viewer.messages.map(({ name }) => name)).to.deep.equal(['run', 'wave', 'a']);
    await fixture.complete(runId);
    await viewer.reports('b');
    await fixture.complete(runId);
    expect(await viewer.closed).to.equal('1000 the run has settled');
    const types = new Set(viewer.messages.map(({ type }) => type));
    expect([...types]).to.have.members(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
  });

  it('reports the last snapshot of a run that has settled', async () => {
    const runId = await fixture.submit({ id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] });
    await fixture.complete(runId);
    const viewer = await open(`/inspect/ws?run=${runId}`).send('{"key": ""}');
    expect(await viewer.closed).to.equal('1000 the run has settled');
    expect(viewer.messages).to.have.length(1);
  });

  it('is refused to pages of another origin, of another site, and of a name that was rebound (D38)', async () => {
    const { host } = new URL(fixture.server.url);
    const path = '/inspect/ws?run=any';
    expect(await open(path, { origin: 'https://evil.example' }).refused).to.equal('403 foreign_origin');
    expect(await open(path, { origin: `http://${host}1` }).refused).to.equal('403 foreign_origin');
    expect(await open(path, { origin: 'null' }).refused).to.equal('403 foreign_origin');
    expect(await open(path, { 'sec-fetch-site': 'cross-site' }).refused).to.equal('403 foreign_origin');
    expect(await open(path, { host: 'rebound.example' }).refused).to.equal('403 foreign_host');
    const own = await open(path, { origin: `http://${host}` }).send('{}');
    expect(await own.closed).to.include('4404');
  });

  it('is at one path only', async () => {
    expect(await open('/pipelines/runs').refused).to.equal('404 not_found');
    expect(await open('/inspect/ws/more').refused).to.equal('404 not_found');
  });

  it('closes with what is wrong with the first message, or with the run', async () => {
    const first = async (text: string): Promise<string> =>
      (await open('/inspect/ws?run=x').send(text)).closed;
    expect(await first('{}')).to.equal('4404 there is no run x');
    expect(await first('hello')).to.equal('4400 the first message must be {"key": "…"}, or {}');
    expect(await first('{"key": 7}')).to.include('4400');
    expect(await first('[]')).to.include('4400');
    expect(await first(JSON.stringify({ key: 'x'.repeat(5000) }))).to.include('1009');
  });

  it('closes when the first message does not come within 5 seconds', async () => {
    const viewer = open('/inspect/ws?run=x');
    await viewer.opened;
    await settle(10);
    fixture.clock.advance(INSPECTOR_LIMITS.keyMs);
    expect(await viewer.closed).to.equal('4400 no key came within 5 s: send {"key": "…"} first, or {}');
  });

  it('disconnects a page that sends a second message', async () => {
    const runId = await fixture.submit();
    const viewer = await open(`/inspect/ws?run=${runId}`).send('{}');
    await viewer.reports('a');
    viewer.socket.send('{}');
    expect(await viewer.closed).to.equal('1006 ');
  });

  it('disconnects a page that is not there any more', async () => {
    const runId = await fixture.submit();
    const viewer = await open(`/inspect/ws?run=${runId}`).send('{}');
    await viewer.reports('a');
    viewer.socket.pause();
    fixture.clock.advance(INSPECTOR_LIMITS.heartbeatMs);
    await settle();
    fixture.clock.advance(INSPECTOR_LIMITS.heartbeatMs);
    viewer.socket.resume();
    expect(await viewer.closed).to.equal('1006 ');
  });

  it('says when a run was deleted', async () => {
    const runId = await fixture.submit();
    const viewer = await open(`/inspect/ws?run=${runId}`).send('{}');
    await viewer.reports('a');
    fixture.server.registry.forget(runId);
    expect(await viewer.closed).to.equal('1000 the run was deleted');
  });

  it('opens for 50 pages, and for the next one when one of them has closed', async () => {
    const runId = await fixture.submit();
    const path = `/inspect/ws?run=${runId}`;
    const viewers = await Promise.all(
      Array.from({ length: INSPECTOR_LIMITS.viewers }, () => open(path).send('{}')),
    );
    await Promise.all(viewers.map((viewer) => viewer.reports('a')));
    const next = await open(path).send('{}');
    expect(await next.closed).to.equal('4429 too many inspectors are open: close some');
    viewers[0]?.socket.close();
    await viewers[0]?.closed;
    const after = await open(path).send('{}');
    await after.reports('a');
    for (const viewer of [...viewers, after]) viewer.socket.terminate();
    await settle();
  });

  it('leaves requests alone that ask for another protocol, as some clients do, with and without a body', async () => {
    const ask = async (method: string, path: string, body: string): Promise<string> => {
      const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n`;
      const socket = new RawSocket(fixture.server.url);
      socket.send(
        `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
      );
      socket.send(body.slice(20));
      await socket.waitForText('\r\n\r\n{');
      socket.disconnect();
      return socket.text;
    };
    expect(await ask('GET', '/health', '')).to.include('HTTP/1.1 200');
    const pipeline = JSON.stringify({ pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'mock' }] } });
    expect(await ask('POST', '/pipelines/validate', pipeline))
      .to.include('HTTP/1.1 200')
      .and.include('"ok":true');
  });
});

describe('The WebSocket of the Stately inspector on a server with keys (D37)', () => {
  const fixture = new ControlledServer();
  before(() => fixture.open({ keys: KEYS }));
  afterEach(() => fixture.clear());
  after(() => fixture.close());

  it('opens with a key of the tenant of the run that may read, and with no other', async () => {
    const { body } = await fixture.server.request<{ run_id: string }>(
      'POST',
      '/pipelines/run_async',
      { pipeline: { id: 'p', goal: 'g', tasks: [{ id: 'a', tool: 'controlled' }] } },
      { 'x-api-key': 'of-acme' },
    );
    await fixture.waitUntilIdle();
    const open = (message: object): Promise<Viewer> =>
      new Viewer(fixture.server.url, `/inspect/ws?run=${body.run_id}`).send(JSON.stringify(message));
    const closed = async (message: object): Promise<string> => (await open(message)).closed;
    expect(await closed({})).to.equal('4401 this server needs an API key');
    expect(await closed({ key: 'wrong' })).to.equal('4401 the API key is unknown');
    expect(await closed({ key: 'of-meter' })).to.equal('4403 this key lacks the scope "read"');
    expect(await closed({ key: 'of-others' })).to.equal(`4404 there is no run ${body.run_id}`);
    const viewer = await open({ key: 'of-acme' });
    await viewer.reports('a');
    viewer.socket.close();
    await viewer.closed;
    await settle();
    const lines = fixture.server.log.filter(({ facts }) => 'websocket' in facts);
    expect(lines).to.have.length(5);
    expect(JSON.stringify(lines)).to.include('/inspect/ws').and.not.include('of-');
  });

  it('is closed when the server shuts down', async () => {
    const other = new ControlledServer();
    await other.open();
    const runId = await other.submit();
    const viewer = await new Viewer(other.server.url, `/inspect/ws?run=${runId}`).send('{}');
    await viewer.reports('a');
    other.findCall(runId).resolve('done');
    const closing = other.close();
    await viewer.closed;
    await closing;
  });
});
