import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Clock } from '../../../lib/common/clock.js';
import type { LiveEvent } from '../../../lib/execution/events/event.js';
import { HEARTBEAT_MS } from '../../../lib/http/sse/stream.js';
import { EventStreams, FLUSH_DELAY_MS } from '../../../lib/http/sse/streams.js';
import { MemoryBudget } from '../../../lib/execution/memory-budget.js';
import { READER_TIMEOUT_MS } from '../../../lib/http/responses/slow-readers.js';
import { EventLog } from '../../../lib/runs/event-log.js';
import { ManualClock } from '../../support/manual-clock.js';
import { EventReader } from '../support/event-reader.js';

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const RUN_ID = '019b7600-0000-7000-8000-000000000000';

/** Counts its subscribers. */
class WatchedLog extends EventLog {
  watchers = 0;

  override subscribe(watcher: () => void): () => void {
    const unwatch = super.subscribe(watcher);
    this.watchers++;
    return () => {
      this.watchers--;
      unwatch();
    };
  }
}

function createEvent(seq: number, message = `message ${seq}`): LiveEvent {
  return { kind: 'log', seq, time: '2026-01-01T00:00:00.000Z', run_id: RUN_ID, task_id: 'a', message };
}

/** A server that streams one log. */
class Desk {
  readonly log: WatchedLog;
  readonly streams: EventStreams;
  readonly sockets: Socket[] = [];
  status: 'succeeded' | undefined = 'succeeded';
  readonly #server: Server;
  readonly #readers: { disconnect(): void }[] = [];
  #served: (() => void)[] = [];
  #seq = 0;

