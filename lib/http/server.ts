import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../common/clock.js';
import type { ServerConfig } from '../common/config/server-config.js';
import { errorMessage, WavetrainError } from '../common/errors.js';
import { MemoryPool } from '../common/queues/memory-pool.js';
import { type Limit, shareLimit } from '../common/queues/shared-limit.js';
import { WorkInHand } from '../common/queues/work-in-hand.js';
import type { ParseText } from '../execution/prepare/step-runner.js';
import type { AttemptObserver } from '../execution/invocation/attempt-observer.js';
import { PipelineLibrary, type NamedRunValues } from '../library/library.js';
import { Scheduler } from '../library/schedules/scheduler.js';
import { Webhooks } from '../library/webhooks/webhooks.js';
import { ValidationCache } from '../pipelines/validation-cache.js';
import { type RestoredRuns, RunRegistry } from '../runs/registry.js';
import type { SecretSource } from '../definition/secrets/run-secrets.js';
import type { RunStore } from '../runs/store/run-store.js';
import type { ReviveDefinitions } from '../runs/run-factory.js';
import type { RunEventListener } from '../runs/run-entry.js';
import { Metrics } from '../telemetry/metrics.js';
import type { Catalog } from '../tools/catalog.js';
import type { ModelAccess } from '../models/models.js';
import type { NetworkAccess } from '../tools/fetching/network.js';
import type { FileAccess } from '../tools/tool.js';
import { createApp } from './app.js';
import { createAuthenticator, TENANT_ID_PATTERN } from './auth/authenticate.js';
import type { ApiKey } from './auth/authenticate.js';
import { readPipeline, readPlan } from './routes/definition-body.js';
import { StatelySockets } from './inspector/stately-sockets.js';
import { listen } from './listener.js';
import { type Log, logFailedRun } from './logging/log.js';
import { countLibrary, type HttpServices, type LibraryCounts, type LibraryServices } from './services.js';
import { ServerReadiness } from './routing/server-readiness.js';
import { UnprovedBodies } from './routing/unproved-bodies.js';
import { BrowserGuard, isLoopback } from './security/browser-guard.js';

/** Observes every run, in addition to the server's own metrics and log: tracing, for example. */
export interface RunObserver {
  readonly onEvent: RunEventListener;
  readonly onAttempt: AttemptObserver;
}

export interface ServerOptions {
  readonly config: ServerConfig;
  readonly catalog: Catalog;
  /** The files that tools may read. */
  readonly files: FileAccess;
  /** For the outputs of tasks with `cache` (D65). Default: they are kept in memory. */
  readonly cacheFolder?: string | undefined;
  /** Sends the requests of tools. Default: to public addresses only. */
  readonly network?: NetworkAccess | undefined;
  /** Language models, for tools and for compiling requests. Default: none. */
  readonly models?: ModelAccess | undefined;
  /** Undefined when requests need no key. */
  readonly keys: readonly ApiKey[] | undefined;
  /** Where the secrets of tasks come from (D61). Default: there are none. */
  readonly secrets?: SecretSource | undefined;
  /** Parses long definitions. Default: in this process. */
  readonly parseText?: ParseText | undefined;
  readonly log: Log;
  readonly clock: Clock;
  /** Creates ids of internal errors. */
  readonly newId: () => string;
  /** Version of this package. */
  readonly version: string;
  /** Reads the charts that recordings contain. Default: there are none. */
  readonly statecharts?: HttpServices['statecharts'];
  readonly observer?: RunObserver | undefined;
  /** Keeps runs for the next process (D68). Default: none, runs end with the server. */
  readonly store?: RunStore | undefined;
  /** Keeps how far the schedules of the folder of pipelines have come (D70). Default: that ends with the server. */
  readonly scheduleFile?: string | undefined;
  /**
   * Compares every short response with its schema, and responds with an internal error instead of one that differs. For
   * tests: the comparison takes longer than creating the response. Default: false.
   */
  readonly checkResponses?: boolean | undefined;
}

export interface RunningServer {
  /** The address that the server listens on, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly registry: RunRegistry;
  /** The folder of pipelines; undefined when there is none. */
  readonly library: { readonly folder: string; readonly counts: LibraryCounts } | undefined;
  /**
   * Resolves with the number of runs of the store, and of those that go on, when all of them can be found; with undefined
   * when the server was closed before. Rejects when the store cannot be read.
   */
  readonly restored: Promise<RestoredRuns | undefined>;
  /**
   * Accepts no more runs and compilations, lets running ones finish for `graceMs`, then aborts them. Resolves when every
   * connection is closed.
   */
  close(graceMs: number): Promise<void>;
}

