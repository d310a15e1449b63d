import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../common/clock.js';
import { INSPECTOR_LIMITS } from '../../common/limits.js';

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
