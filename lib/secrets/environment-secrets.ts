import { SECRET_NAME } from '../definition/template/reference.js';
import type { SecretSource } from './run-secrets.js';

/** Says which of the environment's secrets a tenant may read. */
type OwnsEnvironment = (tenantId: string) => boolean;

/**
 * Creates the source of secrets in the environment (D61). Names that no template can read are not among them.
 *
 * @param variables the values of `SECRET_NAME`, by `NAME`
 * @param isOwner default: whoever runs something in this process, as on the command line
 */
export function environmentSecrets(
  variables: Readonly<Record<string, string>>,
  isOwner: OwnsEnvironment = () => true,
): SecretSource & { readonly names: readonly string[] } {
  const values = new Map(Object.entries(variables).filter(([name]) => SECRET_NAME.test(name)));
  return {
    names: [...values.keys()].sort(),
    find: (tenantId, name) => (isOwner(tenantId) ? values.get(name) : undefined),
    explain: (tenantId, name) =>
      isOwner(tenantId)
        ? `set SECRET_${name} in the environment`
        : `the environment's secrets belong to another tenant: add ${name} under "${tenantId}" in the file of SERVICE_SECRETS_FILE`,
  };
}
