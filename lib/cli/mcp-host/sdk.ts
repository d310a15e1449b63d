import type { Readable, Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { HostAnswer, HostCall, ListedTool } from './served-tool.js';

/** A longer name of a host is cut. */
const MAX_NAME_LENGTH = 128;

/** Maximum size of one message of the host: a definition, with its values. */
const MAX_MESSAGE_BYTES = 16 * 2 ** 20;

export interface HostServerOptions {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly ListedTool[];
  /** Answers a call of one of the tools. Must not reject. */
  readonly call: (name: string, args: unknown, call: HostCall) => Promise<HostAnswer>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Receives what is wrong with single messages. */
  readonly warn: (message: string) => void;
}

export interface HostServer {
  /** Resolves when the host has closed the connection. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export function serveHost(options: HostServerOptions): HostServer {
  const { stdin, stdout, warn } = options;
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const handle = serveStdio(() => createServer(options), {
    transport,
    onerror: ({ message }) => warn(message),
  });
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
  });
  return { closed, close: () => handle.close() };
}

function createServer({ name, version, instructions, tools, call }: HostServerOptions): Server {
  const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler('tools/list', () => ({
    tools: tools.map(({ readOnly, openWorld, ...tool }) => ({
      ...tool,
      annotations: { readOnlyHint: readOnly, destructiveHint: !readOnly, openWorldHint: openWorld },
    })),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const { _meta: meta } = mcpReq;
    const token = meta?.progressToken;
    const report: HostCall['report'] =
      token === undefined
        ? undefined
        : (progress, total, message) => {
            const notified = mcpReq.notify({
              method: 'notifications/progress',
              params: { progressToken: token, progress, total, message },
            });
            // A host that is gone ends the call by its signal.
            notified.catch(() => undefined);
          };
    const answer = await call(params.name, params.arguments ?? {}, {
      signal: mcpReq.signal,
      report,
      host: server.getClientVersion()?.name.slice(0, MAX_NAME_LENGTH) ?? null,
    });
    const { value, isError = false } = answer;
    return {
      content: [{ type: 'text', text: JSON.stringify(value) }],
      structuredContent: value,
      isError,
    };
  });
  return server;
}
