import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Headers of one request; usual ones have 10 to 30. Each takes about 100 bytes besides its text. */
export const MAX_HEADERS = 100;

const MAX_CONNECTIONS = 10_000;

/**
 * Memory to allow for each connection: its memory can belong to no tenant before the caller is known, so connections are
 * limited by number. The default of SERVICE_MEMORY allows MAX_CONNECTIONS. A connection that sends headers without end
 * takes a little more, 30 KiB as measured.
 */
const CONNECTION_BYTES = 26 * 1024;

/** Connections that may be open at once; further ones are closed at once. */
export function countAllowedConnections(memoryBytes: number): number {
  return Math.min(MAX_CONNECTIONS, Math.floor(memoryBytes / CONNECTION_BYTES));
}

/**
 * Requests of one connection that may wait for the response to the one before. Clients that send one after another have
 * at most one, when it arrives before the operating system has confirmed that the response before it was sent.
 */
const MAX_PIPELINED = 3;

const PIPELINED = Symbol('pipelined responses');

interface Connection extends Socket {
  /** The responses that wait for one before them. A field and not a WeakMap, which is slower to collect. */
  [PIPELINED]?: Set<ServerResponse>;
  /** Of Node.js, which does not document it. */
  parser?: { onIncoming?: unknown } | null;
}

/**
 * Limits how many requests of one connection are handled at once: a client may send hundreds of them in one packet
 * without waiting for a response, and each takes memory until its response was sent. A connection with too many of them
 * is closed. Users of a response get its `close` event even when the connection is closed before its turn.
 */
export function limitPipelining(handle: RequestListener): RequestListener {
  return (request, response) => {
    // Node.js assigns the connection when all responses before were sent, which they usually are.
    if (response.socket === null && !admit(request.socket, response)) return;
    handle(request, response);
  };
}

function admit(connection: Connection, response: ServerResponse): boolean {
  if (connection.destroyed) return false;
  const waiting = connection[PIPELINED] ?? trackPipelined(connection);
  if (waiting.size >= MAX_PIPELINED) {
    discard(connection);
    return false;
  }
  waiting.add(response);
  response.once('close', () => waiting.delete(response));
  return true;
}

/** Closes the connection. */
function discard(connection: Connection): void {
  connection.destroy();
  // Node.js parses whatever else has arrived, and keeps each request until the end of the turn: a gigabyte if many
  // connections are closed at once.
  if (connection.parser) connection.parser.onIncoming = (): number => 0;
}

function trackPipelined(connection: Connection): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>();
  connection[PIPELINED] = waiting;
  connection.once('close', () => {
    for (const response of waiting) if (response.socket === null) close(response);
  });
  return waiting;
}

/** Node.js itself closes only the response whose turn it is. */
function close(response: ServerResponse): void {
  response.destroy();
  response.emit('close');
}
