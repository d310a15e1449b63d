import { readPublicUrl } from '../common/config/public-url.js';
import { urlOfRun } from '../common/wire/run-summary.js';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { homedir, uptime } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { BaseContext } from 'clipanion';
import { type Clock, systemClock } from '../common/clock.js';
import { readCacheFolder, readConfig } from '../common/config/config.js';
import { readNetworkConfig } from '../common/config/network-config.js';
import { type Environment, systemEnvironment } from '../common/config/environment.js';
import { errorCode } from '../common/errors.js';
import { readModelConfig } from '../common/config/model-config.js';
import { readPools } from '../common/config/pool-config.js';
import type { TaskPools } from '../common/scheduling/task-pools.js';
import type { ModelLimiters } from '../models/models.js';
import type { RunRegistry } from '../runs/registry.js';
import type { ProcessTable } from '../runs/store/shell/old-folders.js';
import type { RunStore } from '../runs/store/run-store.js';
import type { RunFiles } from '../runs/tasks/run-files.js';
import type { RunQueries } from '../runs/views/run-queries.js';
import type { SecretSource } from '../definition/secrets/run-secrets.js';
import type { Catalog } from '../tools/catalog.js';
import type { CommandAccess } from '../tools/commands/command-access.js';
import type { ConnectionSource } from '../tools/connections/connection.js';
import type { WritableFolders } from '../tools/files/written-file.js';
import { ModelWaits } from './progress/model-waits.js';
import { importModule, packageEntry, PROGRAM, readPackageJson } from './package-info.js';
import type { ProcessEvents } from './input/process-events.js';

/** Everything that a command uses of the process and of the rest of Wavetrain. Specs replace any part of it. */
export type CliContext = BaseContext & {
  readonly cwd: string;
  readonly clock: Clock;
  /** Does something when the command has ended, before the process exits. */
  readonly atEnd: (close: () => Promise<void>) => void;
  readonly processEvents: ProcessEvents;
  /** Opens a page in the browser of this machine, if there is one. */
  readonly openUrl: (url: string) => void;
  readonly newId: () => string;
  readonly secretBytes: (count: number) => Uint8Array;
  /** Requests in flight to models, of all runs and compilations of the command together. */
  readonly modelLimiters: ModelLimiters;
  /** The models that the command waits for. */
  readonly modelWaits: ModelWaits;
  /** Loads the built-in tools and those of the named files and packages. @param isFresh reads files again */
  readonly openCatalog: OpenCatalog;
  /**
   * Opens a registry whose tools can read files inside `roots` only, reach what `env` says (D51), write files to
   * `outputFolder` (D63), and start the programs of `commands` (D88). Its runs are kept in `history` (D68).
   */
  readonly openRegistry: (
    roots: readonly string[],
    clock: Clock,
    env: Environment,
    secrets?: SecretSource,
    outputFolder?: string,
    history?: RunHistoryPlace,
    access?: RunAccess,
  ) => Promise<RegistryApi>;
  /** Runs are kept in the folder of the project, unless a flag or the environment says otherwise (D68). */
  readonly keepsHistory: boolean;
  readonly host: Host;
};

type OpenCatalog = (specifiers: readonly string[], cwd: string, isFresh?: boolean) => Promise<Catalog>;

/** The parts of the machine that the tasks of a run reach. */
interface RunAccess {
  /** Default: tasks may start no programs. */
  readonly commands?: CommandAccess;
  /** Default: tasks can name none. */
  readonly connections?: ConnectionSource | undefined;
}

interface RunHistoryPlace {
  readonly store: RunStore | undefined;
  /** For the bytes that tools return, in a folder for each run; undefined when they are temporary files. */
  readonly bytesFolder: string | undefined;
}

/** The facts about the machine and its user that the history of runs needs. */
interface Host extends ProcessTable {
  /** Undefined on Windows. */
  readonly userId: number | undefined;
  readonly homeFolder: string;
}

/** The methods of the registry that commands use: they reach runs through the registry alone (law L2). */
export interface RegistryApi
  extends Pick<
    RunRegistry,
    'submit' | 'submitPlan' | 'cancel' | 'resume' | 'rerun' | 'restore' | 'forget' | 'cacheWritten' | 'close'
  > {
  readonly queries: QueriesApi;
}

export interface QueriesApi
  extends Pick<
    RunQueries,
    | 'record'
    | 'settled'
    | 'tasks'
    | 'task'
    | 'items'
    | 'item'
    | 'failedCalls'
    | 'rerunReport'
    | 'rerunValues'
    | 'previewRerun'
  > {
  artifacts(runId: string): Pick<RunFiles, 'find'>;
}

