import { isIP } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { NetworkList, targetOf, withoutBrackets } from './network-list.js';

/** How requests leave this network. */
export interface OutboundSettings {
  /** The proxies for http and for https, such as `http://user:password@proxy.corp:3128`. */
  readonly httpProxy?: URL | undefined;
  readonly httpsProxy?: URL | undefined;
  /** Hosts, addresses and networks that are reached without a proxy; a host stands for the names below it, too. */
  readonly noProxy?: readonly string[];
  /** Certificates, as PEM, of authorities that are trusted beside the built-in ones. */
  readonly authorities?: readonly string[];
}

/** A proxy, and the header that it wants. */
export interface ProxyServer {
  /** With the scheme `http:` or `https:`, and without user and password. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The certificate by which a client proves who it is: PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Says by which proxy a URL is reached, and which certificates of servers are trusted. */
export class Outbound {
  readonly #http: ProxyServer | undefined;
  readonly #https: ProxyServer | undefined;
  /** Certificates, as PEM, of authorities that are trusted beside the built-in ones. */
  readonly authorities: readonly string[];
  /** Undefined when everything is reached without a proxy. */
  readonly #direct: NetworkList | undefined;
  #context: SecureContext | undefined;

  constructor({ httpProxy, httpsProxy, noProxy = [], authorities = [] }: OutboundSettings = {}) {
    this.#http = httpProxy && toProxy(httpProxy);
    this.#https = httpsProxy && toProxy(httpsProxy);
    this.authorities = authorities;
    this.#direct = noProxy.includes('*') ? undefined : parseNoProxy(noProxy);
  }

  /** This machine is never reached by a proxy. */
  proxyFor(url: URL): ProxyServer | undefined {
    const proxy = url.protocol === 'https:' ? this.#https : this.#http;
    if (proxy === undefined || this.#direct === undefined) return undefined;
    const address = withoutBrackets(url.hostname);
    const target = targetOf(url);
    const isDirect = [THIS_MACHINE, this.#direct].some((list) =>
      list.includes(target, isIP(address) === 0 ? undefined : address),
    );
    return isDirect ? undefined : proxy;
  }

  /**
   * Creates what a TLS connection trusts, and shows; undefined for the defaults of Node.js.
   *
   * @throws Error for a certificate or a key that cannot be read
   */
  secureContext(client?: ClientCertificate): SecureContext | undefined {
    if (client !== undefined) return this.#trust(createSecureContext(client));
    if (this.authorities.length === 0) return undefined;
    this.#context ??= this.#trust(createSecureContext());
    return this.#context;
  }

  /** Certificates that `createSecureContext` is given take the place of the built-in ones; these are added to them. */
  #trust(secure: SecureContext): SecureContext {
    const { context }: { context: { addCACert(pem: string): void } } = secure;
    for (const authority of this.authorities) context.addCACert(authority);
    return secure;
  }
}

const THIS_MACHINE = NetworkList.parse(['localhost', '*.localhost', '127.0.0.0/8', '::1']);

function toProxy(address: URL): ProxyServer {
  const { username, password } = address;
  const url = new URL(address.origin);
  if (username === '' && password === '') return { url, headers: {} };
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { url, headers: { 'proxy-authorization': `Basic ${Buffer.from(user).toString('base64')}` } };
}

/** Lists of other programs have entries that mean nothing here: these are left out. */
function parseNoProxy(entries: readonly string[]): NetworkList {
  const known = entries
    .filter((entry) => entry.toLowerCase() !== 'all')
    .flatMap((entry) => [entry, `.${entry}`])
    .filter(canParse);
  return NetworkList.parse(known);
}

function canParse(entry: string): boolean {
  try {
    NetworkList.parse([entry]);
    return true;
  } catch {
    return false;
  }
}
