import type { ServerConfig } from '../common/config.js';
import { WavetrainError } from '../common/errors.js';
import { KnownPipelines } from '../pipelines/validation-cache.js';
import { RunRegistry } from '../runs/registry.js';
import { Metrics } from '../telemetry/metrics.js';
import { createApp } from './app.js';
import { authenticatorOf } from './auth/authenticate.js';
import { listen } from './listener.js';
import { tellFailure } from './logging/failed-runs.js';
import { allRoutes } from './routes/index.js';
import { guardFor, isLoopback } from './security/host-guard.js';
import type { ServerSettings } from './server-options.js';

/** Events that all settled runs together keep: some hundred bytes each. */
const EVENTS_OF_SETTLED_RUNS = 250_000;

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
    runOutputLimitBytes: config.memoryBytes,
    admission: { maxRunning: config.maxRunning, maxQueued: config.maxQueued, bytes: config.memoryBytes },
    retention: {
      keep: config.runKeep,
      ttlMs: config.runTtlMs,
      events: EVENTS_OF_SETTLED_RUNS,
      bytes: config.memoryBytes,
    },
    eventBuffer: config.eventBuffer,
    onEvent: (event, run) => {
      metrics.onEvent(event, run);
      tellFailure(event, run, log, (runId) => registry.record(runId));
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
    pipelines: new KnownPipelines(catalog),
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
  const answer = app.callback();
  const listener = await listen((request, response) => void answer(request, response), config, clock);
  return {
    url: listener.url,
    registry,
    async close(graceMs) {
      ready = false;
      await registry.close(graceMs);
      metrics.close();
      await listener.close();
    },
  };
}

/** @throws WavetrainError `bad_usage` when the server would let anybody in from other machines (D37). */
export function checkExposure({ host, allowAnonymous }: ServerConfig, hasKeys: boolean): void {
  if (hasKeys || allowAnonymous || isLoopback(host.toLowerCase())) return;
  throw new WavetrainError(
    'bad_usage',
    `listening on ${host} would let anybody on the network run pipelines: make a key with ` +
      '`wavetrain keys new --file keys.yaml` and set SERVICE_API_KEYS_FILE=keys.yaml, ' +
      'or listen on 127.0.0.1; SERVICE_ALLOW_ANONYMOUS=true lets everybody in',
  );
}
