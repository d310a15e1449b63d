import { Writable } from 'node:stream';
import { readConfig } from '../../common/config/config.js';
import { readPools } from '../../common/config/pool-config.js';
import { errorMessage } from '../../common/errors.js';
import type { Catalog } from '../../tools/catalog.js';
import { EXIT, type ExitStatus } from '../exit-status.js';
import { readEnvFile } from '../input/flags.js';
import { loadCatalog } from '../input/load-definition.js';
import { readMcpConfig } from '../input/mcp.js';
import { PROGRAM, readPackageJson } from '../package-info.js';
import { reportUncaughtToolErrors, StopSignals } from '../input/process-events.js';
import { captureStdout } from '../render/stdout.js';
import { escapeControlCharacters, toSingleLine } from '../render/text.js';
import { CatalogCommand } from '../input/shared-options.js';

const INSTRUCTIONS =
  'Wavetrain runs pipelines: YAML files of tool calls, in waves, with retries and fan-outs. Call "tools" to see what tasks can ' +
  'call, "validate" until a pipeline has no errors, then "run".';

export class McpCommand extends CatalogCommand {
  static override paths = [['mcp']];
  static override usage = CatalogCommand.Usage({
    description: 'offers validate, run, compile, tools and runs to MCP hosts, such as editors and assistants',
    details: `
      A host starts this command and speaks with it on standard input and output. Its tools read files in the working
      directory and in the folders of SERVICE_FILE_ROOTS only. Runs belong to the connection: they are cancelled when the
      host closes it.

      With --mcp, the pipelines of the host may in turn call tools of other MCP servers.
    `,
    examples: [
      ['what a host starts', '$0 mcp'],
      ['with your own tools', '$0 mcp --tools tools.ts'],
    ],
  });

  /** Serves a host until it closes the connection, or a signal comes. */
  override async execute(): Promise<ExitStatus> {
    const { context } = this;
    await readEnvFile(this.envFile, context);
    const mcpFile = this.mcp ?? readConfig(context.env).mcpFile;
    if (mcpFile !== undefined) await readMcpConfig(mcpFile, context);
    const print = (line: string): void => void context.stderr.write(`${PROGRAM}: ${toSingleLine(line)}\n`);
    const stdout = keepWriting(context.stdout);
    const releaseStdout = captureStdout(context.stdout, print);
    const signals = new StopSignals(context.processEvents);
    const stopReporting = reportUncaughtToolErrors(context.processEvents, print);
    const { answerCall, HostRuns, hostTools, serveHost, toListedTool } = await import('../lazy/mcp-host.js');
    const runs = new HostRuns(context);
    const served = hostTools(context, runs, this.#catalogOnDemand(print));
    const reportBug = (error: unknown): void =>
      void context.stderr.write(`${PROGRAM}: ${escapeControlCharacters(describeBug(error))}\n`);
    const server = serveHost({
      name: PROGRAM,
      version: readPackageJson().version,
      instructions: INSTRUCTIONS,
      tools: served.map(toListedTool),
      call: (name, args, call) => answerCall(served, name, args, call, reportBug),
      stdin: context.stdin,
      stdout,
      warn: print,
    });
    try {
      return await Promise.race([
        server.closed.then(() => EXIT.done),
        signals.first.then(() => EXIT.interrupted),
      ]);
    } finally {
      await runs.close();
      await server.close();
      signals.close();
      stopReporting();
      releaseStdout();
    }
  }

  /** Loads the tools with the first call that needs them: a host lists what there is as soon as it starts. */
  #catalogOnDemand(warn: (message: string) => void): () => Promise<Catalog> {
    let catalog: Promise<Catalog> | undefined;
    return () => {
      const { context, tools, mcp } = this;
      if (catalog !== undefined) return catalog;
      const choice = { file: mcp, isOptional: true, warn };
      const loading = loadCatalog(tools, readConfig(context.env), context, choice).then((loaded) => {
        return loaded.withPools(readPools(context.env)?.keys() ?? []);
      });
      catalog = loading;
      loading.catch(() => {
        catalog = undefined;
      });
      return loading;
    };
  }
}

/** Keeps the answers on standard output, although what tools print goes elsewhere. */
function keepWriting(stdout: Writable): Writable {
  const write = stdout.write.bind(stdout);
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void write(chunk, (error) => done(error ?? null)),
  });
}

/** Nobody sees the stack of a bug otherwise: the host receives its message alone. */
function describeBug(error: unknown): string {
  const stack = error instanceof Error ? error.stack : undefined;
  return `internal error, a bug in Wavetrain: ${stack ?? errorMessage(error)}`;
}
