import { type Clock, systemClock } from '../../../lib/common/clock.js';
import { type Environment } from '../../../lib/common/config/environment.js';
import { readServerConfig } from '../../../lib/common/config/server-config.js';
import type { ApiKey } from '../../../lib/http/auth/authenticate.js';
import { startServer } from '../../../lib/http/server.js';
import type { RunningServer, RunObserver, ServerOptions } from '../../../lib/http/server-options.js';
import { builtinCatalog } from '../../../lib/tools/catalog.js';
import { serverFileAccess } from '../../../lib/tools/files/file-access.js';
import type { Tool } from '../../../lib/tools/tool.js';

export interface TestServerOptions {
  readonly env?: Environment;
  readonly tools?: readonly Tool[];
  readonly keys?: readonly ApiKey[];
  readonly clock?: Clock;
  readonly observer?: RunObserver;
  readonly parseText?: ServerOptions['parseText'];
  readonly secrets?: ServerOptions['secrets'];
  readonly models?: ServerOptions['models'];
  readonly store?: ServerOptions['store'];
  readonly backups?: ServerOptions['backups'];
  readonly openReload?: ServerOptions['openReload'];
  readonly auditLines?: ServerOptions['auditLines'];
}

/** A line of the server's log. */
export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly facts: Record<string, unknown>;
  readonly message: string;
}

/** A server on a free port, and its log. */
export interface TestServer extends RunningServer {
  readonly log: readonly LogLine[];
  /** Sends a request; an object as body is sent as JSON. */
  request<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<TestResponse<T>>;
}

export interface TestResponse<T> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or the text if it is not JSON; undefined without a body. */
  readonly body: T;
}

/** Starts a server for a spec. Close it with `close(0)`; on a manual clock settle its runs first. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { env = {}, tools = [], keys, clock = systemClock, observer } = options;
  const log: LogLine[] = [];
  const writer = (level: LogLine['level']) => (facts: object, message: string) =>
    void log.push({ level, facts: { ...facts }, message });
  let bugs = 0;
  const server = await startServer({
    config: readServerConfig({ SERVICE_API_PORT: '0', ...env }),
    catalog: builtinCatalog().with(tools),
    files: serverFileAccess([process.cwd()]),
    keys,
    log: {
      debug: writer('debug'),
      info: writer('info'),
      warn: writer('warn'),
      error: writer('error'),
    },
    clock,
    newId: () => `bug-${++bugs}`,
    version: '0.0.0-spec',
    observer,
    parseText: options.parseText,
    secrets: options.secrets,
    models: options.models,
    store: options.store,
    backups: options.backups,
    openReload: options.openReload,
    auditLines: options.auditLines,
    checkResponses: true,
  });
  return {
    ...server,
    log,
    request: (method, path, body, headers) => sendRequest(server.url, method, path, body, headers),
  };
}

async function sendRequest<T>(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<TestResponse<T>> {
  const isText = typeof body === 'string';
  const response = await fetch(url + path, {
    method,
    headers: { ...(body !== undefined && !isText && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: parseBody(await response.text()) as T };
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
