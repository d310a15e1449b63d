import type { Scope } from './caller.js';

/** A key that callers may use, as the keys file lists it (D37). The key itself is known to its owner alone. */
export interface Key {
  /** Stands in the log. */
  readonly name: string;
  /** Of the key, in hexadecimal. */
  readonly sha256: string;
  /** Whose runs it sees and starts; `*` alone is every tenant. */
  readonly tenants: readonly string[];
  readonly scopes: readonly Scope[];
}
