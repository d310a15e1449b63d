import { findSecretProblem } from './encodings.js';
import { Masker } from './masker.js';
import type { SecretSource } from './run-secrets.js';

/**
 * A source that knows which values it has given away, to mask them in what no run prints: lines that tools write to the
 * console, errors that they throw outside of their tasks, and the log of a server (D61).
 */
export class UsedSecrets implements SecretSource {
  readonly #source: SecretSource;
  readonly #used = new Set<string>();
  /** Undefined until something is to be masked, and after every further value. */
  #masker: Masker | undefined;

  constructor(source: SecretSource) {
    this.#source = source;
  }

  find(tenantId: string, name: string): string | undefined {
    const value = this.#source.find(tenantId, name);
    if (value === undefined || this.#used.has(value) || findSecretProblem(value) !== undefined) return value;
    this.#used.add(value);
    this.#masker = undefined;
    return value;
  }

  explain(tenantId: string, name: string): string {
    return this.#source.explain?.(tenantId, name) ?? `set SECRET_${name} in the environment`;
  }

  /** Replaces all values that any run has used. */
  readonly mask = (text: string): string => {
    if (this.#used.size === 0) return text;
    this.#masker ??= new Masker(this.#used);
    return this.#masker.mask(text);
  };
}
