import { createHash } from 'node:crypto';
import { errorMessage } from '../../common/errors.js';
import { estimateBytes, type JsonObject } from '../../common/json/json.js';
import { MCP_LIMITS } from '../../common/limits.js';
import type { Tool } from '../tool.js';
import type { McpServerConfig } from './config.js';
import { type ConnectionOptions, McpConnection } from './connection.js';
import { cutDescription, describeInputs, takesOtherInputs } from './describe-inputs.js';
import { boundSchema } from './input-schema.js';
import { toOutput } from './result.js';
import type { RemoteTool } from './session.js';

export interface McpServersOptions extends ConnectionOptions {
  /** Receives what is wrong with single tools, which are left out, or whose inputs are not checked. */
  readonly warn: (message: string) => void;
}

/** The MCP servers of the operator. None is started before its tools are needed. */
export class McpServers {
  readonly #connections: readonly McpConnection[];
  readonly #options: McpServersOptions;
  /** The servers before a reload; undefined when there were none, and once they have ended. */
  #earlier: McpServers | undefined;
  readonly #tools = new Map<McpConnection, Tool[]>();

  /** @param earlier servers that go on where their configuration is the same */
  constructor(configs: readonly McpServerConfig[], options: McpServersOptions, earlier?: McpServers) {
    this.#connections = configs.map((config) => earlier?.find(config) ?? new McpConnection(config, options));
    this.#options = options;
    this.#earlier = earlier;
  }

  /**
   * Starts the wanted servers and makes tools `mcp.<server>.<tool>` of theirs. Rejects with `bad_tool_file` when one of
   * them cannot be started or does not answer in time.
   *
   * @param isWanted says whether the tools of a server are needed. Default: all
   * @param onFailure receives the error of a server instead, whose tools are then missing
   */
  async tools(
    isWanted: (server: string) => boolean = () => true,
    onFailure?: (error: unknown) => void,
  ): Promise<Tool[]> {
    const wanted = this.#connections.filter(({ name }) => isWanted(name));
    const lists = await Promise.all(
      wanted.map(async (connection) => {
        try {
          const tools = await this.#toolsOf(connection);
          this.#tools.set(connection, tools);
          return tools;
        } catch (error) {
          const earlier = this.#earlier?.keptTools(connection, error);
          if (earlier !== undefined) {
            this.#tools.set(connection, earlier);
            return earlier;
          }
          if (onFailure === undefined) throw error;
          onFailure(error);
          return [];
        }
      }),
    );
    return lists.flat();
  }

  /** Ends the earlier servers that are not among these, each when no run calls its tools any more. */
  retireEarlier(): void {
    this.#earlier?.retire(this.#connections);
    this.#earlier = undefined;
  }

  /** Ends the servers that are new here, which will not be used. */
  drop(): void {
    this.retire(this.#earlier === undefined ? [] : this.#earlier.#connections);
  }

  /** Ends the servers, each when no run calls its tools any more. @param kept but for these */
  retire(kept: readonly McpConnection[] = []): void {
    for (const connection of this.#connections) if (!kept.includes(connection)) connection.retire();
  }

  /** Ends all servers that were started. Resolves when they have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  /** Finds the server of a configuration. */
  find(config: McpServerConfig): McpConnection | undefined {
    return this.#connections.find((connection) => connection.hasConfig(config));
  }

  /** The tools that a server had before, which it cannot list now; undefined for a server that is new. */
  keptTools(connection: McpConnection, error: unknown): Tool[] | undefined {
    if (!this.#connections.includes(connection)) return undefined;
    this.#options.warn(`${errorMessage(error)}; its tools stay as they were`);
    return this.#tools.get(connection) ?? [];
  }

  async #toolsOf(connection: McpConnection): Promise<Tool[]> {
    const { serverVersion, tools: listed, isCut } = await connection.list();
    const warn = (message: string): void => this.#options.warn(`MCP server "${connection.name}": ${message}`);
    if (isCut) warn(`it has more than ${MCP_LIMITS.tools} tools; the others are left out`);
    const tools = new Map<string, Tool>();
    for (const remote of listed) {
      const name = toToolName(connection.name, remote.name);
      const shown = JSON.stringify(cutDescription(remote.name));
      if (name === undefined) warn(`its tool ${shown} is left out: its name is empty or too long`);
      else if (tools.has(name)) warn(`its tool ${shown} is left out: another one is called ${name}`);
      else tools.set(name, createTool(connection, serverVersion, remote, name, warn));
    }
    return [...tools.values()];
  }
}

/** Names of tools are words in YAML files, commands and events. */
function toToolName(server: string, remote: string): string | undefined {
  if (remote.length === 0 || remote.length > MCP_LIMITS.nameLength) return undefined;
  return `mcp.${server}.${remote.replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`;
}

function createTool(
  connection: McpConnection,
  serverVersion: string,
  { name: remoteName, description, inputSchema, outputSchema }: RemoteTool,
  name: string,
  warn: (message: string) => void,
): Tool {
  const bounded = boundSchema(inputSchema);
  if (bounded === undefined) warn(`the inputs of ${name} are not checked here: their schema is too large`);
  const schema: JsonObject = { ...bounded, type: 'object' };
  const returned = outputSchema && boundSchema(outputSchema);
  const openInputs = bounded === undefined || takesOtherInputs(inputSchema, bounded);
  return {
    name,
    description: cutDescription(description ?? ''),
    inputs: describeInputs(schema),
    openInputs,
    inputSchema: openInputs ? schema : { ...schema, additionalProperties: false },
    output: {
      name: 'result',
      description: 'what the MCP server answers',
      type: 'any',
      ...(returned !== undefined && { schema: returned }),
    },
    version: versionOf(serverVersion, remoteName, schema),
    async run(inputs, context) {
      const result = await connection.call(remoteName, inputs, context);
      context.holdMemory(estimateBytes(result));
      return await toOutput(result, name, context.artifacts);
    },
  };
}

/** Returns another version when the server says that it is another: the cache then forgets outputs (D65). */
function versionOf(...parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
