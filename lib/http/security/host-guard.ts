import { BlockList, isIP } from 'node:net';
import type { ServerConfig } from '../../common/config.js';
import { WavetrainError } from '../../common/errors.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const ANY_HOST = '*';

/**
 * The guard of a server (D38). A page of somebody else reaches a server on loopback in two ways: under a name of its
 * own that it lets point here, which the Host header tells, and with a form or a script, which the browser marks.
 * Reading from another origin is not refused: without leave from us no browser hands the answer to the page.
 */
export function guardFor(config: ServerConfig): Guard {
  const isOurs = hostsOf(config);
  // Most requests name the host that the one before them named.
  let lastOfOurs: string | undefined;
  return {
    check({ method, host, origin, fetchSite }) {
      if (host !== lastOfOurs) {
        const named = readAuthority(host);
        if (named === undefined || !isOurs(named)) throw foreignHost(host);
        lastOfOurs = host;
      }
      if (SAFE_METHODS.has(method)) return;
      if (origin !== '' && !isSameHost(origin, host)) throw foreignOrigin(origin);
      if (fetchSite === 'cross-site') throw foreignOrigin('another site');
    },
  };
}

/** Which hosts a request may name. */
function hostsOf({ host, allowedHosts }: ServerConfig): (named: Authority) => boolean {
  if (allowedHosts.includes(ANY_HOST)) return () => true;
  const listed = [isIP(host) === 6 ? `[${host}]` : host, ...allowedHosts].flatMap(
    (entry) => readAuthority(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [],
  );
  // Only a name can be made to point somewhere else; whoever listens everywhere may be reached by any address.
  const takesAddresses = ['0.0.0.0', '::'].includes(listed[0]?.name ?? '');
  return (named) =>
    isLoopback(named.name) ||
    (takesAddresses && isAddress(named)) ||
    listed.some(({ name, port }) => name === named.name && (port === '' || port === named.port));
}

function isSameHost(origin: string, host: string): boolean {
  if (!/^https?:\/\//i.test(origin) || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const own = readAuthority(host, page.protocol);
  const { name, port } = authorityOf(page);
  return own?.name === name && own.port === port;
}

function foreignHost(host: string): WavetrainError {
  const named = host === '' ? 'the Host header is missing' : `this server is not "${shortened(host)}"`;
  return new WavetrainError(
    'foreign_host',
    `${named}: SERVICE_ALLOWED_HOSTS lists the names under which it is reached`,
  );
}

function foreignOrigin(origin: string): WavetrainError {
  return new WavetrainError(
    'foreign_origin',
    `a page of ${shortened(origin)} may not do this: only pages of this server may`,
  );
}

const LONGEST_SHOWN = 255;

function shortened(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

/** What a browser must not be able to do from somebody else's page (D38). */
export interface Guard {
  /**
   * @throws WavetrainError `foreign_host` when the request names a host that this server is not, `foreign_origin`
   * when a page of another origin asks for more than to read
   */
  check(request: GuardedRequest): void;
}

/** Of a request; each header is empty when there is none. */
export interface GuardedRequest {
  readonly method: string;
  readonly host: string;
  readonly origin: string;
  /** The Sec-Fetch-Site header, by which a browser says where the page came from that asks. */
  readonly fetchSite: string;
}

/** A host as a URL or a Host header names it. */
interface Authority {
  /** In lower case, without a dot at its end; an address in its shortest form, without brackets. */
  readonly name: string;
  /** Empty when it is the usual one of the scheme. */
  readonly port: string;
}

// A URL would take the rest for a user, a path, a query or an escape.
const SHAPE = /^(?:\[[\da-f:.]+\]|[^\s/\\?#@:%[\]]+)(?::\d{1,5})?$/i;

/** Reads `name`, `name:port`, `1.2.3.4` or `[::1]:port`; undefined when it is none of these. */
function readAuthority(text: string, scheme = 'http:'): Authority | undefined {
  if (!SHAPE.test(text) || !URL.canParse(`${scheme}//${text}/`)) return undefined;
  return authorityOf(new URL(`${scheme}//${text}/`));
}

function authorityOf({ hostname, port }: URL): Authority {
  const name = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return { name: unmapped(name), port };
}

function isAddress({ name }: Authority): boolean {
  return isIP(name) !== 0;
}

/** `::ffff:7f00:1` is 127.0.0.1, as IPv6 writes it. */
function unmapped(name: string): string {
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

/** Does a name or an address, in lower case and without brackets, reach this machine alone? */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const family = isIP(host);
  return family !== 0 && LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
