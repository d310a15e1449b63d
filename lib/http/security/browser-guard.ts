import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { ServerConfig } from '../../common/config/server-config.js';
import { WavetrainError } from '../../common/errors.js';
import { ellipsize } from '../../common/text.js';
import { MAX_HEADERS } from './connection-limits.js';

/** Sent with every response: browsers must not guess its type, frame it, cache it or embed it elsewhere (D38). */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The policy of a page: all of it comes from this server, and nothing is inline, unless `sources` say otherwise. */
export function pagePolicy(sources: Readonly<Record<string, string>> = {}): string {
  const directives = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'connect-src': "'self'",
    ...sources,
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  return Object.entries(directives)
    .map((directive) => directive.join(' '))
    .join('; ');
}

/** Node.js joins headers that are sent twice, or drops the second one. */
export function countHeaders(rawHeaders: readonly string[], name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

/** The parts of a request that the guard checks. An absent header is empty. */
export interface GuardedRequest {
  readonly method: string;
  readonly host: string;
  readonly origin: string;
  /** The Sec-Fetch-Site header: how the page that sends the request relates to this server. */
  readonly fetchSite: string;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const ANY_HOST = '*';

/**
 * Protects the server from two attacks by pages of other origins (D38). In DNS rebinding, a host name of the attacker
 * resolves to this server, which the Host header reveals. In CSRF, the page sends a form or runs a script, which the
 * browser marks with the headers Origin and Sec-Fetch-Site. Reading from another origin is allowed: without CORS
 * headers no browser shows the response to the page.
 */
export class BrowserGuard {
  readonly #isAllowedHost: (authority: Authority) => boolean;
  /** The last allowed Host header: most requests repeat it. */
  #lastHost: string | undefined;

  constructor(config: ServerConfig) {
    this.#isAllowedHost = createHostFilter(config);
  }

  /**
   * Checks the headers of a request, as `check` does.
   *
   * @param method as which the request counts
   * @throws WavetrainError `header_too_large` or `invalid_request`, too
   */
  checkHeaders({ headers, rawHeaders }: IncomingMessage, method: string): void {
    if (rawHeaders.length > 2 * MAX_HEADERS) {
      throw new WavetrainError('header_too_large', `the request has more than ${MAX_HEADERS} headers`);
    }
    // A proxy in front of the server may have checked another Host header than is read here.
    if (countHeaders(rawHeaders, 'host') > 1) {
      throw new WavetrainError('invalid_request', 'the request has more than one Host header');
    }
    const { host = '', origin = '', 'sec-fetch-site': fetchSite = '' } = headers;
    this.check({ method, host, origin, fetchSite });
  }

  /**
   * @throws WavetrainError `foreign_host` when the request names another server, `foreign_origin` when a page of another
   * origin sends a request that may change something
   */
  check({ method, host, origin, fetchSite }: GuardedRequest): void {
    if (host !== this.#lastHost) {
      const authority = parseAuthority(host);
      if (authority === undefined || !this.#isAllowedHost(authority)) throw foreignHostError(host);
      this.#lastHost = host;
    }
    if (SAFE_METHODS.has(method)) return;
    if (origin !== '' && !isSameHost(origin, host)) throw foreignOriginError(origin);
    if (fetchSite === 'cross-site') throw foreignOriginError('another site');
  }
}

function createHostFilter({ host, allowedHosts }: ServerConfig): (authority: Authority) => boolean {
  if (allowedHosts.includes(ANY_HOST)) return () => true;
  const allowed = [isIP(host) === 6 ? `[${host}]` : host, ...allowedHosts].flatMap(
    (entry) => parseAuthority(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [],
  );
  // A server on all interfaces has many addresses. They are safe: only a name can be rebound.
  const allowsAddresses = ['0.0.0.0', '::'].includes(allowed[0]?.name ?? '');
  return (authority) =>
    isLoopback(authority.name) ||
    (allowsAddresses && isIP(authority.name) !== 0) ||
    allowed.some(({ name, port }) => name === authority.name && (port === '' || port === authority.port));
}

function isSameHost(origin: string, host: string): boolean {
  if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const server = parseAuthority(host, page.protocol);
  const { name, port } = toAuthority(page);
  return server?.name === name && server.port === port;
}

function foreignHostError(host: string): WavetrainError {
  const reason =
    host === '' ? 'the Host header is missing' : `this server is not "${ellipsize(host, MAX_SHOWN_LENGTH)}"`;
  return new WavetrainError(
    'foreign_host',
    `${reason}: add the names of this server to SERVICE_ALLOWED_HOSTS`,
  );
}

function foreignOriginError(origin: string): WavetrainError {
  return new WavetrainError(
    'foreign_origin',
    `a page of ${ellipsize(origin, MAX_SHOWN_LENGTH)} may not do this: only pages of this server may`,
  );
}

const MAX_SHOWN_LENGTH = 255;

/** The host and port of a URL or a Host header. */
interface Authority {
  /** In lower case, without a final dot; an address in its shortest form, without brackets. */
  readonly name: string;
  /** Empty for the default port of the scheme. */
  readonly port: string;
}

// Excludes characters that a URL would read as the start of credentials, a path, a query or an escape.
const AUTHORITY = /^(?:\[[\da-f:.]+\]|[^\s/\\?#@:%[\]]+)(?::\d{1,5})?$/i;

/** Parses `name`, `name:port`, `1.2.3.4` or `[::1]:port`; returns undefined for anything else. */
function parseAuthority(text: string, scheme = 'http:'): Authority | undefined {
  if (!AUTHORITY.test(text) || !URL.canParse(`${scheme}//${text}/`)) return undefined;
  return toAuthority(new URL(`${scheme}//${text}/`));
}

function toAuthority({ hostname, port }: URL): Authority {
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return { name: unmapIPv4(name), port };
}

/** Converts an IPv4-mapped IPv6 address to IPv4: `::ffff:7f00:1` is 127.0.0.1. */
function unmapIPv4(name: string): string {
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(name) ?? [];
  if (high === undefined || low === undefined) return name;
  return [high, low]
    .map((half) => Number.parseInt(half, 16))
    .flatMap((half) => [half >> 8, half & 0xff])
    .join('.');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Returns true when a host, in lower case and without brackets, is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
