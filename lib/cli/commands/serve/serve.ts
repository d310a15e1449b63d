import { resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { errorMessage } from '../../../common/errors.js';
import { readCacheFolder, readConfig } from '../../../common/config/config.js';
import { readNetworkConfig } from '../../../common/config/network-config.js';
import { readServerConfig, type ServerConfig } from '../../../common/config/server-config.js';
import { COMMANDS_ADVICE } from '../../../common/config/allowed-commands.js';
import { FETCH_LIMITS } from '../../../common/limits.js';
import type { Launcher } from '../../../common/workers/launcher.js';
import type { ProgramLauncher } from '../../../common/workers/programs/program-launcher.js';
import { lowerShare, shareLimit } from '../../../common/memory/shared-limit.js';
import type { Log } from '../../../http/logging/log.js';
import type { RunningServer, ServerOptions } from '../../../http/server-options.js';
import type { CommandAccess } from '../../../tools/commands/command-access.js';
import { COMMAND_LIMITS } from '../../../tools/commands/command.js';
import { formatNumber } from '../../../common/text.js';
import type { CliContext } from '../../context.js';
import { CatalogCommand, textOption, flagOption } from '../../input/shared-options.js';
import { EXIT, type ExitStatus } from '../../exit-status.js';
import { openConnections } from '../../input/connections.js';
import { readServerWriteRoots } from '../../input/write-roots.js';
import { DEFAULT_TENANT, openServerSecrets } from '../../input/secrets.js';
import { readEnvFile, readNumber } from '../../input/flags.js';
import { onHangup, reportUncaughtToolErrors, StopSignals } from '../../input/process-events.js';
import { distFile } from '../../../common/files.js';
import { readPackageJson, readStatecharts } from '../../package-info.js';
import { EnvFile, unknownVariables } from './env-file.js';
import { type ServerModule, startProcesses } from './server-processes.js';
import { printAddress, printRestored, printShutdown } from '../../render/server-start.js';
import { detectTerminal } from '../../render/terminal.js';

export class ServeCommand extends CatalogCommand {
  static override paths = [['serve']];
  static override usage = CatalogCommand.Usage({
    description: 'serves the HTTP API and its documentation',
    details: `
      Listens on 127.0.0.1:8000 by default and prints the address of the documentation. To accept requests from
      other machines, it needs API keys (SERVICE_API_KEYS_FILE). It logs each request in one line on standard output:
      as text on a terminal, as JSON elsewhere.

      Ctrl-C or SIGTERM shuts the server down: it accepts no more runs, gives running ones SERVICE_SHUTDOWN_SECONDS to
      finish, and then stops their tools. A second Ctrl-C exits at once.

      Runs are kept in memory and are lost when the server exits, unless SERVICE_STORE names a file for them: then they go
      on when it is started again, also after a crash.

      The server reads its files of keys, secrets, connections, tools and MCP servers again when they change, and all of
      them on SIGHUP or POST /admin/reload; runs at work keep their tools. docs/operation/settings.md says what needs a
      restart.

      Environment variables set limits, such as SERVICE_MEMORY, and the share of each tenant: wavetrain doctor --all lists
      all of them.
    `,
    examples: [
      ['on the default port', '$0 serve'],
      ['on another port', '$0 serve --port 8080'],
      ['with your own tools', '$0 serve --tools tools.ts'],
      ['with runs that outlive it', 'SERVICE_STORE=wavetrain.db $0 serve'],
      ['with a folder of pipelines and their schedules', 'SERVICE_PIPELINES=pipelines $0 serve'],
      ['for other machines', 'SERVICE_API_KEYS_FILE=keys.yaml $0 serve --host 0.0.0.0'],
    ],
  });

  host = textOption`--host <ADDRESS> address to listen on; overrides SERVICE_API_HOST; default 127.0.0.1`;
  port = textOption`--port <N> port to listen on; overrides SERVICE_API_PORT; 0 picks a free one; default 8000`;
  quiet = flagOption`--quiet log only warnings and errors`;

  /** Serves the API until a signal stops it (D43). Returns `interrupted` if a second signal cut the shutdown short. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    const port = readNumber('--port', this.port, PORT);
    const overridden = [
      ...(this.host === undefined ? [] : ['SERVICE_API_HOST']),
      ...(this.port === undefined ? [] : ['SERVICE_API_PORT']),
    ];
    const envFile = new EnvFile(this.envFile, context, overridden);
    await readEnvFile(this.envFile, context);
    const read = readServeConfig(this, port, context);
    const configured = { ...read, logLevel: this.#logLevel(read) };
    const modules = await import('../../lazy/server.js');
    const reloading = await import('../../lazy/reload.js');
    const { keysFile } = configured;
    const named = Object.values(reloading.configurationFiles(context.env, context.cwd, this)).flat();
    const seen = await reloading.inspectFiles([...envFile.files, ...named]);
    const keys =
      keysFile === undefined ? undefined : await modules.readKeysFile(resolve(context.cwd, keysFile));
    const { interactive, colours } = detectTerminal(context.stdout, context.env);
    const { stdout: stream, clock } = context;
    const ownsEnvironment = keys && ((tenantId: string) => tenantId === DEFAULT_TENANT);
    const { secrets, values } = await openServerSecrets(context, ownsEnvironment);
    const connections = await openConnections(context);
    const { mask } = secrets;
    const log = modules.createLog({ stream, interactive, colours, level: configured.logLevel, clock, mask });
    const flushLog = (): void => log.flush();
    context.processEvents.on('exit', flushLog);
    const tracing = await modules.openTracing(context.env, {
      clock,
      warn: (message) => log.warn({}, message),
    });
    const signals = new StopSignals(context.processEvents);
    const stopReporting = reportUncaughtToolErrors(
      context.processEvents,
      (line) => log.error({}, line),
      mask,
    );
    const stopLoggingWarnings = logWarnings(log, context);
    const config = lowerTenantShare(configured, modules.countTenants(keys ?? []), log);
    const processes = startProcesses(modules, config, context);
    const endRests = modules.eventLoopScheduler.allowRests();
    const serverContext = { ...context, atEnd: processes.atEnd };
    const parts = new reloading.ReloadedParts(serverContext, this);
    const networksOf = parts.networksOf(modules, keys ?? []);
    const setup: ServerSetup = { modules, networksOf, config, log, context: serverContext };
    const tools = new reloading.ServerTools({
      modules,
      config,
      log,
      context: setup.context,
      processes,
      flags: this,
    });
    const models = parts.models(modules, config, log);
    const connected = connections && parts.connections(connections);
    const output = { stdout: stream, env: context.env, log, quiet: this.quiet };
    let stopReloading = (): void => undefined;
    try {
      const server = await modules.startServer({
        ...createServerOptions(setup),
        keys,
        secrets,
        connections: connected?.source,
        models: models.models,
        parseText: (text, tenantId) => processes.texts.parse(text, tenantId),
        auditLines: await openAuditLines(setup, stream),
        // Before the catalog is loaded: a store that another server has open ends the command.
        ...(await openStore(setup, processes.launcher)),
        commands: await openCommands(setup, processes.programs),
        catalog: await tools.load(),
        observer: tracing,
        openReload: (target) =>
          new reloading.Reloader({
            variables: envFile,
            parts: [
              ...(keysFile === undefined ? [] : [parts.keys(modules, keysFile, configured, log, target)]),
              parts.secrets(secrets, ownsEnvironment, values),
              ...(connected === undefined ? [] : [connected.part]),
              parts.tools(tools, target),
              models.part,
              parts.settings(log, (changed) => this.#logLevel(changed)),
            ],
            clock,
            log,
            onReload: target.onReload,
          }),
      });
      await server.reload?.watch(seen);
      stopReloading = onHangup(context.processEvents, () => void server.reload?.reload('signal'));
      printAddress(server, config, output);
      warnAboutUnknownVariables(log, context);
      await Promise.race([printRestored(server, config, output), signals.first]).catch(
        async (error: unknown) => {
          await server.close(0);
          throw error;
        },
      );
      await signals.first;
      printShutdown(server, config, output);
      // Where nothing can be kept, nothing ends.
      const graceMs = server.registry.hasStoreFailed ? 0 : config.shutdownMs;
      const closed = server.close(graceMs).then(() => tracing?.close());
      const status = closed.then(() => endStatus(server, log));
      return await Promise.race([status, signals.second.then(() => EXIT.interrupted)]);
    } finally {
      signals.close();
      stopReloading();
      endRests();
      stopLoggingWarnings();
      stopReporting();
      await processes.closeAll();
      context.processEvents.off('exit', flushLog);
      flushLog();
    }
  }

  #logLevel({ logLevel }: ServerConfig): string {
    return this.quiet && logLevel === 'info' ? 'warn' : logLevel;
  }
}

interface ServerSetup {
  readonly modules: ServerModule;
  /** The private networks that the keys allow their tenants. */
  readonly networksOf: (tenantId: string) => readonly string[];
  readonly config: ServerConfig;
  readonly log: Log;
  readonly context: CliContext;
}

/** Opens the file that keeps runs (D68), and names the one that keeps how far schedules have come. */
async function openStore(
  setup: ServerSetup,
  launcher: Launcher,
): Promise<Pick<ServerOptions, 'store' | 'scheduleFile' | 'backups'>> {
  const { modules, config, context } = setup;
  const { storeFile } = config;
  if (storeFile === undefined) return {};
  const path = resolve(context.cwd, storeFile);
  const store = await modules.SqliteStore.open(path, distFile('store-thread.cjs'));
  const program = distFile('backup-process.cjs');
  const backups = new modules.ServerBackups({ file: path, program, launcher, clock: context.clock });
  return { store, scheduleFile: `${path}.schedules.json`, backups };
}

/** Opens the file, or the stream, that gets the entries of the audit as lines (D95). */
async function openAuditLines(
  { modules, config: { auditLog }, log, context }: ServerSetup,
  stdout: CliContext['stdout'],
): Promise<ServerOptions['auditLines']> {
  if (auditLog === undefined) return undefined;
  const warn = (message: string): void => log.warn({}, message);
  const lines =
    auditLog === '-'
      ? modules.auditLinesTo(stdout, warn)
      : await modules.openAuditFile(resolve(context.cwd, auditLog), warn);
  context.atEnd(() => lines.close());
  return lines;
}

/** Ends the commands that an earlier server has left at work, and lets tasks start those that the operator allows (D88). */
async function openCommands(
  { modules, config, log, context }: ServerSetup,
  programs: ProgramLauncher,
): Promise<CommandAccess> {
  const { commands: allowed, storeFile, tenantShare } = config;
  const folder = storeFile === undefined ? undefined : `${resolve(context.cwd, storeFile)}.commands`;
  if (folder !== undefined) await modules.endLeftCommands(folder, (message) => log.warn({}, message));
  const access = modules.commandAccess({
    allowed,
    advice: COMMANDS_ADVICE,
    programs,
    env: context.env,
    atWork: shareLimit(COMMAND_LIMITS.atWork, tenantShare),
    ...(folder !== undefined && { ledger: modules.ledgerIn(folder) }),
  });
  context.atEnd(() => access.close());
  return access;
}

const PORT = { least: 0, most: 65_535, whole: true, unit: 'a port', example: '8080' } as const;

/** Reads the configuration. Flags override environment variables. */
function readServeConfig(
  { host }: ServeCommand,
  port: number | undefined,
  { env }: CliContext,
): ServerConfig {
  const variables = {
    ...env,
    ...(host !== undefined && { SERVICE_API_HOST: host }),
    ...(port !== undefined && { SERVICE_API_PORT: String(port) }),
  };
  return readServerConfig(variables, getHeapStatistics().heap_size_limit);
}

/** Makes the guaranteed share small enough for all tenants that have a key (D25). */
function lowerTenantShare(config: ServerConfig, tenants: number, log: Log): ServerConfig {
  const tenantShare = lowerShare(config.tenantShare, tenants);
  if (tenantShare === config.tenantShare) return config;
  const percent = formatNumber(tenantShare, 1);
  log.info(
    {},
    `each of the ${tenants} tenants is guaranteed ${percent} % of every limit, so that there is enough for all`,
  );
  return { ...config, tenantShare };
}

function createServerOptions(
  setup: ServerSetup,
): Omit<ServerOptions, 'catalog' | 'keys' | 'models' | 'observer'> {
  const { modules, networksOf, config, log, context } = setup;
  const { fileRoots } = readConfig(context.env);
  const cacheFolder = readCacheFolder(context.env);
  return {
    config,
    log,
    cacheFolder: cacheFolder && resolve(context.cwd, cacheFolder),
    files: modules.serverFileAccess(
      fileRoots.map((root) => resolve(context.cwd, root)),
      readServerWriteRoots(context),
    ),
    network: modules.networkAccess({
      ...readNetworkConfig(context.env),
      allowNetworksOf: networksOf,
      inFlight: shareLimit(FETCH_LIMITS.inFlight, config.tenantShare),
    }),
    clock: context.clock,
    newId: context.newId,
    version: readPackageJson().version,
    statecharts: readStatecharts,
  };
}

function warnAboutUnknownVariables(log: Log, { env }: CliContext): void {
  for (const { name, meant } of unknownVariables(env)) {
    log.warn(
      {},
      `unknown environment variable ${name}${meant === undefined ? '' : `: did you mean ${meant}?`}`,
    );
  }
}

/** Logs how the server has ended, and returns its exit status: whoever supervises it starts it again after a failure. */
function endStatus({ registry: { leftRuns, hasStoreFailed } }: RunningServer, log: Log): ExitStatus {
  if (hasStoreFailed) {
    log.error(
      {},
      'closed after runs could not be kept: those that were accepted go on when the server is started again',
    );
    return EXIT.failed;
  }
  if (leftRuns > 0)
    log.info({ runs: leftRuns }, 'closed; runs that are left go on when the server is started again');
  return EXIT.done;
}

/** Logs warnings of this process, which Node.js would print between the lines of the log. */
function logWarnings(log: Log, { processEvents }: CliContext): () => void {
  const onWarning = (warning: unknown): void => log.warn({}, errorMessage(warning));
  processEvents.removeAllListeners('warning');
  processEvents.on('warning', onWarning);
  return () => processEvents.off('warning', onWarning);
}
