import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { ToolError } from '../../../../common/errors.js';
import { withoutBrackets } from '../../../../common/requests/network-list.js';
import { joinFirst } from '../../../../common/text.js';

/** How a connection is encrypted: not at all, without a look at the certificate, or with it. */
export type TlsMode = 'disable' | 'require' | 'verify-full';

/** Where a database server is and who asks it, as its URL says, and nothing of the environment or of other files. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly tls: TlsMode;
}

/** How a driver checks the certificate of the server: `pg` by the context, `mysql2` by the list. */
interface CertificateChecks {
  readonly rejectUnauthorized: boolean;
  readonly verifyIdentity: boolean;
  readonly ca?: string[];
  readonly secureContext?: SecureContext;
}

/** @param authorities PEM, trusted beside the built-in ones */
export function certificateChecks(tls: TlsMode, authorities: readonly string[]): CertificateChecks {
  if (tls !== 'verify-full') return { rejectUnauthorized: false, verifyIdentity: false };
  let checks = verified.get(authorities);
  if (checks === undefined) verified.set(authorities, (checks = createChecks(authorities)));
  return checks;
}

/** The same object for all connections: to read all authorities takes 50 ms, which `mysql2` does once for each object, too. */
const verified = new WeakMap<readonly string[], CertificateChecks>();

function createChecks(authorities: readonly string[]): CertificateChecks {
  const checks = { rejectUnauthorized: true, verifyIdentity: true };
  if (authorities.length === 0) return checks;
  const ca = [...rootCertificates, ...authorities];
  return { ...checks, ca, secureContext: createSecureContext({ ca }) };
}

const PARAMETERS = ['sslmode'];
const TLS_MODES: readonly TlsMode[] = ['disable', 'require', 'verify-full'];

/**
 * Reads the URL of a server. Other parameters than `sslmode` are refused: drivers know some that name files or other hosts.
 *
 * @throws ToolError, not retryable
 */
export function readServerAddress(url: string, defaultPort: number): ServerAddress {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  for (const name of searchParams.keys()) {
    if (PARAMETERS.includes(name)) continue;
    throw ToolError.nonRetryable(
      `the url has the parameter "${name.slice(0, 100)}": only ${PARAMETERS.join(', ')} is known`,
    );
  }
  const tls = searchParams.get('sslmode') ?? 'disable';
  const mode = TLS_MODES.find((known) => known === tls);
  if (mode === undefined)
    throw ToolError.nonRetryable(`sslmode of the url must be ${joinFirst(TLS_MODES, TLS_MODES.length)}`);
  const user = decode(username);
  if (user === '')
    throw ToolError.nonRetryable('the url names no user: write user:password@ before the host');
  const host = withoutBrackets(decode(hostname));
  // A path would be that of a socket of this machine.
  if (host.includes('/')) throw ToolError.nonRetryable('the host of the url must be a name or an address');
  return {
    host,
    port: port === '' ? defaultPort : Number(port),
    user,
    password: decode(password),
    database: decode(pathname.slice(1)),
    tls: mode,
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
