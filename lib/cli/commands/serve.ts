import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { errorMessage } from '../../common/errors.js';
import { readCacheFolder, readConfig, readNetworkConfig, VARIABLES } from '../../common/config/config.js';
import { readServerConfig, type ServerConfig } from '../../common/config/server-config.js';
import { readModelConfig } from '../../common/config/model-config.js';
import { COMMANDS_ADVICE } from '../../common/config/allowed-commands.js';
import { FETCH_LIMITS } from '../../common/limits.js';
import { nearest } from '../../definition/did-you-mean.js';
import type { Launcher } from '../../common/workers/launcher.js';
import type { ProgramLauncher } from '../../common/workers/programs/program-launcher.js';
import { lowerShare, shareLimit } from '../../common/memory/shared-limit.js';
import type { Log } from '../../http/logging/log.js';
import type { RunningServer, ServerOptions } from '../../http/server-options.js';
import type { CommandAccess } from '../../tools/commands/command-access.js';
import { COMMAND_LIMITS } from '../../tools/commands/command.js';
import type { Catalog } from '../../tools/catalog.js';
import type { EvaluateExpression } from '../../tools/expressions/evaluate.js';
import { formatNumber } from '../../common/text.js';
import type { CliContext } from '../context.js';
import { CatalogCommand, textOption, flagOption } from '../input/shared-options.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { openConnections } from '../input/connections.js';
import { readServerWriteRoots } from '../input/write-roots.js';
import { DEFAULT_TENANT, openServerSecrets } from '../input/secrets.js';
import { readEnvFile, readNumber } from '../input/flags.js';
import { loadCatalog } from '../input/load-definition.js';
import { reportUncaughtToolErrors, StopSignals } from '../input/process-events.js';
import { distFile } from '../../common/files.js';
import { readPackageJson, readStatecharts } from '../package-info.js';
import { printAddress, printRestored, printShutdown } from '../render/server-start.js';
import { detectTerminal } from '../render/terminal.js';

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

      The server reads its tool files when it starts. After a change of one, restart it; without SERVICE_STORE, submit its
      runs again.

      Environment variables set limits, such as SERVICE_MEMORY, and the share of each tenant: wavetrain doctor lists
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
    await readEnvFile(this.envFile, context);
    const configured = readServeConfig(this, port, context);
    const modules = await import('../lazy/server.js');
    const { keysFile } = configured;
    const keys =
      keysFile === undefined ? undefined : await modules.readKeysFile(resolve(context.cwd, keysFile));
    const { interactive, colours } = detectTerminal(context.stdout, context.env);
    const { stdout: stream, clock } = context;
    const secrets = await openServerSecrets(context, keys && ((tenantId) => tenantId === DEFAULT_TENANT));
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
    const setup: ServerSetup = { modules, config, log, context: { ...context, atEnd: processes.atEnd } };
    const output = { stdout: stream, env: context.env, log, quiet: this.quiet };
    try {
      const server = await modules.startServer({
        ...createServerOptions(setup),
        keys,
        secrets,
        connections,
        parseText: (text, tenantId) => processes.texts.parse(text, tenantId),
        auditLines: await openAuditLines(setup, stream),
        // Before the catalog is loaded: a store that another server has open ends the command.
        ...(await openStore(setup, processes.launcher)),
        commands: await openCommands(setup, processes.programs),
        catalog: await loadServerCatalog(this, setup, processes),
        observer: tracing,
      });
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
      endRests();
      stopLoggingWarnings();
      stopReporting();
      await processes.closeAll();
      context.processEvents.off('exit', flushLog);
      flushLog();
    }
  }
}

type ServerModule = typeof import('../lazy/server.js');

