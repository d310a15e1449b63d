import { describeKind } from '../../common/json/json.js';
import { SECRET_NAME } from '../template/reference.js';
import { findSecretProblem } from './encodings.js';
import type { SecretSource } from './run-secrets.js';
import type { SecretPlace } from './sources.js';
import { type TenantEntry, TenantFile } from './tenant-file.js';

/** The secrets of a file, by tenant (D61). */
export interface FileSecrets extends SecretSource {
  /** By tenant, without values. */
  readonly names: ReadonlyMap<string, readonly string[]>;
}

const KIND = {
  noun: 'secrets file',
  shape: 'a map of tenants, each with its secrets: {default: {NAME: "value"}}',
  tenantShape: 'a map of names and values',
} as const;

const FILES: Readonly<Record<SecretPlace, string>> = {
  here: 'the file of SERVICE_SECRETS_FILE, and start again',
  server: 'the secrets file of the server (SERVICE_SECRETS_FILE), which it reads again',
};

/**
 * Reads a secrets file, `{default: {NAME: value}, acme: {…}}` in YAML (D61). Rejects with `unreadable_file`, also for a
 * file that others may read, or with `bad_usage` naming the line and what is wrong with it, and never a value.
 *
 * @param name of the file in messages
 */
export async function readSecretsFile(path: string, name = path, place?: SecretPlace): Promise<FileSecrets> {
  return parseSecretsFile(await TenantFile.read(path, name, KIND), name, place);
}

/** Parses the text of a secrets file. @throws WavetrainError `bad_usage`, naming the line and what is wrong with it */
export function parseSecretsFile(text: string, name: string, place: SecretPlace = 'here'): FileSecrets {
  const file = new TenantFile(text, name, KIND);
  const tenants = file.parse((entry) => parseSecret(entry, file));
  return {
    names: new Map(Array.from(tenants, ([tenant, values]) => [tenant, [...values.keys()].sort()])),
    find: (tenantId, secret) => tenants.get(tenantId)?.get(secret),
    explain: (tenantId, secret) => `add ${secret} under "${tenantId}" in ${FILES[place]}`,
  };
}

function parseSecret({ path, name, value }: TenantEntry, file: TenantFile): string {
  if (!SECRET_NAME.test(name)) {
    const message = 'a name must have capital letters, digits and _, and begin with a letter';
    throw file.error(path, message, 'key');
  }
  if (typeof value !== 'string') {
    throw file.error(path, `"${name}" must be a text, not ${describeKind(value)}: put it in quotes`);
  }
  const problem = findSecretProblem(value);
  if (problem !== undefined) throw file.error(path, `the value of "${name}" ${problem}`);
  return value;
}
