import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../common/clock.js';
import type { ServerConfig } from '../../common/config/server-config.js';
import { errorMessage, WavetrainError } from '../../common/errors.js';
import { ChunkLimitedRequest } from './chunk-limits.js';
import { countAllowedConnections, limitPipelining, MAX_HEADERS } from './connection-limits.js';
import { handleMalformedRequests } from '../errors/malformed-requests.js';
import { handleUpgrades, type UpgradeHandler } from '../routing/upgrades.js';

/** A request that takes longer to arrive completely is refused with 408. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
const TIMEOUT_CHECK_MS = 1000;
const HEADER_LIMIT_BYTES = 16 * 1024;

/** Time to send the last responses after every run has settled. */
const CLOSE_TIMEOUT_MS = 1000;

/**
 * Listens on an address. `url` is such as `http://127.0.0.1:8000`. Rejects with `bad_usage` when it cannot listen.
 *
 * @param upgrade handles the requests for a WebSocket
 */
export async function listen(
  handle: RequestListener,
  upgrade: UpgradeHandler,
  { host, port, memoryBytes }: Pick<ServerConfig, 'host' | 'port' | 'memoryBytes'>,
  clock: Clock,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: HEADER_LIMIT_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // The browser guard refuses a missing Host header, with a message.
      requireHostHeader: false,
      IncomingMessage: ChunkLimitedRequest,
    },
    limitPipelining(handle),
  );
  server.maxConnections = countAllowedConnections(memoryBytes);
  // Node.js drops further ones without a word; the application refuses a request that has one more than allowed.
  server.maxHeadersCount = MAX_HEADERS + 1;
  handleMalformedRequests(server);
  const closeWaiting = handleUpgrades(server, upgrade);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(toListenError(error, host, port)));
    server.listen(port, host, resolve);
  });
  return { url: getUrl(server), close: () => close(server, closeWaiting, clock) };
}

function toListenError(error: NodeJS.ErrnoException, host: string, port: number): WavetrainError {
  const reason =
    error.code === 'EADDRINUSE'
      ? 'another program listens there: choose another port with --port or SERVICE_API_PORT'
      : errorMessage(error);
  return new WavetrainError('bad_usage', `cannot listen on ${host}:${port}: ${reason}`, { cause: error });
}

function getUrl(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Accepts no more connections, lets the last responses be sent, then closes every connection. */
async function close(server: Server, closeWaiting: () => void, clock: Clock): Promise<void> {
  const timer = clock.setTimeout(() => {
    server.closeAllConnections();
    closeWaiting();
  }, CLOSE_TIMEOUT_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clock.clearTimeout(timer);
}
