import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticate } from '../services.js';
import { ANYONE, type Caller, type Key } from './caller.js';
import { EVERY_TENANT } from './keys-file.js';

type Headers = Parameters<Authenticate>[0];

/** Finds out who asks (D37). Without keys everybody may. */
export function authenticatorOf(keys: readonly Key[] | undefined): Authenticate {
  if (keys === undefined) return () => ANYONE;
  const known = keys.map((key) => ({ digest: Buffer.from(key.sha256, 'hex'), caller: callerOf(key) }));
  return (headers) => {
    const sent = keyIn(headers);
    if (sent === undefined) return undefined;
    const digest = digestOf(sent);
    let caller: Caller | undefined;
    // All are compared, so that the time tells nothing of which one it was.
    for (const key of known) if (timingSafeEqual(key.digest, digest)) caller = key.caller;
    return caller;
  };
}

function callerOf({ name, tenants, scopes }: Key): Caller {
  return { name, tenants: tenants.includes(EVERY_TENANT) ? null : tenants, scopes };
}

/** The one key of a request. Who sends two that differ is not known, whichever of them is. */
function keyIn(headers: Headers): string | undefined {
  const bearers = valuesOf(headers['authorization']).flatMap((value) => bearerIn(value));
  const [key, ...others] = new Set([...bearers, ...valuesOf(headers['x-api-key'])]);
  return others.length === 0 && key !== '' ? key : undefined;
}

function valuesOf(value: string | string[] | undefined): readonly string[] {
  return value === undefined ? [] : [value].flat();
}

/** Another scheme is somebody else's business: a proxy's, say. */
function bearerIn(value: string): string[] {
  const [, key] = /^bearer(?:$| +(.*)$)/i.exec(value.trim()) ?? [];
  return /^bearer(?:$| )/i.test(value.trim()) ? [key ?? ''] : [];
}

/** Headers come with one character for each byte. */
function digestOf(key: string): Buffer {
  return createHash('sha256').update(key, 'latin1').digest();
}

/** Why a caller is not known: nothing came, or nothing that is on the list (D37). */
export function whyUnknown(headers: IncomingHttpHeaders): string {
  const how = 'Authorization: Bearer KEY, or X-API-Key: KEY';
  const isSent = headers.authorization !== undefined || headers['x-api-key'] !== undefined;
  if (!isSent) return `no key was sent: send ${how}`;
  return `the key that was sent is not known, or not sent as ${how}; the file of keys is read when the server starts`;
}
