import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Context } from 'koa';
import { MemoryPool } from '../../../lib/common/memory/memory-pool.js';
import { CHUNK_LENGTH } from '../../../lib/common/json/json-writer.js';
import { ResponseSender } from '../../../lib/http/responses/response-sender.js';
import { READER_TIMEOUT_MS } from '../../../lib/http/responses/slow-readers.js';
import type { RouteResult } from '../../../lib/http/routing/route.js';
import type { HttpServices } from '../../../lib/http/services.js';
import { fairYield } from '../../../lib/common/scheduling/run-in-slices.js';
import { nextTurn } from '../../../lib/common/scheduling/turns.js';
import { settle } from '../../support/deferred.js';
import { ManualClock } from '../../support/manual-clock.js';
import { shortenSlices } from '../../support/slices.js';

const LONG = {
  outputs: { text: 'x'.repeat(8_000_000), list: Array.from({ length: 50_000 }, (_, index) => ({ index })) },
};

/** Headers that concern the connection, not the response. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);

/** A server that sends one result to every request; the tenant is the path. */
class Desk {
  readonly clock = new ManualClock();
  readonly memory: MemoryPool;
  readonly log: string[] = [];
  readonly errors: unknown[] = [];
  readonly responses: ServerResponse[] = [];
  /** Number of responses for which the run is kept. */
  retained = 0;
  readonly #result: RouteResult;
  readonly #server: Server;
  readonly #sockets: Socket[] = [];

