import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../common/clock.js';
import { messageOf, WavetrainError } from '../common/errors.js';
import { answerBrokenRequests } from './errors/malformed-requests.js';

/** A request that has not arrived whole by then is answered 408. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
const TIMEOUT_CHECK_MS = 1000;
const HEADER_LIMIT_BYTES = 16 * 1024;

/** How long answers may take to leave once nothing is at work any more. */
const LAST_ANSWERS_MS = 1000;

/** A port that is listened on. */
interface Listener {
  /** As in `http://127.0.0.1:8000`. */
  readonly url: string;
  /** Takes no more connections, lets the last answers leave, then closes what is still open. */
  close(): Promise<void>;
}

/** Rejects with `bad_usage` when the address cannot be listened on. */
export async function listen(
  answer: RequestListener,
  { host, port }: { readonly host: string; readonly port: number },
  clock: Clock,
): Promise<Listener> {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: HEADER_LIMIT_BYTES,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // The guard refuses those without one, in words.
      requireHostHeader: false,
    },
    answer,
  );
  answerBrokenRequests(server);
  await listening(server, host, port);
  return { url: urlOf(server), close: () => close(server, clock) };
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(unusable(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function unusable(error: NodeJS.ErrnoException, host: string, port: number): WavetrainError {
  const why =
    error.code === 'EADDRINUSE'
      ? 'another program listens there: choose another port with --port or SERVICE_API_PORT'
      : messageOf(error);
  return new WavetrainError('bad_usage', `cannot listen on ${host}:${port}: ${why}`, { cause: error });
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

async function close(server: Server, clock: Clock): Promise<void> {
  const timer = clock.setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
  clock.clearTimeout(timer);
}
