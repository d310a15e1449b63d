import { readConfig } from '../../../common/config/config.js';
import type { Environment } from '../../../common/config/environment.js';
import type { ServerConfig } from '../../../common/config/server-config.js';
import type { Log } from '../../../http/logging/log.js';
import { compareNamed, changesOrUndefined } from '../../../http/reload.js';
import type { Catalog } from '../../../tools/catalog.js';
import type { EvaluateExpression } from '../../../tools/expressions/evaluate.js';
import type { McpServers } from '../../../tools/mcp/servers.js';
import type { Tool } from '../../../tools/tool.js';
import type { CliContext } from '../../context.js';
import { loadCatalog } from '../../input/load-definition.js';
import type { ReadPart } from './reloader.js';
import type { ServerModule, ServerProcesses } from './server-processes.js';

export interface ServerToolsOptions {
  readonly modules: ServerModule;
  readonly config: Pick<ServerConfig, 'tenantShare'>;
  readonly log: Log;
  readonly context: CliContext;
  readonly processes: ServerProcesses;
  /** Of the command line. */
  readonly flags: { readonly tools: readonly string[] | undefined; readonly mcp: string | undefined };
}

interface LoadedTools {
  readonly catalog: Catalog;
  /** Undefined when no file names any. */
  readonly mcp: McpServers | undefined;
}

/** The tools of a server: built-in ones, those of files and packages, and those of MCP servers. */
export class ServerTools {
  readonly #options: ServerToolsOptions;
  /** The same ones after each reload, so that reruns reuse what they have made. */
  readonly #variants: readonly Tool[];
  #loaded: LoadedTools | undefined;

  constructor(options: ServerToolsOptions) {
    this.#options = options;
    this.#variants = createVariants(options);
  }

  /** Loads the tools. A server starts without those of an MCP server that cannot be started, after a warning. */
  async load(): Promise<Catalog> {
    const { context } = this.#options;
    this.#loaded = await this.#load(context, true);
    return this.#loaded.catalog;
  }

  /** Loads the tools again. Rejects when one of them cannot be loaded; an MCP server that goes on keeps its tools. */
  async read(env: Environment, useCatalog: (catalog: Catalog) => void): Promise<ReadPart> {
    const { context } = this.#options;
    const openCatalog: CliContext['openCatalog'] = (names, cwd) => context.openCatalog(names, cwd, true);
    const read = await this.#load({ ...context, env, openCatalog }, false);
    return {
      drop: () => read.mcp?.drop(),
      use: () => {
        const before = this.#loaded;
        this.#loaded = read;
        if (read.mcp === undefined) before?.mcp?.retire();
        else read.mcp.retireEarlier();
        const changes = compareNamed(signaturesOf(before?.catalog), signaturesOf(read.catalog));
        const areBuiltin = this.#ownFiles(env).length === 0 && read.mcp === undefined;
        if (areBuiltin && changesOrUndefined(changes) === undefined) return undefined;
        useCatalog(read.catalog);
        return changes;
      },
    };
  }

  #ownFiles(env: Environment): readonly string[] {
    return [...readConfig(env).tools, ...(this.#options.flags.tools ?? [])];
  }

  /** @param isFirst the server starts */
  async #load(context: CliContext, isFirst: boolean): Promise<LoadedTools> {
    const { config, log, processes, flags } = this.#options;
    const { programs } = processes;
    const earlier = this.#loaded?.mcp;
    let mcp: McpServers | undefined;
    try {
      const loaded = await loadCatalog(flags.tools, readConfig(context.env), context, {
        file: flags.mcp,
        isOptional: isFirst,
        earlier,
        onOpen: (servers) => {
          mcp = servers;
        },
        programs,
        tenantShare: config.tenantShare,
        warn: (message) => log.warn({}, message),
        onStderr: (server, line) => log.debug({ server }, line),
      });
      const catalog = this.#variants.reduce((tools, variant) => tools.withVariant(variant), loaded);
      return { catalog, mcp };
    } catch (error) {
      mcp?.drop();
      throw error;
    }
  }
}

/** Built-in tools as a server has them. Expressions come from callers, so separate processes evaluate them. */
function createVariants({ modules, processes }: ServerToolsOptions): readonly Tool[] {
  const { documents, expressions, launcher, databases } = processes;
  const evaluate: EvaluateExpression = (...request) => expressions.evaluate(...request);
  return [
    modules.createIngestDocument((...request) => documents.parse(...request), documents.readLimiter),
    modules.createSqlQuery({ launcher, pool: databases }),
    modules.createTransform(evaluate),
    modules.createAssert(evaluate),
  ];
}

/** Lists the facts of each tool, with the text of its function if it has one. */
function signaturesOf(catalog: Catalog | undefined): ReadonlyMap<string, string> {
  const described = catalog?.metadata() ?? [];
  return new Map(
    described.map((tool) => [tool.name, JSON.stringify([tool, catalog?.get(tool.name)?.version ?? ''])]),
  );
}