interface ServerSetup {
  readonly modules: ServerModule;
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
  if (auditLog === '-') return modules.auditLinesTo(stdout);
  const lines = await modules.openAuditFile(resolve(context.cwd, auditLog), (message) =>
    log.warn({}, message),
  );
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

interface ServerProcesses {
  readonly launcher: Launcher;
  readonly documents: InstanceType<ServerModule['DocumentPool']>;
  readonly expressions: InstanceType<ServerModule['ExpressionPool']>;
  readonly texts: InstanceType<ServerModule['TextParser']>;
  /** The connections to databases. */
  readonly databases: InstanceType<ServerModule['SessionPool']>;
  readonly programs: ProgramLauncher;
  /** Does something before what has started the programs ends. */
  readonly atEnd: CliContext['atEnd'];
  readonly closeAll: () => Promise<void>;
}

/**
 * Starts the processes for expressions, texts, documents and programs, with a lower priority than the server, so that they may
 * use every processor; two at least, so that more than one tenant finds a process.
 */
function startProcesses(
  { DocumentPool, ExpressionPool, SessionPool, TextParser, startLauncher }: ServerModule,
  { tenantShare }: ServerConfig,
  { clock }: CliContext,
): ServerProcesses {
  const launcher = startLauncher(distFile('fork-server-process.cjs'));
  const parallelism = Math.max(2, availableParallelism());
  const options = { parallelism, tenantShare, clock, launcher };
  const documents = new DocumentPool({
    ...options,
    file: distFile('document-process.cjs'),
    isolateTenants: true,
  });
  const expressions = new ExpressionPool({ ...options, file: distFile('expression-process.cjs') });
  const texts = TextParser.start({ ...options, file: distFile('parsing-process.cjs') });
  const databases = new SessionPool(tenantShare);
  const endings: (() => Promise<void>)[] = [];
  const closeAll = async (): Promise<void> => {
    const closed = endings.map((close) => close());
    await Promise.all([...closed, documents.close(), expressions.close(), texts.close(), databases.close()]);
    await launcher.close();
  };
  const atEnd: CliContext['atEnd'] = (close) => void endings.push(close);
  const { programs } = launcher;
  return { launcher, documents, expressions, texts, databases, programs, atEnd, closeAll };
}

const PORT = { least: 0, most: 65_535, whole: true, unit: 'a port', example: '8080' } as const;

/** Reads the configuration. Flags override environment variables. */
function readServeConfig(
  { host, quiet }: ServeCommand,
  port: number | undefined,
  { env }: CliContext,
): ServerConfig {
  const variables = {
    ...env,
    ...(host !== undefined && { SERVICE_API_HOST: host }),
    ...(port !== undefined && { SERVICE_API_PORT: String(port) }),
  };
  const config = readServerConfig(variables, getHeapStatistics().heap_size_limit);
  return quiet && config.logLevel === 'info' ? { ...config, logLevel: 'warn' } : config;
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

function createServerOptions(setup: ServerSetup): Omit<ServerOptions, 'catalog' | 'keys' | 'observer'> {
  const { modules, config, log, context } = setup;
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
      inFlight: shareLimit(FETCH_LIMITS.inFlight, config.tenantShare),
    }),
    models: loadModels(setup),
    clock: context.clock,
    newId: context.newId,
    version: readPackageJson().version,
    statecharts: readStatecharts,
  };
}

/** Creates the access to language models, and begins to load their providers. */
function loadModels({ modules, config, log, context }: ServerSetup): NonNullable<ServerOptions['models']> {
  const models = modules.createModels(modules.allowConfiguredModels(readModelConfig(context.env)), {
    folders: [context.cwd],
    tenantShare: config.tenantShare,
    log: (message) => log.warn({}, message),
  });
  void models.preload();
  return models;
}

/** Loads the tools. Expressions come from callers, so tools evaluate them in separate processes. */
async function loadServerCatalog(
  flags: ServeCommand,
  { modules, config, log, context }: ServerSetup,
  { documents, expressions, programs, launcher, databases }: ServerProcesses,
): Promise<Catalog> {
  const { createAssert, createIngestDocument, createSqlQuery, createTransform } = modules;
  const catalog = await loadCatalog(flags.tools, readConfig(context.env), context, {
    file: flags.mcp,
    isOptional: true,
    programs,
    tenantShare: config.tenantShare,
    warn: (message) => log.warn({}, message),
    onStderr: (server, line) => log.debug({ server }, line),
  });
  const evaluate: EvaluateExpression = (...request) => expressions.evaluate(...request);
  const ingest = createIngestDocument((...request) => documents.parse(...request), documents.readLimiter);
  return catalog
    .withVariant(ingest)
    .withVariant(createSqlQuery({ launcher, pool: databases }))
    .withVariant(createTransform(evaluate))
    .withVariant(createAssert(evaluate));
}

/** Warns about misspelt variables, which have no effect and would otherwise go unnoticed. */
function warnAboutUnknownVariables(log: Log, { env }: CliContext): void {
  const names = VARIABLES.map(({ name }) => name);
  for (const name of Object.keys(env)) {
    if (!name.startsWith('SERVICE_') || names.includes(name)) continue;
    const suggestion = nearest(name, names);
    const hint = suggestion === undefined ? '' : `: did you mean ${suggestion}?`;
    log.warn({}, `unknown environment variable ${name}${hint}`);
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
