import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { readConfig, readServerConfig, type ServerConfig, VARIABLES } from '../../common/config.js';
import { nearest } from '../../definition/suggest.js';
import type { OpenServer } from '../../http/server.js';
import type { Log } from '../../http/services.js';
import type { ServerSettings } from '../../http/server-options.js';
import type { Catalog } from '../../tools/catalog.js';
import { type CliContext, EndSignals } from '../context.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile, readNumber } from '../input/flags.js';
import { openToolbox } from '../input/load-definition.js';
import { builtFile, packageFacts, PROGRAM } from '../package-info.js';
import { styleOf, terminalOf } from '../render/terminal.js';
import { tellStrays } from '../render/tool-output.js';
import { ENV_FILE_OPTION, TOOLS_OPTION } from './shared-options.js';

export class ServeCommand extends Command<CliContext> {
  static override paths = [['serve']];
  static override usage = Command.Usage({
    description: 'serves the HTTP API and its documentation',
    details: `
      Listens on 127.0.0.1:8000 unless told otherwise, and tells where the documentation is. Other machines are let
      in only with keys (SERVICE_API_KEYS_FILE). Every request is told in a line on standard output: for people on a
      terminal, as JSON anywhere else.

      Ctrl-C or SIGTERM shuts down: no run is taken any more, those at work have SERVICE_SHUTDOWN_SECONDS to finish,
      then their tools are told to stop. A second Ctrl-C ends at once. Runs are kept in memory and end with the server.
    `,
    examples: [
      ['on the usual port', '$0 serve'],
      ['on another port', '$0 serve --port 8080'],
      ['with tools of your own', '$0 serve --tools tools.ts'],
      ['reached from other machines', 'SERVICE_API_KEYS_FILE=keys.yaml $0 serve --host 0.0.0.0'],
    ],
  });

  host = Option.String('--host', {
    description: '<ADDRESS> address to listen on, over SERVICE_API_HOST; default 127.0.0.1',
  });
  port = Option.String('--port', {
    description: '<N> port to listen on, over SERVICE_API_PORT; 0 takes any that is free; default 8000',
  });
  tools = Option.Array('--tools', { description: TOOLS_OPTION });
  envFile = Option.String('--env-file', { description: ENV_FILE_OPTION });
  quiet = Option.Boolean('--quiet', false, { description: 'log warnings and errors only' });

  override execute(): Promise<number> {
    return serve(this, this.context);
  }
}

interface ServeFlags {
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