  constructor(result: RouteResult, memory = new MemoryPool({ total: 2 ** 20, guaranteed: 2 ** 18 })) {
    this.#result = { runId: 'r', ...result };
    this.memory = memory;
    const write = (_facts: object, message: string): void => void this.log.push(message);
    const services = {
      clock: this.clock,
      memory,
      log: { info: write, warn: write, error: write },
      readiness: { isShuttingDown: false },
      queries: { retain: () => this.#retain() },
    };
    const sender = new ResponseSender(services as unknown as HttpServices);
    this.#server = createServer((req, res) => void this.#serve(sender, req, res));
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A client that sends requests and never reads. */
  async connectSilently(tenantId = 'acme', requests = 1): Promise<Socket> {
    const expected = this.responses.length + 1;
    const socket = connect(Number(new URL(this.url).port), '127.0.0.1').pause();
    this.#sockets.push(socket);
    socket.on('error', () => undefined);
    socket.write(`GET /${tenantId} HTTP/1.1\r\nHost: here\r\n\r\n`.repeat(requests));
    await this.until(() => this.responses.length >= expected);
    return socket;
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await nextTurn();
  }

  /** Waits until nothing more can be written. */
  async untilBlocked(): Promise<void> {
    for (let written = -1; written !== this.#written; ) {
      written = this.#written;
      await settle(50);
    }
  }

  get #written(): number {
    return this.responses.reduce((sum, { socket }) => sum + (socket?.bytesWritten ?? 0), 0);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(sender: ResponseSender, req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.responses.push(res);
    // As every route does; a request is complete only then.
    await fairYield('acme');
    try {
      const ctx = { req, res, method: req.method } as Context;
      await sender.send(ctx, 200, 'text/plain', this.#result, (req.url ?? '').slice(1));
    } catch (error) {
      this.errors.push(error);
      res.writeHead(503).end();
    }
  }

  #retain(): () => void {
    this.retained++;
    return () => this.retained--;
  }
}

describe('ResponseSender', () => {
  let desk: Desk;

  async function open(result: RouteResult, memory?: MemoryPool): Promise<void> {
    desk = new Desk(result, memory);
    await desk.open();
  }

  afterEach(() => desk.close());

  it('sends a long response in chunks, as JSON.stringify would, and keeps its run counted until then', async () => {
    await open({ body: LONG, isRunData: true });
    const response = await fetch(`${desk.url}/acme`);
    expect(desk.retained).to.equal(1);
    expect(response.headers.get('content-type')).to.equal('application/json; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).to.equal('nosniff');
    expect(response.headers.get('content-length')).to.equal(null);
    expect(await response.text()).to.equal(JSON.stringify(LONG));
    await desk.until(() => desk.memory.usedBytes === 0);
    expect(desk.retained).to.equal(0);
  });

  it('sends a short response in one piece with its length', async () => {
    await open({ body: { text: 'ä'.repeat(100) }, headers: { ETag: '"1"', 'Cache-Control': 'no-cache' } });
    const { headers, ...response } = await fetch(`${desk.url}/acme`).then(async (found) => ({
      headers: found.headers,
      text: await found.text(),
    }));
    expect(response.text).to.equal(JSON.stringify({ text: 'ä'.repeat(100) }));
    expect(headers.get('content-length')).to.equal('211');
    expect(headers.get('etag')).to.equal('"1"');
    expect(headers.get('cache-control')).to.equal('no-cache');
  });

  it('sends HEAD the same head without content', async () => {
    for (const result of [
      { body: LONG, isRunData: true },
      { bytes: Buffer.alloc(1_000_000) },
      { body: {} },
      { text: 'x' },
    ]) {
      await open(result);
      const get = await fetch(`${desk.url}/acme`);
      await get.arrayBuffer();
      const head = await fetch(`${desk.url}/acme`, { method: 'HEAD' });
      expect(await head.text()).to.equal('');
      const comparable = ({ headers }: Response): object =>
        Object.fromEntries([...headers].filter(([name]) => !HOP_BY_HOP.has(name)));
      expect(comparable(head)).to.deep.equal(comparable(get));
      await desk.close();
    }
    await open({});
  });

  it('holds two chunks for each client that does not read, however long the response is', async () => {
    await open({ body: LONG, isRunData: true });
    for (let count = 0; count < 3; count++) await desk.connectSilently();
    await desk.untilBlocked();
    for (const response of desk.responses) expect(response.writableLength).to.be.below(1.5 * CHUNK_LENGTH);
    expect(desk.memory.usedBytes).to.equal(3 * 2 * CHUNK_LENGTH);
    expect(desk.retained).to.equal(3);
  });

  it('disconnects a client that accepts nothing for 30 seconds, and logs it', async () => {
    await open({ body: LONG, isRunData: true });
    const socket = await desk.connectSilently();
    await desk.untilBlocked();
    desk.clock.advance(READER_TIMEOUT_MS - 1);
    await settle();
    expect([desk.retained, desk.log]).to.deep.equal([1, []]);
    desk.clock.advance(1);
    await desk.until(() => desk.retained === 0);
    expect(desk.memory.usedBytes).to.equal(0);
    expect(desk.log).to.deep.equal(['client disconnected: it has not read for 30 s']);
    expect(desk.clock.pending).to.equal(0);
    socket.destroy();
  });

  it('lets a slow client read on as long as it accepts one chunk in 30 seconds', async () => {
    await open({ body: LONG, isRunData: true });
    const socket = await desk.connectSilently();
    let length = 0;
    socket.on('data', (chunk: Buffer) => {
      length += chunk.length;
      socket.pause();
      desk.clock.advance(1000);
      setImmediate(() => socket.resume());
    });
    socket.resume();
    await desk.until(() => desk.retained === 0);
    await desk.until(() => length > JSON.stringify(LONG).length);
    expect(desk.log).to.deep.equal([]);
  });

  it('counts short responses that a client does not read, and disconnects it after 30 seconds', async () => {
    await open({ body: { text: 'x'.repeat(60_000) } }, new MemoryPool({ total: 2 ** 30 }));
    await desk.connectSilently('acme', 1000);
    await desk.untilBlocked();
    expect(desk.memory.usedBy('acme')).to.be.above(1_000_000);
    desk.clock.advance(READER_TIMEOUT_MS);
    await settle();
    desk.clock.advance(READER_TIMEOUT_MS);
    await desk.until(() => desk.memory.usedBytes === 0);
    expect(desk.log).to.include('client disconnected: it has not read for 30 s');
  });

  it('disconnects a client at once when there is no memory for what it does not read', async () => {
    await open({ body: { text: 'x'.repeat(60_000) } });
    const socket = await desk.connectSilently('acme', 1000);
    await desk.until(() => desk.responses.some(({ req }) => req.socket.destroyed));
    expect(desk.memory.usedBytes).to.be.at.most(2 ** 20);
    desk.clock.advance(READER_TIMEOUT_MS);
    expect([desk.memory.usedBytes, desk.clock.pending]).to.deep.equal([0, 0]);
    socket.destroy();
  });

  it('refuses a long response when the tenant has no memory left, and leaves other tenants theirs (D25)', async () => {
    await open({ body: LONG, isRunData: true });
    for (let count = 0; count < 8; count++) await desk.connectSilently('alice');
    await desk.until(() => desk.memory.usedBytes === 2 ** 20);
    const refused = await fetch(`${desk.url}/alice`);
    expect(refused.status).to.equal(503);
    expect(desk.errors).to.have.length(1);
    expect(desk.errors[0]).to.have.property('code', 'memory_full');
    expect(desk.retained).to.equal(8);
    const response = await fetch(`${desk.url}/bob`);
    expect(await response.text()).to.equal(JSON.stringify(LONG));
  });

  it('counts the value too when it is not part of a run', async () => {
    shortenSlices();
    await open({ body: { list: LONG.outputs.list } }, new MemoryPool({ total: 2 ** 30 }));
    await desk.connectSilently();
    await desk.until(() => desk.memory.usedBytes > 0);
    expect(desk.memory.usedBytes).to.be.above(50_000 * 64);
    expect(desk.retained).to.equal(0);
  });

  it('gives everything back when a client disconnects in the middle', async () => {
    await open({ body: LONG, isRunData: true });
    const socket = await desk.connectSilently();
    await desk.untilBlocked();
    socket.destroy();
    await desk.until(() => desk.retained === 0);
    expect(desk.memory.usedBytes).to.equal(0);
    expect([desk.log, desk.errors, desk.clock.pending]).to.deep.equal([[], [], 0]);
  });
});
