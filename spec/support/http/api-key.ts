import { createHash } from 'node:crypto';
import type { ApiKey, KeyScope } from '../../../lib/http/auth/authenticate.js';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The entry of a key that is its own name, unless the spec gives another secret. */
export function createApiKey(
  name: string,
  tenants: readonly string[] = ['default'],
  scopes: readonly KeyScope[] = ['read', 'run'],
  secret = name,
): ApiKey {
  return { name, sha256: sha256(secret), tenants, scopes };
}
