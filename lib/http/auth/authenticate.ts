import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ANONYMOUS, type Caller } from './caller.js';
import { ALL_TENANTS, type ApiKey } from './keys-file.js';

/** Returns the caller of a request, or undefined when the request carries no valid key (D37). */
export type Authenticate = (headers: RequestHeaders) => Caller | undefined;

type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** @param keys without keys every caller is {@link ANONYMOUS} */
export function createAuthenticator(keys: readonly ApiKey[] | undefined): Authenticate {
  if (keys === undefined) return () => ANONYMOUS;
  const entries = keys.map((key) => ({ digest: Buffer.from(key.sha256, 'hex'), caller: toCaller(key) }));
  return (headers) => {
    const key = readKey(headers);
    if (key === undefined) return undefined;
    // Node.js decodes headers as latin1: one character per byte.
    const digest = createHash('sha256').update(key, 'latin1').digest();
    let caller: Caller | undefined;
    // Compares with every key, so that the time taken does not reveal which one matched.
    for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) caller = entry.caller;
    return caller;
  };
}

function toCaller({ name, tenants, scopes }: ApiKey): Caller {
  return { name, tenants: tenants.includes(ALL_TENANTS) ? null : tenants, scopes };
}

/** Returns the one key of a request; undefined when there is none, or when two differ, even if both are valid. */
function readKey(headers: RequestHeaders): string | undefined {
  const bearers = listValues(headers['authorization']).flatMap((value) => readBearer(value));
  const [key, ...others] = new Set([...bearers, ...listValues(headers['x-api-key'])]);
  return others.length === 0 && key !== '' ? key : undefined;
}

function listValues(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : [value].flat();
}

/** Ignores other schemes: a proxy may use them. */
function readBearer(value: string): string[] {
  const match = /^bearer(?:$| +(.*)$)/i.exec(value.trim());
  return match === null ? [] : [match[1] ?? ''];
}

/** Explains a response of 401: the request has no key, or none that the keys file lists (D37). */
export function unauthorizedMessage(headers: IncomingHttpHeaders): string {
  const usage = 'Authorization: Bearer KEY, or X-API-Key: KEY';
  const hasKey = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  if (!hasKey) return `no API key was sent: send ${usage}`;
  return `the API key is unknown, or was not sent as ${usage}; the server reads its keys file when it starts`;
}