  constructor(
    readonly clock: Clock,
    capacity = 1000,
    budget?: MemoryBudget,
  ) {
    this.log = new WatchedLog(capacity, budget);
    this.streams = new EventStreams({ clock, log: SILENT }, { total: 2 });
    this.#server = createServer((request, response) => {
      this.sockets.push(request.socket);
      const source = { runId: RUN_ID, tenantId: 'default', log: this.log, status: () => this.status };
      response.once('close', () => this.#notify());
      this.streams.open(source, Number(request.headers['last-event-id'] ?? 0), response);
      this.#notify();
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  append(count: number, message?: string): void {
    for (let one = 0; one < count; one++) this.log.append(createEvent(++this.#seq, message));
  }

  async read(after = 0): Promise<EventReader> {
    const reader = new EventReader(`http://127.0.0.1:${this.port}`, {
      headers: { 'last-event-id': String(after) },
    });
    this.#readers.push(reader);
    await reader.head;
    return reader;
  }

  /** Waits for a condition that depends on clients that connect and disconnect. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#served.push(resolve));
  }

  close(): void {
    for (const reader of this.#readers) reader.disconnect();
    if (this.#server.listening) this.#server.close();
    this.#server.closeAllConnections();
  }

  #notify(): void {
    for (const resolve of this.#served.splice(0)) resolve();
  }
}

describe('EventStreams (D30)', () => {
  let clock: ManualClock;
  let desk: Desk;

  async function opened(capacity?: number, budget?: MemoryBudget): Promise<Desk> {
    desk = new Desk(clock, capacity, budget);
    await desk.open();
    return desk;
  }

  beforeEach(() => {
    clock = new ManualClock();
  });

  afterEach(() => desk.close());

  it('write existing events at once, and batch those that follow', async () => {
    await opened();
    desk.append(3);
    const reader = await desk.read();
    await reader.waitUntil(() => reader.events.length === 3);
    expect(reader.retryMs).to.equal(1000);
    const [socket] = desk.sockets;
    const before = socket?.bytesWritten ?? 0;
    desk.append(50);
    clock.advance(FLUSH_DELAY_MS - 1);
    expect(socket?.bytesWritten).to.equal(before);
    clock.advance(1);
    await reader.waitUntil(() => reader.events.length >= 53);
    expect(reader.ids).to.deep.equal(Array.from({ length: 53 }, (_, index) => String(index + 1)));
    expect(reader.events.at(-1)).to.deep.equal(createEvent(53));
  });

  it('start after the last event that the client has', async () => {
    await opened();
    desk.append(5);
    const reader = await desk.read(3);
    await reader.waitUntil(() => reader.events.length > 0);
    expect(reader.seqs).to.deep.equal([4, 5]);
  });

  it('report dropped events as a gap, and continue after it', async () => {
    await opened(10);
    desk.append(21);
    const reader = await desk.read(4);
    await reader.waitUntil(() => reader.events.length > 0);
    expect(reader.named).to.deep.equal([{ event: 'gap', data: { after: 4, next: 12 }, id: undefined }]);
    expect(reader.seqs).to.deep.equal([12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
  });

  it('report a gap and end when all events were dropped', async () => {
    const budget = new MemoryBudget(10_000);
    await opened(10, budget);
    desk.append(7);
    desk.log.close();
    expect(budget.tryReserve(10_001)).to.equal(false);
    expect(desk.log.size).to.equal(0);
    const reader = await desk.read(2);
    expect(await reader.closed).to.equal(true);
    expect(reader.events).to.deep.equal([]);
    expect(reader.named.map(({ event, data }) => [event, data])).to.deep.equal([
      ['gap', { after: 2, next: 8 }],
      ['end', { run_id: RUN_ID, status: 'succeeded' }],
    ]);
  });

  it('end with the status of the run when it has settled and all events are written', async () => {
    await opened();
    const reader = await desk.read();
    desk.append(300);
    desk.log.close();
    desk.status = undefined;
    clock.advance(FLUSH_DELAY_MS);
    expect(await reader.closed).to.equal(true);
    expect(reader.events.length).to.equal(300);
    const end = { event: 'end', data: { run_id: RUN_ID, status: 'succeeded' }, id: undefined };
    expect(reader.named).to.deep.equal([end]);
    await desk.until(() => desk.streams.size === 0);
    expect([clock.pending, desk.log.watchers]).to.deep.equal([0, 0]);
  });

  it('end without a status when the run was deleted before', async () => {
    await opened();
    desk.append(1);
    desk.log.close();
    desk.status = undefined;
    const reader = await desk.read();
    expect(await reader.closed).to.equal(true);
    expect([reader.seqs, reader.named]).to.deep.equal([[1], []]);
  });

  it('send a heartbeat every 15 seconds', async () => {
    await opened();
    const reader = await desk.read();
    clock.advance(HEARTBEAT_MS - 1);
    desk.append(1);
    clock.advance(1);
    await reader.waitUntil(() => reader.comments === 1);
    clock.advance(HEARTBEAT_MS);
    await reader.waitUntil(() => reader.comments === 2);
    expect(HEARTBEAT_MS).to.equal(15_000);
    expect([reader.seqs, reader.named]).to.deep.equal([[1], []]);
  });

  it('subscribe once to a log for all its streams, until the last has closed', async () => {
    await opened();
    const readers = [await desk.read(), await desk.read()];
    expect([desk.streams.size, desk.log.watchers, clock.pending]).to.deep.equal([2, 1, 2]);
    desk.append(1);
    expect(clock.pending).to.equal(3);
    readers[0]?.disconnect();
    await desk.until(() => desk.streams.size === 1);
    expect([desk.log.watchers, clock.pending]).to.deep.equal([1, 2]);
    readers[1]?.disconnect();
    await desk.until(() => desk.streams.size === 0);
    expect([desk.log.watchers, clock.pending]).to.deep.equal([0, 0]);
  });

  it('are limited in number', async () => {
    await opened();
    const reader = await desk.read();
    desk.streams.assertCapacity('default');
    await desk.read();
    expect(() => desk.streams.assertCapacity('default'))
      .to.throw('2 event streams are open already')
      .with.property('code', 'too_many_streams');
    reader.disconnect();
    await desk.until(() => desk.streams.size === 1);
    desk.streams.assertCapacity('default');
  });

  it('buffer one chunk at most for a client that does not read, and send it a gap later', async () => {
    const message = 'x'.repeat(1000);
    await opened(1000);
    const socket = connect(desk.port, '127.0.0.1');
    socket.pause();
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await desk.until(() => desk.streams.size === 1);
    const [connection] = desk.sockets;
    if (connection === undefined) throw new Error('no connection');
    let maxBuffered = 0;
    for (let round = 0; round < 300; round++) {
      desk.append(100, message);
      clock.advance(FLUSH_DELAY_MS);
      await new Promise<void>((resolve) => setImmediate(resolve));
      maxBuffered = Math.max(maxBuffered, connection.writableLength);
    }
    clock.advance(HEARTBEAT_MS);
    maxBuffered = Math.max(maxBuffered, connection.writableLength);
    // More than 30 MB were sent; the buffers of the system hold some of it.
    expect(desk.log.lastSeq).to.equal(30_000);
    expect(maxBuffered).to.be.above(0).and.below(100_000);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    socket.resume();
    desk.log.close();
    clock.advance(FLUSH_DELAY_MS);
    await desk.until(() => desk.streams.size === 0);
    await new Promise<void>((resolve) => {
      const look = (): void => (text.endsWith('0\r\n\r\n') ? resolve() : void socket.once('data', look));
      look();
    });
    socket.destroy();
    let known = 0;
    let gaps = 0;
    for (const [, seq, after, next] of text.matchAll(/^id: (\d+)$|^data: {"after":(\d+),"next":(\d+)}$/gm)) {
      if (seq !== undefined) expect(Number(seq)).to.equal(++known);
      else {
        expect(Number(after)).to.equal(known);
        known = Number(next) - 1;
        gaps++;
      }
    }
    expect(known).to.equal(30_000);
    expect(gaps).to.be.above(0);
  });

  it('end when their client accepts nothing for 30 seconds, and give back their place', async () => {
    await opened(1000);
    const socket = connect(desk.port, '127.0.0.1').pause();
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    await desk.until(() => desk.streams.size === 1);
    const isBlocked = (): boolean => (desk.sockets[0]?.writableLength ?? 0) > 0;
    while (!isBlocked()) {
      desk.append(1000, 'x'.repeat(1000));
      clock.advance(FLUSH_DELAY_MS);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    clock.advance(READER_TIMEOUT_MS);
    await desk.until(() => desk.streams.size === 0);
    expect([desk.log.watchers, clock.pending]).to.deep.equal([0, 0]);
    socket.destroy();
  });

  it('leave other tenants their share of the places (D25)', () => {
    desk = new Desk(clock);
    const streams = new EventStreams({ clock, log: SILENT }, { total: 0 });
    expect(() => streams.assertCapacity('alice')).to.throw('0 of them of runs of "alice"');
    const shared = new EventStreams({ clock, log: SILENT }, { total: 1, guaranteed: 1 });
    const response = new EventEmitter() as unknown as ServerResponse;
    Object.assign(response, { write: () => true });
    shared.open({ runId: RUN_ID, tenantId: 'alice', log: desk.log, status: () => undefined }, 0, response);
    expect(() => shared.assertCapacity('alice')).to.throw('1 event streams are open already');
    shared.assertCapacity('bob');
    response.emit('close');
    shared.assertCapacity('alice');
  });

  it('are flushed within a time budget per tick, so that many of them block nothing', async () => {
    let nowMs = 0;
    const wakes: (() => void)[] = [];
    const slow: Clock = {
      now: () => 0,
      monotonicNow: () => nowMs++,
      setTimeout: (run, delayMs) => (delayMs === FLUSH_DELAY_MS ? wakes.push(run) : undefined),
      clearTimeout: () => {},
    };
    desk = new Desk(slow);
    await desk.open();
    const readers = [await desk.read(), await desk.read()];
    desk.append(1);
    const written = (): number[] => desk.sockets.map(({ bytesWritten }) => bytesWritten);
    const before = written();
    wakes[0]?.();
    expect(written()).to.deep.equal(before);
    slow.monotonicNow = () => nowMs;
    for (const reader of readers) await reader.waitUntil(() => reader.events.length === 1);
    expect(wakes).to.have.length(1);
  });
});
