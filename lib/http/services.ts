import type { AuditTrail } from '../audit/audit-trail.js';
import type { MemoryPool } from '../common/memory/memory-pool.js';
import type { Limit } from '../common/memory/shared-limit.js';
import type { InFlightRequests } from './routing/in-flight-requests.js';
import type { PipelineLibrary } from '../library/library.js';
import { ROOT_TENANT } from '../library/list-files.js';
import type { Scheduler } from '../library/schedules/scheduler.js';
import type { Webhooks } from '../library/webhooks/webhooks.js';
import type { RunRegistry } from '../runs/registry.js';
import type { ServerBackups } from '../runs/store/maintenance/server-backups.js';
import type { RunQueries } from '../runs/views/run-queries.js';
import type { DefinitionChecker } from '../submission/definition-checker.js';
import type { Submitter } from '../submission/submitter.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { ServerReload } from './reload.js';
import type { MeasuredFolder } from '../telemetry/pipeline-metrics.js';
import type { Authenticate } from './auth/authenticate.js';
import type { ServerReadiness } from './routing/server-readiness.js';
import type { UnauthenticatedBodies } from './routing/unauthenticated-bodies.js';
import type { BrowserGuard } from './security/browser-guard.js';
import type { LibraryCounts, ServerOptions } from './server-options.js';

/** The services of a server with a folder of pipelines. */
export interface LibraryServices {
  readonly library: PipelineLibrary;
  readonly scheduler: Scheduler;
  readonly webhooks: Webhooks;
}

export function countLibrary({ library, scheduler }: LibraryServices): LibraryCounts {
  return { ...library.counts, schedules: scheduler.count };
}

/** Names the definitions of the folder in metrics: by their ids, below the folder of a tenant as `acme/nightly`. */
export function toMeasuredFolder({ library, scheduler }: LibraryServices): MeasuredFolder {
  const toLabel = (tenantId: string, id: string): string =>
    tenantId === ROOT_TENANT ? id : `${tenantId}/${id}`;
  return {
    labelOf: (tenantId, id) => (library.find(tenantId, id) ? toLabel(tenantId, id) : undefined),
    // No id has a slash: those that callers send can only be labels of the tenant of the whole folder.
    isLabel: (text) => {
      const [first = '', id] = text.split('/', 2);
      return (id === undefined ? library.find(ROOT_TENANT, first) : library.find(first, id)) !== undefined;
    },
    *list() {
      for (const { id, listed, good } of library.entries) {
        const { schedule, webhook } = good?.definition ?? {};
        const triggers = [
          ...(schedule ? ['schedule' as const] : []),
          ...(webhook ? ['webhook' as const] : []),
        ];
        yield { label: toLabel(listed.tenantId, id), triggers };
      }
    },
    *schedules() {
      for (const { tenantId, id, ...measured } of scheduler.measure())
        yield { label: toLabel(tenantId, id), ...measured };
    },
  };
}

/** The services on which the middleware and the routes depend. */
export interface HttpServices
  extends Pick<ServerOptions, 'models' | 'clock' | 'log' | 'newId' | 'version' | 'statecharts'> {
  /** For the routes that command runs. */
  readonly registry: RunRegistry;
  readonly queries: RunQueries;
  /** Has the tools, which may be others after a reload. */
  readonly checker: DefinitionChecker;
  readonly submitter: Submitter;
  readonly authenticate: Authenticate;
  readonly guard: BrowserGuard;
  readonly metrics: Metrics;
  readonly audit: AuditTrail;
  /** The memory of requests, runs and responses together. */
  readonly memory: MemoryPool;
  /** The part of the memory for bodies whose caller is not known yet. */
  readonly unauthenticatedBodies: UnauthenticatedBodies;
  /** Divides what the server can do at once between the tenants, by `SERVICE_TENANT_SHARE` (D25). */
  readonly shareOf: (total: number) => Limit;
  readonly bodyLimitBytes: number;
  readonly checkResponses: boolean;
  /** Compilations, which end with the server. */
  readonly work: InFlightRequests;
  readonly readiness: ServerReadiness;
  /** The pipelines and plans of the folder of the server; undefined when it has none (D69). */
  readonly library?: LibraryServices | undefined;
  /** Reads the configuration again; undefined when nothing can. */
  readonly reload?: ServerReload | undefined;
  /** Undefined when the server has no store. */
  readonly backups?: ServerBackups | undefined;
}
