import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, WavetrainError } from '../errors.js';
import { Metrics } from '../telemetry/metrics.js';
import { RunRegistry } from '../runs/registry.js';
import { createApp } from './app.js';
import { authenticatorOf } from './authenticator.js';
import { answerBrokenRequests } from './broken-request.js';
import { checkExposure } from './exposure.js';
import { guardFor } from './host-guard.js';
import { allRoutes } from './routes/all.js';
import type { ServerSettings } from './settings.js';

/** Events that all settled runs together keep: some hundred bytes each. */
const EVENTS_OF_SETTLED_RUNS = 250_000;

/** A request that has not arrived whole by then is answered 408. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
const HEADER_LIMIT_BYTES = 16 * 1024;

/** A server that listens. */
export interface OpenServer {
  /** Where, as in `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly registry: RunRegistry;
  /**
   * Takes no more runs, gives those at work `graceMs`, then tells their tools to stop; closes what is open and
   * resolves when nothing is left.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Opens the API (Endpoints, D31-D39).
 *
 * Rejects with `bad_usage` when the address cannot be listened on, or would let anybody in unasked (D37).
 */
export async function openServer(settings: ServerSettings): Promise<OpenServer> {
  const { config, catalog, files, keys, log, clock, newId, version, watcher } = settings;
  checkExposure(config, keys !== undefined);
  const metrics = new Metrics();
  const registry = new RunRegistry({
    clock,
    files,
    admission: { maxRunning: config.maxRunning, maxQueued: config.maxQueued },
    retention: { keep: config.runKeep, ttlMs: config.runTtlMs, events: EVENTS_OF_SETTLED_RUNS },
    eventBuffer: config.eventBuffer,
    onEvent: (event, run) => {
      metrics.onEvent(event, run);
      watcher?.onEvent(event, run);
    },
    onAttempt: (attempt) => {
      const metered = metrics.onAttempt(attempt);
      const watched = watcher?.onAttempt(attempt);
      return (error) => {
        metered(error);
        watched?.(error);
      };
    },
  });
  metrics.watch(registry);
  let ready = true;
  const services = {
    registry,
    catalog,
    clock,
    log,
    authenticate: authenticatorOf(keys),
    guard: guardFor(config),
    figures: metrics,
    bodyLimitBytes: config.bodyLimitBytes,
    isReady: () => ready,
    newId,
    version,
  };
  const app = createApp(allRoutes(services), services);
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      maxHeaderSize: HEADER_LIMIT_BYTES,
    },
    app.callback(),
  );
  answerBrokenRequests(server);
  await listening(server, config.host, config.port);
  return {
    url: urlOf(server),
    registry,
    async close(graceMs) {
      ready = false;
      await registry.close(graceMs);
      metrics.close();
      await closed(server);
    },
  };
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

/** Connections that wait for another request would keep the server open. */
async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
