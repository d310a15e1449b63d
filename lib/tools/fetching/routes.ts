import type { Dispatcher } from 'undici';
import { errorMessage, ToolError } from '../../common/errors.js';
import type { ClientCertificate, Outbound } from '../../common/requests/outbound.js';
import { createConnector, createProxiedAgent, patientOptions } from '../../common/requests/outbound-agent.js';
import { targetOf } from '../../common/requests/network-list.js';
import type { AddressGuard } from './address-guard.js';
import { startGuarded } from './connect.js';

/** The connections to servers, made within the rules of a guard: straight to the server, or by a proxy. */
export class Routes {
  readonly guard: AddressGuard;
  readonly #outbound: Outbound | undefined;
  readonly #client: ClientCertificate | undefined;
  #direct: Promise<Dispatcher> | undefined;
  #proxied: Promise<Dispatcher> | undefined;

  /** @param client shown to servers that ask for one */
  constructor(guard: AddressGuard, outbound: Outbound | undefined, client?: ClientCertificate) {
    this.guard = guard;
    this.#outbound = outbound;
    this.#client = client;
  }

  /** The same rules, for requests that show a certificate, whose connections nobody else uses. Close them. */
  withCertificate(client: ClientCertificate): Routes {
    return new Routes(this.guard, this.#outbound, client);
  }

  /** Finds the host and port of the proxy that answers for a URL; undefined for https, whose answers are those of the server. */
  proxyOf(url: URL): string | undefined {
    return url.protocol === 'http:' ? this.#outbound?.proxyFor(url)?.url.host : undefined;
  }

  /** Finds the connections for a URL. Rejects with a ToolError when no proxy may be asked for it. */
  async to(url: URL): Promise<Dispatcher> {
    if (this.#outbound?.proxyFor(url) === undefined) return await (this.#direct ??= this.#connectDirectly());
    const refusal = await this.guard.refuseProxied(targetOf(url));
    if (refusal !== undefined) throw refusal;
    return await (this.#proxied ??= this.#connectByProxy(this.#outbound));
  }

  /** Ends the connections. The request that could not create some has reported why. */
  async close(): Promise<void> {
    const agents = await Promise.allSettled([this.#direct, this.#proxied]);
    await Promise.all(agents.map(async (agent) => agent.status === 'fulfilled' && agent.value?.destroy()));
  }

  async #connectDirectly(): Promise<Dispatcher> {
    const { Agent } = await import('undici');
    const secure = await this.#withClient(() => createConnector(this.#outbound, this.#options));
    return new Agent(
      patientOptions((options, callback) => {
        const isSecure = options.protocol === 'https:';
        const socket = startGuarded(this.guard, targetOf(options), (error) => {
          if (error !== null) callback(error, null);
          else if (isSecure) secure({ ...options, httpSocket: socket }, callback);
          else callback(null, socket);
        });
      }),
    );
  }

  #connectByProxy(outbound: Outbound): Promise<Dispatcher> {
    return this.#withClient(() => createProxiedAgent(outbound, this.#options));
  }

  /** Requests have their own time limit. */
  get #options() {
    return { connectMs: 0, client: this.#client };
  }

  async #withClient<T>(create: () => Promise<T>): Promise<T> {
    try {
      return await create();
    } catch (cause) {
      if (this.#client === undefined) throw cause;
      const reason = `client_certificate cannot be used: ${errorMessage(cause)}`;
      throw new ToolError(`${reason}; it needs a certificate and its key, each as PEM`, {
        retryable: false,
        cause,
      });
    }
  }
}
