import { resolve } from 'node:path';
import { readConnectionsPath, readSecretConfig } from '../../common/config/config.js';
import type { SecretSource } from '../../definition/secrets/run-secrets.js';
import type { SecretPlace, UsedSecrets } from '../../definition/secrets/sources.js';
import type { CliContext } from '../context.js';

type SecretContext = Pick<CliContext, 'env' | 'cwd'>;

/** The tenant of a run that names none. */
export const DEFAULT_TENANT = 'default';

export type OwnsEnvironment = ((tenantId: string) => boolean) | undefined;

/** A source of secrets, and their names for people: `A, B`, or `default: A, B; acme: C`. */
interface OpenedSource {
  readonly source: SecretSource;
  readonly names: string;
  /** The names of the secrets as `tenant/NAME`, or `NAME` of the environment, with their values. */
  readonly values: ReadonlyMap<string, string>;
  /** Says what is wrong with values of the environment, as sentences without a value. */
  readonly problems: readonly string[];
}

/**
 * Opens the secrets of this process (D61): those of the file that SERVICE_SECRETS_FILE names, each tenant its own, or else
 * those of the environment. Returns undefined when there is nothing to mask: neither secrets nor connections.
 *
 * @throws WavetrainError `unreadable_file` or `bad_usage`
 */
export async function openSecrets(context: SecretContext): Promise<UsedSecrets | undefined> {
  const opened = await openSource(context);
  if (opened === undefined && readConnectionsPath(context.env) === undefined) return undefined;
  const { environmentSecrets, UsedSecrets: Used } = await import('../lazy/secrets.js');
  return new Used(opened?.source ?? environmentSecrets({}));
}

/**
 * Opens the secrets of a server, and explains to its callers where a missing one belongs, also when it has none.
 * @param ownsEnvironment default: everybody does
 */
export async function openServerSecrets(
  context: SecretContext,
  ownsEnvironment: OwnsEnvironment,
): Promise<Pick<OpenedSource, 'values'> & { readonly secrets: UsedSecrets }> {
  const { UsedSecrets: Used } = await import('../lazy/secrets.js');
  const { source, values } = await readServerSecrets(context, ownsEnvironment);
  return { secrets: new Used(source), values };
}

/** Reads the secrets of a server, as {@link openServerSecrets} does. */
export async function readServerSecrets(
  context: SecretContext,
  ownsEnvironment: OwnsEnvironment,
): Promise<Pick<OpenedSource, 'source' | 'values'>> {
  const opened = await openSource(context, ownsEnvironment, 'server');
  if (opened !== undefined) return opened;
  const { environmentSecrets } = await import('../lazy/secrets.js');
  return { source: environmentSecrets({}, ownsEnvironment, 'server'), values: new Map() };
}

async function openSource(
  { env, cwd }: SecretContext,
  ownsEnvironment?: OwnsEnvironment,
  place: SecretPlace = 'here',
): Promise<OpenedSource | undefined> {
  const { file, variables } = readSecretConfig(env);
  if (file === undefined && Object.keys(variables).length === 0) return undefined;
  const { environmentSecrets, findSecretProblem, readSecretsFile } = await import('../lazy/secrets.js');
  if (file === undefined) {
    const source = environmentSecrets(variables, ownsEnvironment, place);
    const problems = source.names.flatMap((name) => {
      const problem = findSecretProblem(variables[name] ?? '');
      return problem === undefined ? [] : [`the value of SECRET_${name} ${problem}`];
    });
    const values = new Map(source.names.map((name) => [name, variables[name] ?? '']));
    return { source, values, names: source.names.join(', '), problems };
  }
  const source = await readSecretsFile(resolve(cwd, file), file, place);
  const tenants = Array.from(source.names, ([tenant, names]) => `${tenant}: ${names.join(', ') || 'none'}`);
  const values = valuesOfTenants(source.names, (tenant, name) => source.find(tenant, name) ?? '');
  return { source, values, names: tenants.join('; '), problems: [] };
}

/** Lists the values of all tenants by `tenant/name`. @param namesOf the names of each tenant */
export function valuesOfTenants<T>(
  namesOf: ReadonlyMap<string, readonly string[]>,
  find: (tenant: string, name: string) => T,
): ReadonlyMap<string, T> {
  const named = [...namesOf].flatMap(([tenant, names]) =>
    names.map((name) => [`${tenant}/${name}`, find(tenant, name)] as const),
  );
  return new Map(named);
}

/** Names the secrets that there are, and the variables that cannot be secrets. @throws as `openSecrets` */
export async function describeSecrets(
  context: SecretContext,
): Promise<Pick<OpenedSource, 'names' | 'problems'> | undefined> {
  const opened = await openSource(context);
  return opened?.names === '' ? undefined : opened;
}

/** Returns the names of the secrets that a run here would find. @throws as `openSecrets` */
export async function lookUpSecrets(context: SecretContext): Promise<{ has(name: string): boolean }> {
  const opened = await openSource(context);
  return { has: (name) => opened?.source.find(DEFAULT_TENANT, name) !== undefined };
}
