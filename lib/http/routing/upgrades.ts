import { inNextTurn } from '../../common/scheduling/turns.js';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Takes over the connection of a request for a WebSocket. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface Connection extends Socket {
  /** Of Node.js, which does not document it: the response that is being sent. */
  _httpMessage?: ServerResponse | null;
}

/**
 * Passes requests for a WebSocket on, and serves those that ask for any other protocol as if they did not.
 *
 * As soon as a server handles upgrades, Node.js hands over the connection of every request that asks for one: it reads
 * neither the body nor what follows, and forgets what it has not answered yet. Clients such as Java's ask for HTTP/2 with
 * every first request, also with one that has a body, and expect HTTP/1.1 when the server ignores it.
 *
 * @returns a function that closes the connections on which such a request waits for the responses before it
 */
export function handleUpgrades(server: Server, handle: UpgradeHandler): () => void {
  const waiting = new Set<Connection>();
  server.on('upgrade', (request: IncomingMessage, connection: Connection, head: Buffer) => {
    const ignoreError = (): void => undefined;
    const forwardDrain = (): void => void currentResponse(connection)?.emit('drain');
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket';
    const goOn = (): void => {
      const response = currentResponse(connection);
      // The next response is assigned to the connection before this one says that it is closed.
      if (response !== undefined && !connection.destroyed) return void response.once('close', goOn);
      waiting.delete(connection);
      connection.off('error', ignoreError).off('drain', forwardDrain);
      // The response before this request has closed the connection.
      if (connection.destroyed || connection.writableEnded) return;
      // Node.js has set a timeout for a connection on which nothing happens between two requests.
      connection.setTimeout(0);
      if (isWebSocket) return handle(request, connection, head);
      // Node.js reads the request again, without what it has asked for.
      connection.unshift(Buffer.concat([formatHead(request), head]));
      server.emit('connection', connection);
    };
    waiting.add(connection);
    connection.on('error', ignoreError).on('drain', forwardDrain);
    // The parser of the request is still at work: a new connection could be given the same one.
    inNextTurn(goOn);
  });
  return () => {
    for (const connection of waiting) connection.destroy();
    waiting.clear();
  };
}

function currentResponse(connection: Connection): ServerResponse | undefined {
  // oxlint-disable-next-line no-underscore-dangle -- Node.js has no public name for it
  return connection._httpMessage ?? undefined;
}

/** Headers as they were received, in latin1 as Node.js reads them. */
function formatHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    // Renamed and not left out, so that as many headers are counted as were sent.
    const kept = name.toLowerCase() === 'upgrade' ? 'Ignored-Upgrade' : name;
    lines.push(`${kept}: ${rawHeaders[index + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
