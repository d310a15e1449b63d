import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

/** Takes over the connection of a request for a WebSocket. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * Passes requests for a WebSocket on, and serves those that ask for any other protocol as if they did not.
 *
 * As soon as a server handles upgrades, Node.js hands over the connection of every request that asks for one. Clients
 * such as Java's ask for HTTP/2 with every first request, also with one that has a body, and expect HTTP/1.1 when the
 * server ignores it.
 */
export function handleUpgrades(server: Server, handle: UpgradeHandler): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (isWebSocketRequest(request)) return handle(request, socket, head);
    // Node.js reads the request again, without what it has asked for.
    socket.unshift(Buffer.concat([formatHead(request), head]));
    server.emit('connection', socket);
  });
}

function isWebSocketRequest({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
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
