import { Agent, type ClientRequest } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { connect, Socket } from 'node:net';
import { connect as connectSecurely, type SecureContext } from 'node:tls';
import { targetOf, withoutBrackets } from './network-list.js';
import type { Outbound, ProxyServer } from './outbound.js';
import { openTunnel, toConnectError } from './tunnel.js';

/** The agent of `node:http` and `node:https` for a URL, for packages that send requests with these. */
export function createNodeAgent(url: URL, outbound: Outbound): Agent {
  const proxy = outbound.proxyFor(url);
  const secureContext = outbound.secureContext();
  const secure = secureContext === undefined ? {} : { secureContext };
  if (url.protocol === 'https:')
    return proxy === undefined
      ? new SecureAgent({ keepAlive: true, ...secure })
      : new TunnelAgent(url, proxy, outbound);
  return proxy === undefined ? new Agent({ keepAlive: true }) : new ForwardAgent(url, proxy, secureContext);
}

type OnSocket = Parameters<Agent['createConnection']>[1];

/** Sends requests with https in tunnels of a proxy. */
class TunnelAgent extends SecureAgent {
  readonly #open: () => Promise<Socket>;
  readonly #secure: { readonly servername: string; readonly secureContext?: SecureContext };

  constructor({ hostname, port }: URL, proxy: ProxyServer, outbound: Outbound) {
    super({ keepAlive: true });
    this.#open = () => openTunnel(proxy, `${hostname}:${port || 443}`, outbound);
    const secureContext = outbound.secureContext();
    this.#secure = { servername: hostname, ...(secureContext && { secureContext }) };
  }

  override createConnection(_: object, onSocket: OnSocket): undefined {
    this.#open().then(
      (socket) => onSocket?.(null, connectSecurely({ ...this.#secure, socket })),
      (error: unknown) => onSocket?.(toConnectError(error), new Socket()),
    );
  }
}

/** The method by which Node.js hands a request to an agent; its types leave it out. */
interface WithRequests {
  addRequest(request: ClientRequest, options: object): void;
}

/** Sends requests with http to a proxy, which is asked for the whole URL. */
class ForwardAgent extends Agent {
  readonly #origin: string;
  readonly #proxy: ProxyServer;
  readonly #secureContext: SecureContext | undefined;

  constructor({ origin }: URL, proxy: ProxyServer, secureContext: SecureContext | undefined) {
    super({ keepAlive: true });
    this.#origin = origin;
    this.#proxy = proxy;
    this.#secureContext = secureContext;
  }

  addRequest(request: ClientRequest, options: object): void {
    request.path = this.#origin + request.path;
    for (const [name, value] of Object.entries(this.#proxy.headers)) request.setHeader(name, value);
    (Agent.prototype as unknown as WithRequests).addRequest.call(this, request, options);
  }

  override createConnection(): Socket {
    const { url } = this.#proxy;
    const host = withoutBrackets(url.hostname);
    const { port } = targetOf(url);
    return url.protocol === 'https:'
      ? connectSecurely({
          host,
          port,
          servername: host,
          ...(this.#secureContext && { secureContext: this.#secureContext }),
        })
      : connect({ host, port });
  }
}
