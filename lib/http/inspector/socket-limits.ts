import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../common/clock.js';

/** The limits of the WebSockets that inform the official Stately inspector about runs. */
export const INSPECTOR_LIMITS = {
  /** WebSockets that may be open at once and have sent no key yet; one more closes the oldest of them. */
  sockets: 200,
  /** WebSockets that are informed about a run. */
  viewers: 50,
  /** Bytes that a page may leave unread; a page takes this much memory of its tenant. */
  bufferBytes: 2 * 2 ** 20,
  /** Time for the first message, with the key. */
  keyMs: 5000,
  /** Between two looks whether the page is still there. */
  heartbeatMs: 30_000,
  /** Bytes that a page may send from one heartbeat to the next, and before the first. */
  receivedBytes: 8 * 2 ** 10,
  /** Time for a page to read on, once its WebSocket is being closed. */
  closeMs: 1000,
} as const;

/**
 * Disconnects a page that sends more than its few messages: the message with its key, and an answer to each heartbeat.
 * A control frame takes 6 bytes and longer to handle than to send, so the bytes are counted before they are read as frames.
 */
export class ReceivedLimit {
  #left: number = INSPECTOR_LIMITS.receivedBytes;

  /** Call before the connection is read as a WebSocket: who listens first is informed first. */
  constructor(connection: Duplex) {
    connection.on('data', (chunk: Buffer) => {
      this.#left -= chunk.length;
      if (this.#left >= 0) return;
      connection.destroy();
      // The other listeners are given the chunk still. They find no frame in zeros, and read no further.
      chunk.fill(0);
    });
  }

  /** Allows as much again: call once for each heartbeat. */
  renew(): void {
    this.#left = INSPECTOR_LIMITS.receivedBytes;
  }
}

/**
 * Closes a WebSocket, and disconnects a page that does not answer soon: it would keep its place, and what it has not read.
 * A page that still reads has time for that.
 *
 * @param reason is cut to the 123 bytes that there may be
 */
export function closeSocket(socket: WebSocket, code: number, reason: string, clock: Clock): void {
  const bytes = Buffer.from(reason).subarray(0, 120);
  socket.close(code, bytes.toString().replace(/\uFFFD+$/, ''));
  let unread = socket.bufferedAmount;
  const look = (): void => {
    const isReading = socket.bufferedAmount < unread;
    unread = socket.bufferedAmount;
    if (isReading) timer = clock.setTimeout(look, INSPECTOR_LIMITS.closeMs);
    else socket.terminate();
  };
  if (socket.readyState === socket.CLOSED) return;
  let timer = clock.setTimeout(look, INSPECTOR_LIMITS.closeMs);
  socket.once('close', () => clock.clearTimeout(timer));
}
