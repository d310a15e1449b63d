import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { readConfig, readServerConfig, type ServerConfig, VARIABLES } from '../../common/config.js';
import { nearest } from '../../definition/suggest.js';
import type { OpenServer } from '../../http/server.js';
import type { Log } from '../../http/services.js';
import type { ServerSettings } from '../../http/settings.js';
import type { Catalog } from '../../tools/catalog.js';
import type { CliContext } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../flags/env-file.js';
import { readNumber } from '../flags/numbers.js';
import { builtFile, packageFacts, PROGRAM } from '../program.js';
import { tellStrays } from '../run/strays.js';
import { styleOf } from '../style.js';
import { terminalOf } from '../terminal.js';
import { openToolbox } from '../toolbox.js';
import { EndSignals } from './end-signals.js';

export interface ServeFlags {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly tools?: string[] | undefined;
  readonly envFile?: string | undefined;
  readonly quiet: boolean;
}

type Parts = Awaited<ReturnType<CliContext['services']['server']>>;
type Expressions = InstanceType<Parts['ExpressionProcesses']>;

/** Serves the API until a signal ends it (D43). Answers `interrupted` when a second one cut it short. */
export async function serve(flags: ServeFlags, context: CliContext): Promise<ExitStatus> {
  const port = readNumber('--port', flags.port, PORT);
  await readEnvFile(flags.envFile, context);
  const config = configOf(flags, port, context);
  const parts = await context.services.server();
  const log = openLog(parts, config, context);
  const tracing = await parts.openTracing(context.env, {
    clock: context.clock,
    warn: (message) => log.warn({}, message),
  });
  const signals = new EndSignals(context.processEvents);
  const silence = tellStrays(context.processEvents, (line) => log.error({}, line));
  const expressions = openExpressions(parts, context);
  try {
    const server = await parts.openServer({
      ...(await settingsOf(parts, config, flags, context)),
      catalog: await catalogOf(expressions, parts, flags, context),
      log,
      watcher: tracing,
    });
    greet(server, log, flags, context);
    warnOfStrangers(log, context);
    await signals.first;
    tellShutdown(server, config, log, context);
    const ended = server.close(config.shutdownMs).then(() => tracing?.close());
    return await Promise.race([ended.then(() => EXIT.done), signals.second.then(() => EXIT.interrupted)]);
  } finally {
    signals.close();
    silence();
    await expressions.close();
  }
}

const PORT = { least: 0, most: 65_535, whole: true, unit: 'a port', example: '8080' } as const;

/** Flags win over variables. */
function configOf({ host, quiet }: ServeFlags, port: number | undefined, { env }: CliContext): ServerConfig {
  const config = readServerConfig({
    ...env,
    ...(host !== undefined && { SERVICE_API_HOST: host }),
    ...(port !== undefined && { SERVICE_API_PORT: String(port) }),
  });
  return quiet && config.logLevel === 'info' ? { ...config, logLevel: 'warn' } : config;
}

function openLog(parts: Parts, { logLevel }: ServerConfig, { stdout, env, clock }: CliContext): Log {
  const { interactive, colours } = terminalOf(stdout, env);
  return parts.openLog({ stream: stdout, interactive, colours, level: logLevel, clock });
}

async function settingsOf(
  parts: Parts,
  config: ServerConfig,
  flags: ServeFlags,
  context: CliContext,
): Promise<Omit<ServerSettings, 'catalog' | 'log' | 'watcher'>> {
  const general = readConfig(context.env);
  const roots = general.fileRoots.map((root) => resolve(context.cwd, root));
  return {
    config,
    files: parts.fileAccess(roots),
    keys:
      config.keysFile === undefined ? undefined : await parts.readKeys(resolve(context.cwd, config.keysFile)),
    clock: context.clock,
    newId: context.newId,
    version: packageFacts().version,
  };
}

/** Expressions come from callers here, so they are evaluated in processes of their own. */
async function catalogOf(
  expressions: Expressions,
  { transformWith }: Parts,
  { tools }: ServeFlags,
  context: CliContext,
): Promise<Catalog> {
  const catalog = await openToolbox(tools, readConfig(context.env), context);
  return catalog.replacing(
    transformWith((source, input, bindings) => expressions.evaluate(source, input, bindings)),
  );
}

/** Each that was asked once stays and takes some 50 MB; more of them than this would be idle most of the time. */
const MOST_PROCESSES = 8;

function openExpressions({ ExpressionProcesses }: Parts, { clock }: CliContext): Expressions {
  const most = Math.min(Math.max(1, availableParallelism() - 1), MOST_PROCESSES);
  return new ExpressionProcesses(builtFile('expression-process.cjs'), most, clock);
}

/** A misspelt variable changes nothing, and nothing else would say so. */
function warnOfStrangers(log: Log, { env }: CliContext): void {
  const known = VARIABLES.map(({ name }) => name);
  for (const name of Object.keys(env)) {
    if (!name.startsWith('SERVICE_') || known.includes(name)) continue;
    const meant = nearest(name, known);
    log.warn({}, `the variable ${name} is not known${meant === undefined ? '' : `: is ${meant} meant?`}`);
  }
}

/** Says where the server is: in words on a terminal, else in a line of the log. */
function greet({ url }: OpenServer, log: Log, { quiet }: ServeFlags, { stdout, env }: CliContext): void {
  const terminal = terminalOf(stdout, env);
  const docs = `${url}/docs`;
  if (!terminal.interactive) return log.info({ url, docs }, 'listening');
  if (quiet) return;
  const { bold, cyan, dim } = styleOf(terminal);
  stdout.write(
    [
      `${bold(PROGRAM)} listens on ${cyan(url)}`,
      `  documentation  ${cyan(docs)}`,
      `  ${dim('Ctrl-C shuts down; runs are kept in memory and end with the server')}`,
      '',
      '',
    ].join('\n'),
  );
}

function tellShutdown(
  { registry: { load } }: OpenServer,
  { shutdownMs }: ServerConfig,
  log: Log,
  { stdout, env }: CliContext,
): void {
  if (!terminalOf(stdout, env).interactive)
    return log.info({ ...load, grace_ms: shutdownMs }, 'shutting down');
  const runs = load.running === 1 ? '1 run has' : `${load.running} runs have`;
  const wait =
    load.running === 0 ? '' : `: ${runs} ${shutdownMs / 1000} s to settle; Ctrl-C again ends at once`;
  stdout.write(`\nshutting down${wait}\n`);
}