export function systemContext(): CliContext {
  const modelLimiters: ModelLimiters = new Map();
  const modelWaits = new ModelWaits();
  const shared: SharedByRegistries = { modelLimiters, pools: undefined };
  return {
    env: systemEnvironment(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    colorDepth: 1,
    cwd: process.cwd(),
    clock: systemClock,
    atEnd: () => undefined,
    processEvents: process,
    openUrl: openInBrowser,
    newId: () => randomUUID(),
    secretBytes: randomBytes,
    openCatalog,
    modelLimiters,
    modelWaits,
    openRegistry: (...options) => openRegistry(shared, ...options),
    keepsHistory: true,
    host: systemHost(),
  };
}

function systemHost(): Host {
  return {
    pid: process.pid,
    // Asked only when there is a run whose process may be gone.
    get bootedAt() {
      return systemClock.now() - uptime() * 1000;
    },
    isAlive: (pid) => {
      try {
        return process.kill(pid, 0);
      } catch (error) {
        // The process is there, and belongs to another user.
        return errorCode(error) === 'EPERM';
      }
    },
    userId: process.geteuid?.(),
    homeFolder: homedir(),
  };
}

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['explorer.exe'],
};

function openInBrowser(url: string): void {
  const [command, ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...words, url], { detached: true, stdio: 'ignore' });
  // The address was printed: whoever has no browser here opens it elsewhere.
  child.on('error', () => undefined);
  child.unref();
}

const openCatalog: OpenCatalog = async (specifiers, cwd, isFresh = false) => {
  const { builtinCatalog } = await import('./lazy/validation.js');
  if (specifiers.length === 0) return builtinCatalog();
  const { loadTools } = await import('../tools/loading/load-tools.js');
  const entry = packageEntry();
  const loaded = await Promise.all(
    specifiers.map((specifier) => loadTools(specifier, cwd, { entry, importModule, isFresh })),
  );
  return builtinCatalog().with(loaded.flat());
};

/** The limits that all registries of a command share. */
interface SharedByRegistries extends Pick<CliContext, 'modelLimiters'> {
  /** Created with the first registry, from its environment. */
  pools: TaskPools | undefined;
}

/** Of a registry that is given no programs: that of an MCP host. */
const NO_COMMANDS = `this host starts none; ${PROGRAM} run with --allow-commands does`;

async function openRegistry(
  shared: SharedByRegistries,
  ...[roots, clock, env, secrets, outputFolder, history, access = {}]: Parameters<CliContext['openRegistry']>
): Promise<RegistryApi> {
  const { RunRegistry, TaskPools, commandAccess, createModels, fileAccess, networkAccess } = await import(
    './lazy/execution.js'
  );
  // The command ends with the run, and its user wants the files that the outputs name.
  const network = networkAccess(readNetworkConfig(env));
  const outputs = `outputs-${readPackageJson().version}`;
  const { modelLimiters: limiters } = shared;
  const publicUrl = readPublicUrl(env);
  shared.pools ??= new TaskPools(readPools(env));
  const cacheFolder = readCacheFolder(env) ?? join(readUserCacheFolder(env), outputs);
  return new RunRegistry({
    files: fileAccess(roots, undefined, { writable: readWritable(env, outputFolder) }),
    network,
    commands: access.commands ?? commandAccess({ advice: NO_COMMANDS }),
    models: createModels(readModelConfig(env), { folders: roots, limiters }),
    secrets,
    connections: access.connections,
    clock,
    cacheFolder,
    pools: shared.pools,
    urlOfRun: (runId) => urlOfRun(publicUrl, runId),
    keepArtifacts: true,
    ...(outputFolder !== undefined && { outputFolder }),
    store: history?.store,
    storedArtifactFolder: history?.bytesFolder,
  });
}

/** The folders in which the tools of the shell may write files: that of files of the run, and those of SERVICE_WRITE_ROOTS (D92). */
function readWritable(env: Environment, outputFolder: string | undefined): WritableFolders {
  const roots = readConfig(env).writeRoots.map((root) => resolve(root));
  if (outputFolder === undefined) return { folders: roots };
  return { folders: [...roots, outputFolder], base: dirname(outputFolder) };
}

/** Finds the folder of this user for files that can be made again. */
function readUserCacheFolder({ XDG_CACHE_HOME: configured = '' }: Environment): string {
  // The standard of the variable says that a relative path is ignored.
  return join(isAbsolute(configured) ? configured : join(homedir(), '.cache'), 'wavetrain');
}