/** Limit on the idempotency keys of runs that are no longer kept; a key takes about 500 bytes. */
const MAX_IDEMPOTENCY_KEYS = 100_000;

/**
 * Starts the HTTP API (Endpoints, D31-D39).
 *
 * Rejects with `bad_usage` when the server cannot listen on the address, or would be open to the network without keys
 * (D37).
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const {
    config,
    catalog,
    files,
    network,
    models,
    cacheFolder,
    keys,
    secrets,
    parseText,
    log,
    clock,
    newId,
    version,
    statecharts,
    observer,
    store,
    checkResponses = false,
  } = options;
  assertAuthenticatedBinding(config, keys !== undefined);
  // V8 would come to create the actors of runs in the old generation, where each keeps its run until the next full
  // garbage collection, and so take twice the time for collecting garbage.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // V8 would let garbage, such as that of bodies and checks, grow to three times the size of what is in use before it
  // collects it; this is three quarters of it, so that SERVICE_MEMORY bounds the memory of the process, too.
  setFlagsFromString('--heap-growing-percent=75');
  const metrics = new Metrics();
  const shareOf = (total: number): Limit => shareLimit(total, config.tenantShare);
  const memory = new MemoryPool(shareOf(config.memoryBytes));
  const registry = new RunRegistry({
    clock,
    files,
    secrets,
    ...(network && { network }),
    ...(models && { models }),
    ...(cacheFolder !== undefined && { cacheFolder }),
    parseText,
    memory,
    store,
    checkedBy: `${version} ${catalog.fingerprint()}`,
    admission: config,
    retention: { maxRuns: config.runKeep, ttlMs: config.runTtlMs },
    pauseTimeoutMs: config.pauseMs,
    idempotency: { ttlMs: config.idempotencyTtlMs, keys: shareOf(MAX_IDEMPOTENCY_KEYS) },
    eventBuffer: config.eventBuffer,
    storedArtifactFolder: store?.filesFolder,
    ...(config.artifactFolder !== undefined && { artifactFolder: resolve(config.artifactFolder) }),
    onEvent: (event, run) => {
      metrics.onEvent(event);
      logFailedRun(event, run, log, registry);
      observer?.onEvent(event, run);
    },
    onAttempt: (attempt) => {
      const endMetric = metrics.onAttempt(attempt);
      const endObserved = observer?.onAttempt(attempt);
      return (error) => {
        endMetric(error);
        endObserved?.(error);
      };
    },
  });
  metrics.watch(registry);
  metrics.watchMemory(memory);
  const folder = await openLibrary(options, registry);
  const readiness = new ServerReadiness();
  const work = new WorkInHand(clock);
  const services: HttpServices = {
    registry,
    catalog,
    pipelines: new ValidationCache(catalog),
    models,
    clock,
    log,
    authenticate: createAuthenticator(keys),
    guard: new BrowserGuard(config),
    metrics,
    memory,
    unprovedBodies: new UnprovedBodies(memory, clock),
    shareOf,
    bodyLimitBytes: config.bodyLimitBytes,
    library: folder,
    checkResponses,
    work,
    readiness,
    newId,
    version,
    statecharts,
  };
  if (store !== undefined) readiness.begin('restoring');
  store?.onFailure((error) => {
    readiness.begin('store_failed');
    const reason = errorMessage(error);
    log.error(
      { error: reason },
      `runs cannot be kept in ${store.place}: none goes on until the server is started again`,
    );
  });
  const handle = createApp(services).callback();
  const sockets = new StatelySockets(services);
  const listener = await listen(
    (request, response) => void handle(request, response),
    (request, socket, head) => sockets.upgrade(request, socket, head),
    config,
    clock,
  );
  const restored = restoreRuns(services, store).then(async (runs) => {
    if (runs !== undefined) await folder?.scheduler.start();
    return runs;
  });
  return {
    url: listener.url,
    registry,
    library: folder && {
      folder: config.pipelinesFolder ?? '',
      get counts() {
        return countLibrary(folder);
      },
    },
    restored,
    async close(graceMs) {
      readiness.begin('shutting_down');
      folder?.library.close();
      const isScheduleKept = folder?.scheduler.close();
      const hasEnded = work.close(graceMs);
      // Requests may change what the store has until they are answered.
      await registry.close(graceMs, async () => {
        await hasEnded;
        metrics.close();
        sockets.close();
        await listener.close();
      });
      await isScheduleKept;
    },
  };
}

/** Opens the folder of pipelines (D69); undefined when there is none. Rejects with `bad_usage` when it cannot be read. */
async function openLibrary(
  { config, catalog, clock, log, newId, secrets, scheduleFile }: ServerOptions,
  registry: RunRegistry,
): Promise<LibraryServices | undefined> {
  const { pipelinesFolder, pipelinesWritable, bodyLimitBytes } = config;
  if (pipelinesFolder === undefined) return undefined;
  // With the values of a run, other things are wrong (D5).
  const given = ({ inputs, session }: NamedRunValues): Pick<NamedRunValues, 'inputs' | 'session'> => ({
    ...(inputs && { inputs }),
    ...(session && { session }),
  });
  const checking = { registry, catalog, pipelines: new ValidationCache(catalog) };
  const library = await PipelineLibrary.open({
    folder: resolve(pipelinesFolder),
    isWritable: pipelinesWritable,
    limitBytes: bodyLimitBytes,
    isTenant: (name) => TENANT_ID.test(name),
    registry,
    catalog,
    prepare: {
      pipeline: ({ definition }, values, tenantId) =>
        readPipeline(
          { yaml: undefined, body: { pipeline: definition, ...given(values) } },
          checking,
          tenantId,
        ),
      plan: ({ definition, pipelines }, values, tenantId) =>
        readPlan(
          { yaml: undefined, body: { plan: definition, pipelines, ...given(values) } },
          checking,
          tenantId,
        ),
    },
    clock,
    log,
    newId,
  });
  const scheduler = new Scheduler({ library, registry, clock, log, file: scheduleFile });
  return { library, scheduler, webhooks: new Webhooks(library, secrets, clock) };
}

