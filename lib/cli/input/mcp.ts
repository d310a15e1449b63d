import { dirname, resolve } from 'node:path';
import { errorMessage } from '../../common/errors.js';
import { joinFirst } from '../../common/text.js';
import type { ProgramLauncher } from '../../common/workers/programs/program-launcher.js';
import type { McpServers } from '../../tools/mcp/servers.js';
import type { McpServerConfig } from '../../tools/mcp/config.js';
import type { Tool } from '../../tools/tool.js';
import type { CliContext } from '../context.js';
import { PROGRAM, readPackageJson } from '../package-info.js';
import { toSingleLine } from '../render/text.js';
import { readText } from './read-file.js';

/** Names the MCP servers that a command needs, and the places where their problems are reported. */
export interface McpChoice {
  /** The file that `--mcp` names; undefined: SERVICE_MCP_FILE. */
  readonly file?: string | undefined;
  /** The definitions of the command: only servers that they name are started. Undefined: all servers. */
  readonly texts?: readonly string[];
  /** True when the command goes on, after a warning, without the tools of a server that cannot be started. */
  readonly isOptional?: boolean;
  /** The servers of a command that has read the file before: those of the same configuration go on. */
  readonly earlier?: McpServers | undefined;
  /** Receives the servers, of which those are started whose tools are needed. */
  readonly onOpen?: (servers: McpServers) => void;
  /** Percentage of the calls in flight to each server that every tenant is guaranteed. */
  readonly tenantShare?: number;
  /** Starts the servers that are programs. Default: this process does. */
  readonly programs?: ProgramLauncher;
  /** Default: prints a line on standard error. */
  readonly warn?: (message: string) => void;
  /** Receives what servers write to standard error. Default: nobody does. */
  readonly onStderr?: (server: string, line: string) => void;
}

/**
 * Starts the MCP servers that a command needs, until it ends, and makes tools of theirs. Rejects as `readMcpConfig`, or with
 * `bad_tool_file` for a server that cannot be started.
 */
export async function openMcpTools(file: string, choice: McpChoice, context: CliContext): Promise<Tool[]> {
  const { clock, stderr, atEnd } = context;
  const { McpServers, openLazily } = await import('../lazy/mcp.js');
  const configs = await readMcpConfig(file, context);
  const print = (message: string): void => void stderr.write(`${PROGRAM}: ${toSingleLine(message)}\n`);
  const { warn = print, onStderr, isOptional = false, programs, tenantShare, texts } = choice;
  const known = configs.map(({ name }) => name);
  for (const name of misspeltServers(texts, known)) {
    print(
      `the MCP configuration ${file} has no server "${name}"; it has ${joinFirst(known, MAX_NAMES) || 'none'}`,
    );
  }
  const servers = new McpServers(
    configs,
    {
      clock,
      version: readPackageJson().version,
      openSession: openLazily,
      warn,
      programs,
      ...(tenantShare !== undefined && { tenantShare }),
      ...(onStderr && { onStderr }),
    },
    choice.earlier,
  );
  choice.onOpen?.(servers);
  atEnd(() => servers.close());
  const onFailure = isOptional ? (error: unknown) => warn(errorMessage(error)) : undefined;
  return await servers.tools(namedServers(texts), onFailure);
}

/**
 * Reads the file with the MCP servers, and starts none of them. Rejects with `unreadable_file`, or with `bad_usage` for a
 * mistake in the file.
 */
export async function readMcpConfig(file: string, context: CliContext): Promise<McpServerConfig[]> {
  const { cwd, env } = context;
  const { parseMcpConfig } = await import('../lazy/mcp.js');
  const text = await readText(file, 'MCP configuration', context);
  return parseMcpConfig(text, { file, folder: dirname(resolve(cwd, file)), env });
}

/** The name of a tool of an MCP server, anywhere in a definition. */
const TOOL_OF_SERVER = /\bmcp\.([A-Za-z0-9_-]+)\./g;

/** The name of a tool of an MCP server as it stands in a task; `mcp.` alone also begins addresses. */
const TASK_OF_SERVER = /\btool['"]?:[ \t]*['"]?mcp\.([A-Za-z0-9_-]+)\./g;

const MAX_NAMES = 20;

/** The servers that tasks name and that there are not. */
function misspeltServers(texts: readonly string[] = [], known: readonly string[]): string[] {
  const named = texts.flatMap((text) => Array.from(text.matchAll(TASK_OF_SERVER), ([, name = '']) => name));
  return [...new Set(named)].filter((name) => !known.includes(name)).slice(0, MAX_NAMES);
}

/** A definition in another file, which is read when the run calls it. */
const CALLS_PIPELINES = /\brun_pipeline\b/;

export function mayNameMcpTools(texts: McpChoice['texts']): boolean {
  return texts === undefined || texts.some((text) => text.includes('mcp.') || CALLS_PIPELINES.test(text));
}

function namedServers(texts: McpChoice['texts']): (server: string) => boolean {
  if (texts === undefined || texts.some((text) => CALLS_PIPELINES.test(text))) return () => true;
  const names = new Set(
    texts.flatMap((text) => Array.from(text.matchAll(TOOL_OF_SERVER), ([, name]) => name)),
  );
  return (server) => names.has(server);
}
