import { createHash } from 'node:crypto';
import type { Key } from './caller.js';

/** Bytes of which a new key is made. */
export const KEY_BYTES = 32;

/** Tells people and secret scanners what it is. */
const PREFIX = 'wt_';

/** A key, and what of it may be kept. */
interface NewKey {
  readonly key: string;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Makes a key of random bytes (D37). */
export function newKey(bytes: Uint8Array): NewKey {
  const key = PREFIX + Buffer.from(bytes).toString('base64url');
  return { key, sha256: createHash('sha256').update(key).digest('hex') };
}

/** The lines of a keys file for one key. JSON within YAML needs no thought about quotes. */
export function keyEntry({ name, sha256, tenants, scopes }: Key): string {
  return [
    `- name: ${JSON.stringify(name)}`,
    `  sha256: ${JSON.stringify(sha256)}`,
    `  tenants: ${listOf(tenants)}`,
    `  scopes: ${listOf(scopes)}`,
    '',
  ].join('\n');
}

function listOf(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(', ')}]`;
}
