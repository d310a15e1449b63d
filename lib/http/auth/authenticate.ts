import { createHash, timingSafeEqual } from 'node:crypto';
import type { RunQueries } from '../../runs/views/run-queries.js';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ServerConfig } from '../../common/config/server-config.js';
import { WavetrainError } from '../../common/errors.js';
import type { StartedBy } from '../../common/wire/started-by.js';
import { isLoopback } from '../security/browser-guard.js';
import type { Revocation } from './revocation.js';

/**
 * The permissions of an API key: `read` shows runs; `run` starts, cancels, reruns and deletes them; `edit` saves files
 * of the folder of pipelines, those with a new schedule or webhook only with `run` (D72); `metrics` reads the metrics
 * of the whole server; `admin` backs up its store, with the runs of all tenants (D74), and reads its audit (D95).
 */
export type KeyScope = (typeof KEY_SCOPES)[number];

export const KEY_SCOPES = ['read', 'run', 'edit', 'metrics', 'admin'] as const;

/** An entry of the keys file (D37). Only the owner knows the key itself. */
export interface ApiKey {
  /** Appears in the log. */
  readonly name: string;
  /** SHA-256 of the key, in hexadecimal. */
  readonly sha256: string;
  /** Tenants whose runs the key may see and start; {@link ALL_TENANTS} alone means all of them. */
  readonly tenants: readonly string[];
  readonly scopes: readonly KeyScope[];
  /** Private networks, addresses and hosts that runs of these tenants may reach besides those of the server (D51). */
  readonly allow_networks?: readonly string[];
}

export const ALL_TENANTS = '*';

/** Allows only characters that are harmless in logs, queries and headers. */
export const TENANT_ID_PATTERN = '^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$';

const DEFAULT_TENANT = 'default';

/** The sender of a request (D37). */
export interface Caller {
  /** Name of the API key; null when the server has no keys. */
  readonly name: string | null;
  /** Tenants whose runs the caller may see and start; null for all tenants. */
  readonly tenants: readonly string[] | null;
  readonly scopes: readonly KeyScope[];
  /** Ends what waits for the caller when its key is revoked; undefined when it cannot be. */
  readonly revocation?: Revocation;
}

/** The caller of every request when the server has no keys, and others than this machine can reach it. */
export const ANONYMOUS: Caller = {
  name: null,
  tenants: null,
  scopes: KEY_SCOPES.filter((scope) => scope !== 'admin'),
};

/** The caller of every request when the server has no keys, and only this machine can reach it. */
const LOCAL_ANONYMOUS: Caller = { ...ANONYMOUS, scopes: KEY_SCOPES };

/** Names the caller in the record of a run that its request starts (D75). */
export function toStartedBy({ name }: Caller): StartedBy {
  return name === null ? { kind: 'anonymous', name } : { kind: 'key', name };
}

/** Returns the caller of a request, or undefined when the request carries no valid key (D37). */
export type Authenticate = (request: Pick<IncomingMessage, 'headersDistinct'>) => Caller | undefined;

/**
 * @param keys without keys every caller is anonymous
 * @param isLocal true when only this machine can reach the server
 * @param revocationOf of keys that may be revoked. Default: none may
 */
export function createAuthenticator(
  keys: readonly ApiKey[] | undefined,
  isLocal: boolean,
  revocationOf: (key: ApiKey) => Revocation | undefined = () => undefined,
): Authenticate {
  if (keys === undefined) return () => (isLocal ? LOCAL_ANONYMOUS : ANONYMOUS);
  const entries = keys.map((key) => {
    const { name, sha256, tenants, scopes } = key;
    const revocation = revocationOf(key);
    return {
      digest: Buffer.from(sha256, 'hex'),
      caller: {
        name,
        tenants: tenants.includes(ALL_TENANTS) ? null : tenants,
        scopes,
        ...(revocation && { revocation }),
      },
    };
  });
  return (request) => {
    const key = readKey(request.headersDistinct);
    if (key === undefined) return undefined;
    // Node.js decodes headers as latin1: one character per byte.
    const digest = createHash('sha256').update(key, 'latin1').digest();
    let caller: Caller | undefined;
    // Compares with every key, so that the time taken does not reveal which one matched.
    for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) caller = entry.caller;
    return caller;
  };
}

