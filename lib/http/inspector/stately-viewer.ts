import type { WebSocket } from 'ws';
import { fairYield } from '../../common/scheduling/run-in-slices.js';
import type { StatelyFeed } from '../../runs/inspection/stately-feed.js';
import type { HttpServices } from '../services.js';
import { closeSocket, INSPECTOR_LIMITS, type ReceivedLimit } from './socket-limits.js';

const SETTLED = 1000;
const TRY_AGAIN_LATER = 1013;

/** Actors of which a page is informed before other requests have their turn. */
const ACTORS_PER_TURN = 32;

/** One page that is informed about a run. */
export class StatelyViewer {
  readonly #socket: WebSocket;
  readonly #services: Pick<HttpServices, 'clock' | 'queries'>;
  readonly #received: Pick<ReceivedLimit, 'renew'>;
  /** Resolves when the connection is closed. */
  readonly #closed: Promise<void>;
  #isAlive = true;
  /** Undefined until the actors of the run are there. */
  #feed: StatelyFeed | undefined;

  constructor(
    socket: WebSocket,
    services: Pick<HttpServices, 'clock' | 'queries'>,
    received: Pick<ReceivedLimit, 'renew'>,
  ) {
    this.#socket = socket;
    this.#services = services;
    this.#received = received;
    this.#closed = new Promise((resolve) => {
      if (socket.readyState === socket.CLOSED) resolve();
      else socket.once('close', () => resolve());
    });
  }

  /** Reports a run until it has settled or the page is closed; resolves when the connection is closed. */
  async watch(runId: string): Promise<void> {
    const { queries, clock } = this.#services;
    const feed = await queries.actors.statelyFeed(runId, (message) => this.#send(JSON.stringify(message)));
    this.#feed = feed;
    const stopBeating = this.#beat(clock);
    try {
      await this.#announce(feed, queries.tenantId(runId));
      const settled = queries.settled(runId).then(
        () => 'the run has settled',
        () => 'the run was deleted',
      );
      const reason = await Promise.race([settled, this.#closed]);
      if (reason !== undefined) closeSocket(this.#socket, SETTLED, reason, clock);
      await this.#closed;
    } finally {
      stopBeating();
      feed.close();
    }
  }

  async #announce(feed: StatelyFeed, tenantId: string): Promise<void> {
    let reported = 0;
    const steps = feed.announce();
    while (steps.next().done !== true) {
      if (this.#socket.readyState !== this.#socket.OPEN) return;
      if (++reported % ACTORS_PER_TURN > 0) continue;
      await fairYield(tenantId);
      // So many actors may be more than the buffer holds.
      if (this.#socket.bufferedAmount > INSPECTOR_LIMITS.bufferBytes / 4) {
        await Promise.race([this.#drained(), this.#closed]);
      }
    }
  }

  /** Resolves when the connection has accepted what was sent. */
  #drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.ping(undefined, false, () => resolve());
    });
  }

  /** A page that does not read fast enough is disconnected: what it does not read stays in memory. */
  #send(text: string): void {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount + text.length <= INSPECTOR_LIMITS.bufferBytes) return socket.send(text);
    this.#feed?.close();
    const reason = 'the page does not read as fast as the run goes';
    closeSocket(socket, TRY_AGAIN_LATER, reason, this.#services.clock);
  }

  /** Finds out whether the page is still there. */
  #beat(clock: HttpServices['clock']): () => void {
    const socket = this.#socket;
    let timer: unknown;
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    const beat = (): void => {
      if (!this.#isAlive) return socket.terminate();
      this.#isAlive = false;
      this.#received.renew();
      if (socket.readyState === socket.OPEN) socket.ping();
      timer = clock.setTimeout(beat, INSPECTOR_LIMITS.heartbeatMs);
    };
    timer = clock.setTimeout(beat, INSPECTOR_LIMITS.heartbeatMs);
    return () => clock.clearTimeout(timer);
  }
}
