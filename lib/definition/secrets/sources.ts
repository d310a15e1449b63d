import { SECRET_NAME } from '../template/reference.js';
import { findSecretProblem } from './encodings.js';
import { Masker } from './masker.js';
import type { SecretSource } from './run-secrets.js';

/** The process that reads the secrets: that which starts a run, or a server, whose environment callers do not see. */
export type SecretPlace = 'here' | 'server';

function adviseMissing(name: string, place: SecretPlace = 'here'): string {
  const advice = `set SECRET_${name} in the environment`;
  return place === 'here' ? advice : `${advice} of the server, and start it again`;
}

/**
 * Creates the source of secrets in the environment (D61). Names that no template can read are not among them.
 *
 * @param variables the values of `SECRET_NAME`, by `NAME`
 * @param isOwner default: whoever runs something in this process, as on the command line
 */
export function environmentSecrets(
  variables: Readonly<Record<string, string>>,
  isOwner: (tenantId: string) => boolean = () => true,
  place: SecretPlace = 'here',
): SecretSource & { readonly names: readonly string[] } {
  const values = new Map(Object.entries(variables).filter(([name]) => SECRET_NAME.test(name)));
  return {
    names: [...values.keys()].sort(),
    find: (tenantId, name) => (isOwner(tenantId) ? values.get(name) : undefined),
    explain: (tenantId, name) =>
      isOwner(tenantId)
        ? adviseMissing(name, place)
        : `the environment's secrets belong to another tenant: add ${name} under "${tenantId}" in the file of SERVICE_SECRETS_FILE`,
  };
}

/**
 * A source that knows which values it has given away, to mask them in what no run prints: lines that tools write to the
 * console, errors that they throw outside of their tasks, and the log of a server (D61).
 */
export class UsedSecrets implements SecretSource {
  #source: SecretSource;
  readonly #used = new Set<string>();
  /** Undefined until something is to be masked, and after every further value. */
  #masker: Masker | undefined;

  constructor(source: SecretSource) {
    this.#source = source;
  }

  /** Gives values of another source from now on. Those that were given away before stay masked. */
  use(source: SecretSource): void {
    this.#source = source;
  }

  find(tenantId: string, name: string): string | undefined {
    const value = this.#source.find(tenantId, name);
    if (value !== undefined) this.onHidden(value);
    return value;
  }

  onHidden(value: string): void {
    if (this.#used.has(value) || findSecretProblem(value) !== undefined) return;
    this.#used.add(value);
    this.#masker = undefined;
  }

  explain(tenantId: string, name: string): string {
    return this.#source.explain?.(tenantId, name) ?? adviseMissing(name);
  }

  /** Replaces all values that any run has used. */
  readonly mask = (text: string): string => {
    if (this.#used.size === 0) return text;
    this.#masker ??= new Masker(this.#used);
    return this.#masker.mask(text);
  };
}

/** A source that has a placeholder for every secret that another one lacks. */
export function withPlaceholders(source: SecretSource | undefined): SecretSource {
  return { find: (tenantId, name) => source?.find(tenantId, name) ?? UNKNOWN_SECRET };
}

const UNKNOWN_SECRET = '\u{f8ff}unknown secret\u{f8ff}';
