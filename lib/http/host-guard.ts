import { isIP } from 'node:net';
import { WavetrainError } from '../common/errors.js';
import type { ServerConfig } from '../common/config.js';
import { type Authority, authorityOf, isAddress, readAuthority } from './authority.js';
import type { Guard } from './guard.js';
import { isLoopback } from './loopback.js';

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
