import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { type Clock, systemClock } from '../../common/clock.js';
import { WavetrainError } from '../../common/errors.js';
import { decodeUtf8, describeErrno } from '../../common/files.js';
import type { Tool } from '../tool.js';
import { type McpServerConfig, parseMcpConfig } from './config.js';
import type { OpenSession } from './session.js';
import { McpServers } from './servers.js';

/** A server as MCP hosts configure it: a program to start, or the address of one that speaks streamable HTTP. */
export type McpServerEntry =
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** All that the server sees of the environment, besides PATH and HOME. */
      readonly env?: Readonly<Record<string, string>>;
      /** Default: the folder of the file, or the working directory. */
      readonly cwd?: string;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

export interface OpenMcpServersOptions {
  readonly clock?: Clock;
  /** Percentage of the calls in flight to each server that every tenant is guaranteed. Default 10. */
  readonly tenantShare?: number;
  /** Receives what servers write to standard error, with the values of `env` and `headers` masked. */
  readonly onStderr?: (server: string, line: string) => void;
}

/** MCP servers that were started or connected to, for one or more executors. */
export interface OpenedMcpServers extends AsyncDisposable {
  /** `mcp.<server>.<tool>`, for {@link parsePipeline} or a catalog. */
  readonly tools: readonly Tool[];
  /** Problems of single tools, which are missing, or whose inputs are not checked. */
  readonly warnings: readonly string[];
  /** Ends the servers. Call it when no run calls their tools any more; calls at work fail. */
  close(): Promise<void>;
}

/**
 * Starts MCP servers and makes tools of theirs (D49). Rejects with `unreadable_file`, with `bad_usage` for a mistake in the
 * configuration, and with `bad_tool_file` when a server cannot be started; the others are then ended.
 *
 * @param servers a file of the form `{"mcpServers": {"name": {…}}}`, or what such a file has under `mcpServers`
 * @param variables values of `${VAR}`, and PATH and HOME of the servers: `process.env`, or `{ PATH: '…' }`
 */
export async function openMcpServers(
  servers: string | Readonly<Record<string, McpServerEntry>>,
  variables: Readonly<Record<string, string | undefined>>,
  { clock = systemClock, ...options }: OpenMcpServersOptions = {},
): Promise<OpenedMcpServers> {
  const warnings: string[] = [];
  const opened = new McpServers(await readConfig(servers, variables), {
    ...options,
    clock,
    version: readVersion(),
    openSession: openLazily,
    warn: (message) => void warnings.push(message),
  });
  const close = (): Promise<void> => opened.close();
  try {
    return { tools: await opened.tools(), warnings, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a session with the SDK of the protocol, which is loaded for the first one. */
export const openLazily: OpenSession = async (options) => {
  const { openSdkSession } = await import('./sdk.js');
  return await openSdkSession(options);
};

async function readConfig(
  servers: string | Readonly<Record<string, McpServerEntry>>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<McpServerConfig[]> {
  if (typeof servers !== 'string') {
    const text = JSON.stringify({ mcpServers: servers });
    return parseMcpConfig(text, { file: 'of openMcpServers', folder: resolve('.'), env });
  }
  const path = resolve(servers);
  try {
    const text = decodeUtf8(await readFile(path));
    return parseMcpConfig(text, { file: servers, folder: dirname(path), env });
  } catch (cause) {
    if (cause instanceof WavetrainError) throw cause;
    throw new WavetrainError('unreadable_file', `cannot read "${servers}": ${describeErrno(cause)}`, {
      cause,
    });
  }
}

/** The version of this package, for the servers. */
function readVersion(): string {
  const { version }: { version: string } = createRequire(import.meta.url)('wavetrain/package.json');
  return version;
}