/** The number of tenants that the keys name; 0 when a key may use any. */
export function countTenants(keys: readonly ApiKey[]): number {
  const tenants = new Set(keys.flatMap((key) => key.tenants));
  return tenants.has(ALL_TENANTS) ? 0 : tenants.size;
}

/** Returns what finds the private networks that the keys of a tenant allow its runs: always the same list, until the keys change. */
export function networksOfTenants(keys: readonly ApiKey[]): (tenantId: string) => readonly string[] {
  const own = new Map<string, string[]>();
  for (const { tenants, allow_networks: entries = [] } of keys)
    for (const tenant of tenants) own.set(tenant, [...(own.get(tenant) ?? []), ...entries]);
  const ofAll = own.get(ALL_TENANTS) ?? [];
  const withAll = new Map([...own].map(([tenant, entries]) => [tenant, [...ofAll, ...entries]]));
  return (tenantId) => withAll.get(tenantId) ?? ofAll;
}

/** Returns the one key of a request; undefined when there is none, or when two differ, even if both are valid. */
function readKey(headers: NodeJS.Dict<string | string[]>): string | undefined {
  const bearers = [headers['authorization'] ?? []].flat().flatMap((value) => {
    // Ignores other schemes: a proxy may use them.
    const match = /^bearer(?:$| +(.*)$)/i.exec(value.trim());
    return match === null ? [] : [match[1] ?? ''];
  });
  const [key, ...others] = new Set([...bearers, ...[headers['x-api-key'] ?? []].flat()]);
  return others.length === 0 && key !== '' ? key : undefined;
}

/** Explains a response of 401: the request has no key, or none that the keys file lists (D37). */
export function unauthorizedMessage(headers: IncomingHttpHeaders): string {
  const usage = 'Authorization: Bearer KEY, or X-API-Key: KEY';
  const hasKey = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  if (!hasKey) return `no API key was sent: send ${usage}`;
  return `the API key is unknown, or was not sent as ${usage}; the server reads its keys file again when that changes`;
}

/** Explains a response of 403: the caller lacks the scope of the route (D37). */
export function missingScopeMessage({ name }: Caller, scope: KeyScope): string {
  return name === null
    ? `without keys, nobody has the scope "${scope}" on a server that other machines can reach: start it with a keys file`
    : `this key lacks the scope "${scope}"`;
}

export function canUseTenant({ tenants }: Caller, tenantId: string): boolean {
  return tenants === null || tenants.includes(tenantId);
}

/** The tenants of a list: the requested one if the caller may use it, else all of the caller; undefined for every tenant. */
export function listTenants(caller: Caller, requested: string | undefined): readonly string[] | undefined {
  if (requested === undefined) return caller.tenants ?? undefined;
  return canUseTenant(caller, requested) ? [requested] : [];
}

/**
 * Returns the tenant of a new run: the requested one, else `default`, else the caller's first.
 *
 * @throws WavetrainError `forbidden` when the caller may not use the requested tenant
 */
export function resolveTenant(caller: Caller, requested?: string): string {
  if (requested === undefined) {
    return canUseTenant(caller, DEFAULT_TENANT) ? DEFAULT_TENANT : (caller.tenants?.[0] ?? DEFAULT_TENANT);
  }
  if (canUseTenant(caller, requested)) return requested;
  throw new WavetrainError('forbidden', `this key may not use tenant "${requested}"`);
}

/**
 * Returns the run id if the caller may see the run. Runs of other tenants are reported as not found (D37).
 *
 * @throws WavetrainError `run_not_found`
 */
export function authorizeRun(queries: RunQueries, caller: Caller, runId: string): string {
  if (canUseTenant(caller, queries.tenantId(runId))) return runId;
  throw new WavetrainError('run_not_found', `there is no run ${runId}`);
}

/**
 * Checks that only callers with a key, or on this machine, can reach the server (D37).
 *
 * @throws WavetrainError `bad_usage`
 */
export function assertAuthenticatedBinding({ host, allowAnonymous }: ServerConfig, hasKeys: boolean): void {
  if (hasKeys || allowAnonymous || isLoopback(host.toLowerCase())) return;
  throw new WavetrainError(
    'bad_usage',
    `listening on ${host} without keys would let anyone on the network run pipelines: create a key with ` +
      '`wavetrain keys new --file keys.yaml` and set SERVICE_API_KEYS_FILE=keys.yaml, ' +
      'or listen on 127.0.0.1; SERVICE_ALLOW_ANONYMOUS=true allows anonymous access',
  );
}
