import type { AuditLines } from '../audit/audit-lines.js';
import type { Clock } from '../common/clock.js';
import type { Json } from '../common/json/json.js';
import type { ServerConfig } from '../common/config/server-config.js';
import type { SecretSource } from '../definition/secrets/run-secrets.js';
import type { AttemptObserver } from '../execution/invocation/attempt/attempt-observer.js';
import type { ParseText } from '../execution/prepare/step-runner.js';
import type { ModelAccess } from '../models/models.js';
import type { RunRegistry } from '../runs/registry.js';
import type { RestoredRuns } from '../runs/store/restore/restoration.js';
import type { RunEventListener, SettledRun } from '../runs/run-entry.js';
import type { ServerBackups } from '../runs/store/maintenance/server-backups.js';
import type { RunStore } from '../runs/store/run-store.js';
import type { Catalog } from '../tools/catalog.js';
import type { CommandAccess } from '../tools/commands/command-access.js';
import type { ConnectionSource } from '../tools/connections/connection.js';
import type { NetworkAccess } from '../tools/fetching/network.js';
import type { FileAccess } from '../tools/files/access.js';
import type { ApiKey } from './auth/authenticate.js';
import type { ReloadTarget, ServerReload } from './reload.js';
import type { Log } from './logging/log.js';

/** Observes every run, in addition to the server's own metrics and log: tracing, for example. */
export interface RunObserver {
  readonly onEvent: RunEventListener;
  readonly onSettled: (run: Pick<SettledRun, 'id'>) => void;
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
  /** Default: tasks may start no programs (D88). */
  readonly commands?: CommandAccess | undefined;
  /** The databases and object stores that tasks name (D92). Default: there are none. */
  readonly connections?: ConnectionSource | undefined;
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
  readonly statecharts?: (() => Promise<readonly Json[]>) | undefined;
  readonly observer?: RunObserver | undefined;
  /** Keeps runs for the next process (D68). Default: none, runs end with the server. */
  readonly store?: RunStore | undefined;
  /** Writes copies of the store on request (D74). Default: requests for that are refused. */
  readonly backups?: ServerBackups | undefined;
  /** Receives every entry of the audit (D95). Default: only the store, or the memory, has them. */
  readonly auditLines?: AuditLines | undefined;
  /** Opens what reads the configuration again. Default: nothing does. */
  readonly openReload?: ((target: ReloadTarget) => ServerReload) | undefined;
  /** Keeps how far the schedules of the folder of pipelines have come (D70). Default: that ends with the server. */
  readonly scheduleFile?: string | undefined;
  /**
   * Compares every short response with its schema, and responds with an internal error instead of one that differs. For
   * tests: the comparison takes longer than creating the response. Default: false.
   */
  readonly checkResponses?: boolean | undefined;
}

/** The numbers of pipelines and of schedules in a folder. */
export interface LibraryCounts {
  readonly pipelines: number;
  /** The number of pipelines whose files have errors. */
  readonly broken: number;
  readonly schedules: number;
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
  readonly reload: ServerReload | undefined;
  /**
   * Accepts no more runs and compilations, lets running ones finish for `graceMs`, then aborts them. Resolves when every
   * connection is closed.
   */
  close(graceMs: number): Promise<void>;
}