const TENANT_ID = new RegExp(TENANT_ID_PATTERN);

/** Rejects with `bad_usage` when the store cannot be read. */
async function restoreRuns(
  services: HttpServices,
  store: RunStore | undefined,
): Promise<RestoredRuns | undefined> {
  const { registry, readiness } = services;
  const definitions: ReviveDefinitions = {
    pipeline: (pipeline, { tenant_id, hasSettled, isChecked, ...values }) =>
      orWithPlaceholders(hasSettled, pipeline, services, (used) =>
        readPipeline({ yaml: undefined, body: { pipeline, ...values }, isChecked }, used, tenant_id),
      ),
    plan: (plan, pipelines, { tenant_id, hasSettled, isChecked, ...values }) =>
      orWithPlaceholders(hasSettled, { plan, pipelines }, services, (used) =>
        readPlan({ yaml: undefined, body: { plan, pipelines, ...values }, isChecked }, used, tenant_id),
      ),
  };
  try {
    return await registry.restore(definitions, () => readiness.end('restoring'));
  } catch (cause) {
    throw new WavetrainError(
      'bad_usage',
      `the runs in ${store?.place} cannot be read: ${errorMessage(cause)}: put a copy of the file in its place, or name another file`,
      { cause },
    );
  }
}

/** Checks a definition. That of a run that has settled may name tools that are not there any more, or have changed. */
async function orWithPlaceholders<T>(
  hasSettled: boolean,
  definition: unknown,
  { registry, catalog, pipelines }: HttpServices,
  check: (services: Pick<HttpServices, 'registry' | 'catalog' | 'pipelines'>) => Promise<T>,
): Promise<T> {
  try {
    return await check({ registry, catalog, pipelines });
  } catch (error) {
    if (!hasSettled) throw error;
    const placeholders = catalog.withPlaceholders(definition);
    return check({ registry, catalog: placeholders, pipelines: new ValidationCache(placeholders) });
  }
}

/**
 * Checks that only callers with a key, or on this machine, can reach the server (D37).
 *
 * @throws WavetrainError `bad_usage`
 */
export function assertAuthenticatedBinding({ host, allowAnonymous }: ServerConfig, hasKeys: boolean): void {
  if (hasKeys || allowAnonymous || isLoopback(host.toLowerCase())) return;
  throw new WavetrainError(
    'bad_usage',
    `listening on ${host} without keys would let anyone on the network run pipelines: create a key with ` +
      '`wavetrain keys new --file keys.yaml` and set SERVICE_API_KEYS_FILE=keys.yaml, ' +
      'or listen on 127.0.0.1; SERVICE_ALLOW_ANONYMOUS=true allows anonymous access',
  );
}
