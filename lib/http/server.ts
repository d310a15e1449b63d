import { auditReload, auditSchedules, auditSubmissions, openAudit } from './logging/audit/server-audit.js';
import { urlOfRun } from '../common/wire/run-summary.js';
import { resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { errorMessage, WavetrainError } from '../common/errors.js';
import { MemoryPool } from '../common/memory/memory-pool.js';
import { type Limit, shareLimit } from '../common/memory/shared-limit.js';
import { InFlightRequests } from './routing/in-flight-requests.js';
import { TaskPools } from '../common/scheduling/task-pools.js';
import { PipelineLibrary } from '../library/library.js';
import { Scheduler, type SchedulerOptions } from '../library/schedules/scheduler.js';
import { Webhooks } from '../library/webhooks/webhooks.js';
import { RunRegistry } from '../runs/registry.js';
import type { RestoredRuns } from '../runs/store/restore/restoration.js';
import type { RegistryOptions } from '../runs/registry-options.js';
import type { RunStore } from '../runs/store/run-store.js';
import { DefinitionChecker } from '../submission/definition-checker.js';
import { Submitter } from '../submission/submitter.js';
import type { ServerConfig } from '../common/config/server-config.js';
import { Metrics } from '../telemetry/metrics.js';
import { createApp } from './routing/app.js';
import { KeyRing } from './auth/key-ring.js';
import type { Catalog } from '../tools/catalog.js';
import { assertAuthenticatedBinding, TENANT_ID_PATTERN } from './auth/authenticate.js';
import { StatelySockets } from './inspector/stately-sockets.js';
import { listen } from './security/listener.js';
import { logFailure, logSettledRun } from './logging/log.js';
import { PrunedRunReport } from './logging/pruned-run-report.js';
import type { RunningServer, ServerOptions } from './server-options.js';
import { countLibrary, type HttpServices, toMeasuredFolder, type LibraryServices } from './services.js';
import { ServerReadiness } from './routing/server-readiness.js';
import { UnauthenticatedBodies } from './routing/unauthenticated-bodies.js';
import { BrowserGuard, isLoopback } from './security/browser-guard.js';

/** Limit on the idempotency keys of runs that are no longer kept; a key takes about 500 bytes. */
const MAX_IDEMPOTENCY_KEYS = 100_000;

/**
 * Starts the HTTP API (Endpoints, D31-D39).
 *
 * Rejects with `bad_usage` when the server cannot listen on the address, or would be open to the network without keys
 * (D37).
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, network, commands, models, cacheFolder, keys, log, clock, version, observer, store } =
    options;
  assertAuthenticatedBinding(config, keys !== undefined);
  // V8 would come to create the actors of runs in the old generation, where each keeps its run until the next full
  // garbage collection, and so take twice the time for collecting garbage.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // V8 would let garbage, such as that of bodies and checks, grow to three times the size of what is in use before it
  // collects it; this is three quarters of it, so that SERVICE_MEMORY bounds the memory of the process, too.
  setFlagsFromString('--heap-growing-percent=75');
  const withPools = (tools: Catalog): Catalog => tools.withPools(config.pools.keys());
  const catalog = withPools(options.catalog);
  let checkedBy = nameChecks(version, catalog);
  const pools = new TaskPools(config.pools);
  const metrics = new Metrics(undefined, clock);
  const shareOf = (total: number): Limit => shareLimit(total, config.tenantShare);
  const memory = new MemoryPool(shareOf(config.memoryBytes));
  const prunedRuns = new PrunedRunReport(log, metrics, clock);
  const audit = await openAudit(options);
  let ownUrl: string | undefined;
  const registry = new RunRegistry({
    clock,
    urlOfRun: (runId) => urlOfRun(config.publicUrl ?? ownUrl, runId),
    files: options.files,
    secrets: options.secrets,
    connections: options.connections,
    ...(network && { network }),
    ...(commands && { commands }),
    ...(models && { models }),
    ...(cacheFolder !== undefined && { cacheFolder }),
    parseText: options.parseText,
    memory,
    largeFiles: new MemoryPool(shareOf(config.largeFileBytes)),
    pools,
    store,
    checkedBy: () => checkedBy,
    admission: config,
    ...keepRuns(config, store),
    onPruned: (runs) => prunedRuns.add(runs),
    onEvicted: (reason) => metrics.recordEvicted(reason),
    pauseTimeoutMs: config.pauseMs,
    idempotency: { ttlMs: config.idempotencyTtlMs, keys: shareOf(MAX_IDEMPOTENCY_KEYS) },
    eventBuffer: config.eventBuffer,
    storedArtifactFolder: store?.filesFolder,
    ...(config.artifactFolder !== undefined && { artifactFolder: resolve(config.artifactFolder) }),
    onEvent: (event, run) => {
      metrics.onEvent(event, run);
      logFailure(event, run, log, registry.queries);
      observer?.onEvent(event, run);
    },
    submissions: auditSubmissions(audit),
    onSettled: (run) => {
      observer?.onSettled(run);
      // Another process goes on with a run whose end could not be kept.
      if (run.isLeft) return;
      metrics.onSettled(run);
      logSettledRun(run, log);
      folder?.scheduler.onSettled(run);
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
  metrics.watch(registry.queries);
  metrics.watchMemory(memory);
  metrics.watchPools(pools);
  const checker = new DefinitionChecker(registry.stepRunner, catalog);
  const submitter = new Submitter(registry, checker);
  const folder = await openLibrary(options, registry, checker, submitter, {
    onSkipped: (by) => metrics.recordSkipped(by),
    onEnd: auditSchedules(audit),
  });
  if (folder !== undefined) metrics.watchFolder(toMeasuredFolder(folder));
  const keyRing = new KeyRing(keys, isLoopback(config.host.toLowerCase()));
  const readiness = new ServerReadiness();
  const reload = options.openReload?.({
    useKeys: (changed) => keyRing.replace(changed),
    useCatalog: (tools) => {
      checker.use(withPools(tools));
      checkedBy = nameChecks(version, checker.catalog);
      folder?.library.readAgain();
    },
    onReload: (attempt) => {
      metrics.recordReload(attempt.error === null);
      auditReload(audit, attempt);
    },
  });
  const work = new InFlightRequests(clock);
  const services: HttpServices = {
    registry,
    queries: registry.queries,
    checker,
    submitter,
    models,
    clock,
    log,
    authenticate: keyRing.authenticate,
    guard: new BrowserGuard(config),
    metrics,
    audit,
    memory,
    unauthenticatedBodies: new UnauthenticatedBodies(memory, clock),
    shareOf,
    bodyLimitBytes: config.bodyLimitBytes,
    library: folder,
    backups: options.backups,
    reload,
    checkResponses: options.checkResponses ?? false,
    work,
    readiness,
    newId: options.newId,
    version,
    statecharts: options.statecharts,
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
  ownUrl = listener.url;
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
    reload,
    async close(graceMs) {
      readiness.begin('shutting_down');
      reload?.close();
      folder?.library.close();
      const isScheduleKept = folder?.scheduler.close();
      const hasEnded = work.close(graceMs);
      // Requests may change what the store has until they are answered.
      await registry.close(graceMs, async () => {
        await hasEnded;
        metrics.close();
        sockets.close();
        await listener.close();
        audit.close();
      });
      prunedRuns.close();
      await isScheduleKept;
    },
  };
}

/** Names the version and the tools that check definitions. */
function nameChecks(version: string, catalog: Catalog): string {
  return `${version} ${catalog.fingerprint()}`;
}

const UNLIMITED = Number.POSITIVE_INFINITY;

/** Which settled runs are kept, and where (D26, D74). */
function keepRuns(
  { runTtlMs: ttlMs, runKeep: maxRuns, storeBytes: maxBytes, cacheBytes }: ServerConfig,
  store: RunStore | undefined,
): Pick<RegistryOptions, 'retention' | 'archiveLimits'> {
  if (store?.archive === undefined) return { retention: { maxRuns, ttlMs } };
  return {
    retention: { maxRuns: UNLIMITED, ttlMs: UNLIMITED, maxBytes: cacheBytes },
    archiveLimits: { ttlMs, maxRuns, maxBytes },
  };
}

/** Opens the folder of pipelines (D69); undefined when there is none. Rejects with `bad_usage` when it cannot be read. */
async function openLibrary(
  { config, clock, log, newId, secrets, scheduleFile }: ServerOptions,
  registry: RunRegistry,
  checker: DefinitionChecker,
  submitter: Submitter,
  listeners: Pick<SchedulerOptions, 'onSkipped' | 'onEnd'>,
): Promise<LibraryServices | undefined> {
  const { pipelinesFolder, pipelinesWritable, bodyLimitBytes } = config;
  if (pipelinesFolder === undefined) return undefined;
  const library = await PipelineLibrary.open({
    folder: resolve(pipelinesFolder),
    isWritable: pipelinesWritable,
    limitBytes: bodyLimitBytes,
    isTenant: (name) => TENANT_ID.test(name),
    registry,
    catalog: () => checker.catalog,
    clock,
    log,
    newId,
  });
  const scheduler = new Scheduler({
    library,
    registry,
    submitter,
    clock,
    log,
    file: scheduleFile,
    ...listeners,
  });
  return { library, scheduler, webhooks: new Webhooks(library, secrets, clock) };
}

const TENANT_ID = new RegExp(TENANT_ID_PATTERN);

/** Rejects with `bad_usage` when the store cannot be read. */
async function restoreRuns(
  services: HttpServices,
  store: RunStore | undefined,
): Promise<RestoredRuns | undefined> {
  const { registry, checker, readiness } = services;
  try {
    return await registry.restore(checker.revive, () => readiness.end('restoring'));
  } catch (cause) {
    throw new WavetrainError(
      'bad_usage',
      `the runs in ${store?.place} cannot be read: ${errorMessage(cause)}: put a copy of the file in its place, or name another file`,
      { cause },
    );
  }
}
