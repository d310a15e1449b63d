import { compareNamed, type ReloadChange } from '../reload.js';
import { type ApiKey, type Authenticate, createAuthenticator } from './authenticate.js';
import { Revocation } from './revocation.js';

interface HeldKey {
  readonly key: ApiKey;
  readonly revocation: Revocation;
}

/** The keys of a running server, which others may replace (D37). */
export class KeyRing {
  readonly #isLocal: boolean;
  /** By the digest of the key. */
  #held: ReadonlyMap<string, HeldKey> = new Map();
  #authenticate: Authenticate;

  /** @param keys undefined when requests need no key @param isLocal true when only this machine can reach the server */
  constructor(keys: readonly ApiKey[] | undefined, isLocal: boolean) {
    this.#isLocal = isLocal;
    this.#authenticate = createAuthenticator(keys, isLocal);
    if (keys !== undefined) this.replace(keys);
  }

  readonly authenticate: Authenticate = (request) => this.#authenticate(request);

  /** Accepts these keys from now on, and no others. Ends the streams of keys that are not there any more, or were changed. */
  replace(keys: readonly ApiKey[]): Omit<ReloadChange, 'kind'> {
    const before = this.#held;
    const kept = (key: ApiKey): HeldKey | undefined => {
      const held = before.get(key.sha256);
      return held !== undefined && isSame(held.key, key) ? held : undefined;
    };
    const held = new Map(keys.map((key) => [key.sha256, kept(key) ?? { key, revocation: new Revocation() }]));
    this.#held = held;
    this.#authenticate = createAuthenticator(
      keys,
      this.#isLocal,
      ({ sha256 }) => held.get(sha256)?.revocation,
    );
    for (const [digest, { revocation }] of before) {
      if (held.get(digest)?.revocation !== revocation) revocation.revoke();
    }
    return compareNamed(byName([...before.values()].map(({ key }) => key)), byName(keys), isSame);
  }
}

function isSame(one: ApiKey, other: ApiKey): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Keys by their names, which the log shows: another key of the same name is a changed one. */
function byName(keys: readonly ApiKey[]): ReadonlyMap<string, ApiKey> {
  return new Map(keys.map((key) => [key.name, key]));
}
