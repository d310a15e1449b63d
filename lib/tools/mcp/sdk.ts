import {
  Client,
  type Progress,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { errorCode, errorMessage } from '../../common/errors.js';
import { untilAborted } from '../../common/requests/request-timer.js';
import { HttpTransport } from './transports/http-transport.js';
import type { McpErrorKind, McpSession, OpenSession, SessionOptions } from './session.js';
import { StdioTransport } from './transports/stdio-transport.js';

/** The SDK has a time limit of its own, 60 s; the signals of the callers hold instead. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * Connects to a server with the SDK of the protocol, which knows the wire format. First as protocol versions up to
 * 2025-11-25 do, because some servers end when anything else comes first; a server that refuses that is asked for the
 * later versions.
 */
export const openSdkSession: OpenSession = async (options) => {
  try {
    return await connect(options, 'legacy');
  } catch (error) {
    if (kindOf(error) !== 'refused' || options.signal.aborted) throw error;
    return await connect(options, 'auto');
  }
};

async function connect(options: SessionOptions, mode: 'legacy' | 'auto'): Promise<McpSession> {
  const { config, version, clock, programs, signal, onClose, onListChanged } = options;
  const client = new Client({ name: 'wavetrain', version }, { versionNegotiation: { mode } });
  const transport =
    config.kind === 'stdio'
      ? new StdioTransport(config, clock, options, programs)
      : new HttpTransport(config, options);
  Object.assign(client, { onclose: onClose });
  client.setNotificationHandler('notifications/tools/list_changed', onListChanged);
  try {
    await untilAborted(client.connect(transport, { signal, timeout: NO_TIMEOUT }), signal);
  } catch (error) {
    await transport.close();
    throw toMcpError(error);
  }
  return toSession(client, transport);
}

function toSession(client: Client, transport: Transport): McpSession {
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  return {
    serverVersion: `${name} ${version}`,
    async listTools(cursor, { signal }) {
      const params = cursor === undefined ? {} : { cursor };
      // Not `client.listTools`: it compiles the schemas of outputs, which come from anybody.
      const page = await guard(
        client.request({ method: 'tools/list', params }, { signal, timeout: NO_TIMEOUT }),
      );
      return { tools: page.tools, nextCursor: page.nextCursor };
    },
    callTool(tool, args, { signal, onProgress }) {
      const onprogress = ({ message }: Progress): void => onProgress?.(message);
      return guard(
        client.callTool(
          { name: tool, arguments: args },
          { signal, timeout: NO_TIMEOUT, ...(onProgress && { onprogress }) },
        ),
      );
    },
    async close() {
      if (transport instanceof StreamableHTTPClientTransport) await endHttpSession(transport);
      await client.close();
    },
  };
}

/** Ends the session on the server, which would forget it anyway, sooner or later. */
async function endHttpSession(transport: StreamableHTTPClientTransport): Promise<void> {
  await Promise.race([
    transport.terminateSession().catch(() => undefined),
    new Promise((resolve) => {
      AbortSignal.timeout(1000).addEventListener('abort', resolve);
    }),
  ]);
}

async function guard<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    throw toMcpError(error);
  }
}

/** Gives an error the `kind` by which others know it: this file is bundled apart, with classes of its own. */
function toMcpError(error: unknown): Error {
  return Object.assign(new Error(errorMessage(error).replace(/^MCP error -?\d+: /, ''), { cause: error }), {
    kind: kindOf(error),
    ...(['ENOENT', 'EACCES'].includes(errorCode(error) ?? '') && { code: errorCode(error) }),
  });
}

function kindOf(error: unknown): McpErrorKind {
  if (typeof error === 'object' && error !== null && 'kind' in error) return error.kind as McpErrorKind;
  if (error instanceof ProtocolError) return 'refused';
  // Node.js says so of a text that is written to a program that has ended.
  if (errorCode(error) === 'EPIPE') return 'closed';
  const isGone =
    error instanceof SdkError &&
    [SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected, SdkErrorCode.SendFailed].includes(error.code);
  return isGone ? 'closed' : 'other';
}
