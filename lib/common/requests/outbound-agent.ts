import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { type ClientCertificate, Outbound, type ProxyServer } from './outbound.js';
import { describeProxyError, openTunnel, toConnectError } from './tunnel.js';

export interface AgentOptions {
  /** Time for connecting, in milliseconds; 0 for none, since the request has its own. */
  readonly connectMs: number;
  /** Time for which an idle connection is kept, in milliseconds. Default: that of undici, 4 s. */
  readonly keepAliveMs?: number;
  /** Shown to servers that ask for one. */
  readonly client?: ClientCertificate | undefined;
}

/** Without proxies, and with the built-in authorities. */
const DIRECT = new Outbound();

type Connect = ReturnType<typeof import('undici')['buildConnector']>;

/** Creates what connects to servers, and trusts what `outbound` trusts. */
export async function createConnector(
  outbound: Outbound | undefined,
  { connectMs, client }: AgentOptions,
): Promise<Connect> {
  const { buildConnector } = await import('undici');
  const secureContext = (outbound ?? DIRECT).secureContext(client);
  return buildConnector({ timeout: connectMs, ...(secureContext && { secureContext }) });
}

/** The options of an agent, whose own time limits run by the wrong clock. @param connect opens its connections */
export function patientOptions(connect: Connect, { keepAliveMs }: Pick<AgentOptions, 'keepAliveMs'> = {}) {
  return {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect,
    ...(keepAliveMs !== undefined && { keepAliveTimeout: keepAliveMs }),
  };
}

/**
 * Creates the agent for requests that go by a proxy: those with https in a tunnel, which hides all but the host, and those
 * with http as requests to the proxy.
 */
export async function createProxiedAgent(outbound: Outbound, options: AgentOptions): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  const connect = await createConnector(outbound, options);
  const { client: _, ...ownOptions } = options;
  const connectProxy = await createConnector(outbound, ownOptions);
  const tunnels = new Agent(
    patientOptions((...call) => void connectInTunnel(outbound, connect, ...call), options),
  );
  const proxies = new Agent(
    patientOptions((target, callback) => {
      const { protocol, host, hostname } = target;
      const url = new URL(`${protocol}//${host ?? hostname}`);
      connectProxy(target, (...[error, socket]) => {
        if (error === null) callback(null, socket);
        else callback(describeProxyError(url, error), null);
      });
    }, options),
  );
  return tunnels.compose((dispatch) => (request, handler) => {
    const url = new URL(String(request.origin));
    const proxy = outbound.proxyFor(url);
    if (proxy === undefined || url.protocol === 'https:') return dispatch(request, handler);
    return proxies.dispatch(forwarded(request, url, proxy), handler);
  });
}

/** Connects to a server in a tunnel of the proxy that is configured for it. */
async function connectInTunnel(
  outbound: Outbound,
  connect: Connect,
  ...[target, callback]: Parameters<Connect>
): Promise<void> {
  const { protocol, hostname, port } = target;
  const proxy = outbound.proxyFor(new URL(`${protocol}//${hostname}:${port || 443}`));
  if (proxy === undefined) return callback(new Error('no proxy is configured for this address'), null);
  let httpSocket: Socket;
  try {
    httpSocket = await openTunnel(proxy, `${hostname}:${port || 443}`, outbound);
  } catch (error) {
    return callback(toConnectError(error), null);
  }
  connect({ ...target, httpSocket }, callback);
}

/** Sends requests by the proxies of `outbound`, and the others as they are. */
export async function withProxies(
  direct: Dispatcher,
  outbound: Outbound,
  options: AgentOptions,
): Promise<Dispatcher> {
  const proxied = await createProxiedAgent(outbound, options);
  return direct.compose((dispatch) => (request, handler) => {
    const isProxied = outbound.proxyFor(new URL(String(request.origin))) !== undefined;
    return isProxied ? proxied.dispatch(request, handler) : dispatch(request, handler);
  });
}

/** A proxy is asked for the whole URL. */
function forwarded(
  request: Dispatcher.DispatchOptions,
  { origin, host }: URL,
  proxy: ProxyServer,
): Dispatcher.DispatchOptions {
  return {
    ...request,
    origin: proxy.url.origin,
    path: origin + request.path,
    headers: { ...toRecord(request.headers), host, ...proxy.headers },
  };
}

type RequestHeaders = Dispatcher.DispatchOptions['headers'];

/** Undici takes headers as names and values in turn, as pairs, or by name. */
function toRecord(headers: RequestHeaders): Record<string, string | string[] | undefined> {
  if (headers === null || headers === undefined) return {};
  if (Array.isArray(headers)) {
    const pairs: [string, string][] = [];
    for (let at = 0; at + 1 < headers.length; at += 2) pairs.push([headers[at] ?? '', headers[at + 1] ?? '']);
    return Object.fromEntries(pairs);
  }
  if (Symbol.iterator in headers) return Object.fromEntries(headers);
  return { ...headers };
}
